/* SPDX-License-Identifier: MIT */
#include "ops/nn/attention.h"

#include "ops/kinds/attention.h"
#include "ops/kinds/matmul.h"
#include "ops/kinds/norm.h"
#include "ops/kinds/pointwise.h"
#include "ops/kinds/random.h"
#include "ops/kinds/reduce.h"
#include "ops/kinds/view.h"

/* ---- masks ---- */

/* create_causal_mask looks for packed sequences (masking_utils.find_packed_sequence_indices) whatever the
 * implementation; that is all that sdpa needs. */
static void
look_for_packing (SsTape *t, SsValue *positions, gint64 batch)
{
  g_autoptr (SsValue) position_ids = ss_keep (ss_expand (t, positions, 0, batch));
  gint64 s = ss_value_size (position_ids, 1);
  g_autoptr (SsValue) first
    = ss_keep (ss_plain (t, SS_PLAIN_SUB, ss_slice (t, position_ids, 1, 0, 1), NULL, SS_I64));
  SsValue *shifted = ss_slice (t, ss_cat (t, first, position_ids, 1), 1, 1, s);
  g_autoptr (SsValue) diff = ss_keep (ss_plain (t, SS_PLAIN_SUB, shifted, NULL, SS_I64));
  g_autoptr (SsValue) packed = ss_keep (ss_cumsum (t, ss_plain (t, SS_PLAIN_NE, diff, NULL, SS_BOOL)));
  SsValue *last = ss_reshape (t, ss_slice (t, packed, 1, s - 1, 1), SS_DIMS (batch));

  ss_discard (ss_all (t, ss_plain (t, SS_PLAIN_EQ, last, NULL, SS_BOOL)));
}

/* eager_mask over sdpa_mask: index vectors, their comparison, and the additive mask in the model's type */
static SsValue *
additive_mask (SsTape *t, gint64 batch, gint64 s, SsDtype dtype)
{
  g_autoptr (SsValue) batch_index = ss_keep (ss_arange (t, SS_I64, batch));
  g_autoptr (SsValue) head_index = ss_keep (ss_arange (t, SS_I64, 1));
  g_autoptr (SsValue) queries = ss_keep (ss_arange (t, SS_I64, s));
  g_autoptr (SsValue) keys = ss_keep (ss_arange (t, SS_I64, s));
  g_autoptr (SsValue) is_visible = NULL, zero = NULL, lowest = NULL;
  SsValue *column, *row;

  ss_rebind (&queries, ss_plain (t, SS_PLAIN_ADD, queries, NULL, SS_I64));
  ss_rebind (&keys, ss_plain (t, SS_PLAIN_ADD, keys, NULL, SS_I64));
  column = ss_view (t, queries, SS_DIMS (1, 1, s, 1));
  row = ss_view (t, keys, SS_DIMS (1, 1, 1, s));
  is_visible = ss_keep (ss_plain (t, SS_PLAIN_LE, row, column, SS_BOOL));
  ss_drop (&batch_index);
  ss_drop (&head_index);
  ss_drop (&queries);
  ss_drop (&keys);
  zero = ss_keep (ss_full (t, dtype, 0, NULL));
  lowest = ss_keep (ss_full (t, dtype, 0, NULL));
  return ss_full (t, dtype, SS_DIMS (batch, 1, s, s));
}

SsValue *
ss_causal_mask (SsTape *t, SsAttentionChoice choice, SsValue *positions, gint64 batch, SsDtype dtype)
{
  look_for_packing (t, positions, batch);
  if (choice != SS_ATTENTION_EAGER)
    return NULL;
  return ss_keep (additive_mask (t, batch, ss_value_size (positions, 1), dtype));
}

/* ---- implementations ---- */

static gboolean
takes_flash (SsAttentionChoice choice, const SsValue *q, const SsValue *mask)
{
  gboolean is_half = ss_dtype_bytes (ss_value_dtype (q)) == 2;

  return choice != SS_ATTENTION_SDPA_EFFICIENT && is_half && !mask && ss_value_size (q, 3) <= 256;
}

/* scaled_dot_product_attention: autocast lowers v, k, q */
static SsValue *
sdpa (SsTape *t, SsAttentionChoice choice, SsValue *q_arg, SsValue *k_arg, SsValue *v_arg, SsValue *mask,
      double dropout_p)
{
  g_autoptr (SsValue) v = ss_keep (ss_lower (t, v_arg));
  g_autoptr (SsValue) k = ss_keep (ss_lower (t, k_arg));
  g_autoptr (SsValue) q = ss_keep (ss_lower (t, q_arg));

  return takes_flash (choice, q, mask) ? ss_flash_attention (t, q, k, v, dropout_p > 0)
                                       : ss_efficient_attention (t, q, k, v, dropout_p > 0);
}

SsValue *
ss_attention (SsTape *t, SsAttentionChoice choice, SsValue *q_arg, SsValue *k_arg, SsValue *v_arg, SsValue *mask,
              double dropout_p)
{
  g_autoptr (SsValue) q = ss_keep (q_arg);
  g_autoptr (SsValue) k = ss_keep (k_arg);
  g_autoptr (SsValue) v = ss_keep (v_arg);
  g_autoptr (SsValue) weights = NULL;

  if (choice != SS_ATTENTION_EAGER)
    return ss_transpose (t, sdpa (t, choice, q, k, v, mask, dropout_p), 1, 2);
  weights = ss_keep (ss_scale (t, ss_matmul4 (t, q, ss_transpose (t, k, 2, 3))));
  ss_rebind (&weights, ss_add (t, weights, mask));
  ss_rebind (&weights, ss_softmax (t, weights));
  ss_rebind (&weights, ss_dropout (t, weights, dropout_p));
  return ss_transpose (t, ss_matmul4 (t, weights, v), 1, 2);
}
