/* SPDX-License-Identifier: MIT
 *
 * transformers' masking_utils.create_causal_mask.
 */
#include "ops/kinds/pointwise.h"
#include "ops/kinds/reduce.h"
#include "ops/kinds/view.h"
#include "ops/nn/attention.h"

/* torch.diff (x, prepend=first) */
static SsValue *
differences (SsTape *t, SsValue *first, SsValue *x)
{
  SS_NATIVE (t);
  gint64 s = ss_value_size (x, 1);
  g_autoptr (SsValue) joined = ss_keep (ss_cat (t, first, x, 1));
  SsValue *later = ss_slice (t, joined, 1, 1, s);

  return ss_plain (t, SS_PLAIN_SUB, later, ss_slice (t, joined, 1, 0, s), SS_I64);
}

/* It looks for packed sequences whatever the implementation (find_packed_sequence_indices);
 * that is all that sdpa needs. */
static void
look_for_packing (SsTape *t, SsValue *positions, gint64 batch)
{
  g_autoptr (SsValue) position_ids = ss_keep (ss_expand (t, positions, 0, batch));
  gint64 s = ss_value_size (position_ids, 1);
  g_autoptr (SsValue) first
    = ss_keep (ss_plain (t, SS_PLAIN_SUB, ss_slice (t, position_ids, 1, 0, 1), NULL, SS_I64));
  g_autoptr (SsValue) diff = ss_keep (differences (t, first, position_ids));
  g_autoptr (SsValue) packed
    = ss_keep (ss_cumsum (t, ss_plain (t, SS_PLAIN_NE, diff, NULL, SS_BOOL)));
  SsValue *last = ss_reshape (t, ss_slice (t, packed, 1, s - 1, 1), SS_DIMS (batch));

  ss_item (t, ss_all (t, ss_plain (t, SS_PLAIN_EQ, last, NULL, SS_BOOL)));
}

/* arange, then arange + offset under the same name */
static SsValue *
indices (SsTape *t, gint64 n)
{
  g_autoptr (SsValue) index = ss_keep (ss_arange (t, SS_I64, n));

  ss_rebind (&index, ss_plain (t, SS_PLAIN_ADD, index, NULL, SS_I64));
  return ss_give (&index);
}

/* One comparison of two index vectors; with a window, which keys are near enough comes first
 * (and_masks over sliding_window_overlay and causal_mask_function). */
static SsValue *
compared (SsTape *t, SsValue *queries, SsValue *keys, gint64 window)
{
  gint64 s = ss_value_size (queries, 0);
  g_autoptr (SsValue) column = ss_keep (ss_view (t, queries, SS_DIMS (1, 1, s, 1)));
  g_autoptr (SsValue) row = ss_keep (ss_view (t, keys, SS_DIMS (1, 1, 1, s)));
  g_autoptr (SsValue) result = NULL;
  SsValue *first;

  if (window == 0)
    return ss_plain (t, SS_PLAIN_LE, row, column, SS_BOOL);
  result = ss_keep (ss_ones (t, SS_BOOL, 0, NULL));
  first = ss_plain (t, SS_PLAIN_SUB, column, NULL, SS_I64);
  ss_rebind (&result, ss_plain (t, SS_PLAIN_AND, result,
                                ss_plain (t, SS_PLAIN_GT, row, first, SS_BOOL), SS_BOOL));
  ss_rebind (&result, ss_plain (t, SS_PLAIN_AND, result,
                                ss_plain (t, SS_PLAIN_LE, row, column, SS_BOOL), SS_BOOL));
  return ss_give (&result);
}

/* sdpa_mask: which key each query sees, (1, 1, S, S) bool */
static SsValue *
visible (SsTape *t, gint64 batch, gint64 s, gint64 window)
{
  G_GNUC_UNUSED g_autoptr (SsValue) batch_index = ss_keep (ss_arange (t, SS_I64, batch));
  G_GNUC_UNUSED g_autoptr (SsValue) head_index = ss_keep (ss_arange (t, SS_I64, 1));
  g_autoptr (SsValue) queries = ss_keep (indices (t, s));
  g_autoptr (SsValue) keys = ss_keep (indices (t, s));

  return compared (t, queries, keys, window);
}

/* eager_mask: 0 where visible, the type's lowest number elsewhere */
static SsValue *
additive (SsTape *t, SsValue *is_visible_arg, gint64 batch, SsDtype dtype)
{
  g_autoptr (SsValue) is_visible = ss_keep (ss_expand (t, is_visible_arg, 0, batch));
  g_autoptr (SsValue) zero = ss_keep (ss_zeros (t, dtype, 0, NULL));

  return ss_where (t, is_visible, zero, ss_scalar_tensor (t, dtype));
}

SsValue *
ss_causal_mask (SsTape *t, SsAttentionChoice choice, SsValue *positions, gint64 batch,
                SsDtype dtype, gint64 window)
{
  gint64 s = ss_value_size (positions, 1);
  g_autoptr (SsValue) is_visible = NULL;

  look_for_packing (t, positions, batch);
  /* sdpa's own is_causal does unless the window cuts something off */
  if (choice != SS_ATTENTION_EAGER && (window == 0 || s < window))
    return NULL;
  is_visible = ss_keep (visible (t, batch, s, window));
  if (choice != SS_ATTENTION_EAGER)
    return ss_keep (ss_expand (t, is_visible, 0, batch));
  return ss_keep (additive (t, is_visible, batch, dtype));
}
