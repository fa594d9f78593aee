/* SPDX-License-Identifier: MIT */
#include "ops/nn/losses.h"

#include "ops/kinds/loss.h"
#include "ops/kinds/norm.h"
#include "ops/kinds/pointwise.h"
#include "ops/kinds/view.h"
#include "ops/nn/liger-loss.h"

/* nn.functional.cross_entropy: log_softmax, which autocast leaves in its input's type when
 * called so, and nll_loss, which it runs in f32 */
static SsValue *
cross_entropy (SsTape *t, SsValue *logits, SsValue *target)
{
  return ss_nll_loss (t, ss_raise (t, ss_log_softmax (t, logits)), target);
}

/* transformers' ForCausalLMLoss: logits to f32, labels padded and shifted instead of the logits;
 * liger replaces nn.functional.cross_entropy only */
static SsValue *
loss_hf (SsTape *t, SsValue *logits_arg, SsValue *labels_arg, gboolean is_liger, gboolean is_scaled)
{
  gint64 b = ss_value_size (logits_arg, 0), s = ss_value_size (logits_arg, 1),
         v = ss_value_size (logits_arg, 2);
  g_autoptr (SsValue) logits = ss_keep (ss_to (t, logits_arg, SS_F32));
  g_autoptr (SsValue) labels = ss_keep (ss_pad_to (t, labels_arg, s + 1));
  g_autoptr (SsValue) shifted = ss_keep (ss_slice (t, labels, 1, 1, s));

  ss_rebind (&shifted, ss_contiguous (t, shifted));
  ss_rebind (&logits, ss_view (t, logits, SS_DIMS (b * s, v)));
  ss_rebind (&shifted, ss_view (t, shifted, SS_DIMS (b * s)));
  return is_liger ? ss_liger_cross_entropy (t, logits, shifted, is_scaled)
                  : cross_entropy (t, logits, shifted);
}

/* cross_entropy (logits.view (-1, V), ids.view (-1)) on the logits' own type */
static SsValue *
loss_direct (SsTape *t, SsValue *logits, SsValue *labels)
{
  gint64 b = ss_value_size (logits, 0), s = ss_value_size (logits, 1),
         v = ss_value_size (logits, 2);
  g_autoptr (SsValue) flat = ss_keep (ss_view (t, logits, SS_DIMS (b * s, v)));
  g_autoptr (SsValue) target = ss_keep (ss_view (t, labels, SS_DIMS (b * s)));

  return cross_entropy (t, flat, target);
}

SsValue *
ss_causal_loss (SsTape *t, SsLossChoice choice, SsValue *logits, SsValue *labels,
                gboolean is_scaled)
{
  if (choice == SS_LOSS_DIRECT)
    return loss_direct (t, logits, labels);
  return loss_hf (t, logits, labels, choice == SS_LOSS_LIGER, is_scaled);
}
