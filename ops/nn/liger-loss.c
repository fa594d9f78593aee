/* SPDX-License-Identifier: MIT
 *
 * liger-kernel 0.8.5: ops/cross_entropy.py, ops/fused_linear_cross_entropy.py, transformers/model
 * and loss_utils.py.  Both losses make the gradients in their forward and keep only those; backward
 * hands them out, scaled where they lie if the loss was.
 */
#include "ops/nn/liger-loss.h"

#include "ops/kinds/in-place.h"
#include "ops/kinds/liger.h"
#include "ops/kinds/matmul.h"
#include "ops/kinds/pointwise.h"
#include "ops/kinds/reduce.h"
#include "ops/kinds/view.h"
#include "ops/nn/losses.h"
#include "ops/core/function.h"

enum
{
  GRAD_INPUT,
  GRAD_WEIGHT,
  N_GRADS
};

static const SsTensor scalar = { .dtype = SS_F32 };

/* ---- what both have ---- */

/* torch.equal (grad_output, torch.tensor (1.0)), or the gradient times it */
static void
function_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  {
    g_autoptr (SsValue) one = ss_keep (ss_tensor_of_number (t, SS_F32));

    ss_equal (t, grad[0], one);
  }
  for (guint i = 0; i < ss_node_n_saves (n); i++)
    if (ss_node_saved (n, i))
      {
        if (ss_node_attribute (n, 0))
          ss_liger_element_mul (t, ss_node_saved (n, i), grad[0]);
        out[i] = ss_node_saved (n, i);
      }
}

static const SsOpKind cross_entropy = {
  .name = "LigerCrossEntropyFunction", .node_name = "LigerCrossEntropyFunctionBackward",
  .backward = function_backward,
};
static const SsOpKind fused_linear = {
  .name = "LigerFusedLinearCrossEntropyFunction",
  .node_name = "LigerFusedLinearCrossEntropyFunctionBackward", .backward = function_backward,
};

/* The function's node over `loss`; in[i]'s gradient is saved[i]. */
static void
attach (SsTape *t, const SsOpKind *kind, guint n_in, SsValue *const *in, SsValue *const *saved,
        SsValue *loss, gboolean is_scaled)
{
  SsNode *n;

  if (!ss_tape_grad_enabled (t) || !ss_value_requires_grad (in[0]) || ss_tape_is_stopped (t))
    return;
  n = ss_node_attach (t, kind, n_in, in, n_in, loss);
  ss_node_set_attribute (n, 0, is_scaled);
  for (guint i = 0; i < n_in; i++)
    if (saved[i])
      {
        SsValue *plain = ss_detach (t, saved[i]);

        ss_saved_set (t, &ss_node_saves (n)[i], plain);
        ss_value_unref (plain);
      }
}

/* ---- of given logits ---- */

/* assert (target * target_mask).max () < V, and min () >= 0 */
static void
check_targets (SsTape *t, SsValue *target, SsValue *mask, gboolean is_max)
{
  SsValue *bound = ss_extremum (t, is_max, ss_plain (t, SS_PLAIN_MUL, target, mask, SS_I64));

  ss_item (t, ss_plain (t, is_max ? SS_PLAIN_LT : SS_PLAIN_GE, bound, NULL, SS_BOOL));
}

static SsValue *
cross_entropy_forward (SsTape *t, SsValue *logits, SsValue *target)
{
  gint64 n_rows = ss_value_size (logits, 0);
  g_autoptr (SsValue) loss = ss_keep (ss_zeros (t, SS_F32, SS_DIMS (n_rows)));
  g_autoptr (SsValue) mask = ss_keep (ss_plain (t, SS_PLAIN_NE, target, NULL, SS_BOOL));

  ss_item (t, ss_count (t, mask));
  check_targets (t, target, mask, TRUE);
  check_targets (t, target, mask, FALSE);
  ss_liger_cross_entropy_kernel (t, logits, target, loss);
  return ss_sum_to (t, loss, &scalar);
}

SsValue *
ss_liger_cross_entropy (SsTape *t, SsValue *logits_arg, SsValue *target_arg, gboolean is_scaled)
{
  g_autoptr (SsValue) logits = ss_keep (logits_arg);
  g_autoptr (SsValue) target = ss_keep (target_arg);
  gboolean was_enabled = ss_tape_set_grad_enabled (t, FALSE);
  SsValue *loss = cross_entropy_forward (t, logits, target);

  ss_tape_set_grad_enabled (t, was_enabled);
  attach (t, &cross_entropy, 1, &logits, &logits, loss, is_scaled);
  return loss;
}

/* ---- fused with the head ---- */

typedef struct
{
  SsValue *hidden;               /* (n, H) */
  SsValue *weight;               /* (V, H) */
  SsValue *target;               /* (n) */
  SsValue *grad[N_GRADS];        /* held; of the weight only if it wants one */
  SsValue *loss;                 /* (n) f32; held */
  SsValue *logits;               /* (chunk, V), written over by each; NULL: each makes its own */
} Fused;

gint64
ss_fused_linear_chunk (gint64 n_rows, gint64 hidden_size, gint64 vocab_size)
{
  gint64 parts = (vocab_size + hidden_size - 1) / hidden_size, least = (n_rows + parts - 1) / parts;
  gint64 chunk = 1;

  while (chunk < least)
    chunk *= 2;
  return MIN (chunk, n_rows);
}

/* `a @ b`: autocast casts from the last to the first */
static SsValue *
product (SsTape *t, SsValue *a_arg, SsValue *b_arg)
{
  g_autoptr (SsValue) b = ss_keep (ss_lower (t, b_arg));
  g_autoptr (SsValue) a = ss_keep (ss_lower (t, a_arg));

  return ss_mm (t, a, b);
}

/* _can_use_mm_out: out= takes no part in autocast */
static gboolean
can_use_out (const SsTape *t, const Fused *f)
{
  SsDtype dtype = ss_value_dtype (f->hidden);

  return dtype == ss_value_dtype (f->weight)
         && (!ss_autocast_is_on (t) || dtype == ss_autocast_dtype (t));
}

static SsValue *
chunk_logits (SsTape *t, const Fused *f, SsValue *input)
{
  g_autoptr (SsValue) logits = NULL;

  if (!f->logits)
    return product (t, input, ss_transpose (t, f->weight, 0, 1));
  logits = ss_keep (ss_slice (t, f->logits, 0, 0, ss_value_size (input, 0)));
  ss_mm_out (t, input, ss_transpose (t, f->weight, 0, 1), logits);
  return ss_give (&logits);
}

/* Half types accumulate in place, also into f32; what addmm cannot do that way takes a whole
 * product. */
static void
add_weight_gradient (SsTape *t, const Fused *f, SsValue *grad_logits, SsValue *input)
{
  SsValue *sum = f->grad[GRAD_WEIGHT];
  g_autoptr (SsValue) x = NULL;
  gboolean is_half = ss_dtype_bytes (ss_value_dtype (grad_logits)) == 2;

  if (!is_half || ss_tape_target (t)->compute_capability < 80)
    {
      SsValue *whole = product (t, ss_transpose (t, grad_logits, 0, 1), input);

      ss_add_in_place (t, sum, ss_to (t, whole, SS_F32));
      return;
    }
  x = ss_keep (ss_to (t, input, ss_value_dtype (grad_logits)));
  ss_addmm_out (t, sum, ss_transpose (t, grad_logits, 0, 1), x);
}

static void
run_chunk (SsTape *t, const Fused *f, gint64 first, gint64 n)
{
  g_autoptr (SsValue) input = ss_keep (ss_slice (t, f->hidden, 0, first, n));
  g_autoptr (SsValue) logits = ss_keep (chunk_logits (t, f, input));
  g_autoptr (SsValue) loss = ss_keep (ss_slice (t, f->loss, 0, first, n));
  g_autoptr (SsValue) rows = ss_keep (ss_slice (t, f->grad[GRAD_INPUT], 0, first, n));

  ss_liger_cross_entropy_kernel (t, logits, ss_slice (t, f->target, 0, first, n), loss);
  SS_IN_PLACE (t, COPY, loss, loss);
  if (f->logits)
    ss_mm_out (t, logits, f->weight, rows);
  else
    SS_IN_PLACE (t, COPY, rows, product (t, logits, f->weight));
  if (f->grad[GRAD_WEIGHT])
    add_weight_gradient (t, f, logits, input);
}

static SsValue *
zeros_like (SsTape *t, SsValue *x)
{
  return ss_zeros_like (t, x, ss_value_dtype (x));
}

static SsValue *
fused_forward (SsTape *t, Fused *f)
{
  gint64 n_rows = ss_value_size (f->hidden, 0), vocab_size = ss_value_size (f->weight, 0);
  gint64 chunk = ss_fused_linear_chunk (n_rows, ss_value_size (f->hidden, 1), vocab_size);
  g_autoptr (SsValue) mask = NULL;

  f->grad[GRAD_INPUT] = ss_keep (zeros_like (t, f->hidden));
  if (f->weight->leaf)
    f->grad[GRAD_WEIGHT] = ss_keep (zeros_like (t, f->weight));
  f->loss = ss_keep (ss_zeros (t, SS_F32, SS_DIMS (n_rows)));
  mask = ss_keep (ss_plain (t, SS_PLAIN_NE, f->target, NULL, SS_BOOL));
  ss_item (t, ss_count (t, mask));
  if (can_use_out (t, f))
    f->logits
      = ss_keep (ss_empty_sizes (t, ss_value_dtype (f->hidden), SS_DIMS (chunk, vocab_size)));
  for (gint64 i = 0; i < n_rows; i += chunk)
    run_chunk (t, f, i, MIN (chunk, n_rows - i));
  g_clear_pointer (&f->logits, ss_value_unref);
  return ss_sum_to (t, f->loss, &scalar);
}

static SsValue *
fused_apply (SsTape *t, SsValue *hidden, SsValue *weight, SsValue *target, gboolean is_scaled)
{
  Fused f = { .hidden = hidden, .weight = weight, .target = target };
  SsValue *in[N_GRADS] = { hidden, weight };
  gboolean was_enabled = ss_tape_set_grad_enabled (t, FALSE);
  SsValue *loss = fused_forward (t, &f);

  ss_tape_set_grad_enabled (t, was_enabled);
  attach (t, &fused_linear, N_GRADS, in, f.grad, loss, is_scaled);
  ss_drop (&f.loss);
  ss_drop (&f.grad[GRAD_INPUT]);
  if (f.grad[GRAD_WEIGHT])
    ss_drop (&f.grad[GRAD_WEIGHT]);
  return loss;
}

/* LigerForCausalLMLoss: labels padded and shifted, nothing cast */
SsValue *
ss_fused_linear_loss (SsTape *t, SsValue *hidden_arg, SsValue *weight, SsValue *labels_arg,
                      gboolean is_scaled)
{
  gint64 b = ss_value_size (hidden_arg, 0), s = ss_value_size (hidden_arg, 1);
  g_autoptr (SsValue) labels = ss_keep (ss_pad_to (t, labels_arg, s + 1));
  g_autoptr (SsValue) target = ss_keep (ss_slice (t, labels, 1, 1, s));
  g_autoptr (SsValue) hidden = NULL;

  ss_rebind (&target, ss_contiguous (t, target));
  hidden = ss_keep (ss_view (t, hidden_arg, SS_DIMS (b * s, ss_value_size (hidden_arg, 2))));
  ss_rebind (&target, ss_view (t, target, SS_DIMS (b * s)));
  return fused_apply (t, hidden, weight, target, is_scaled);
}
