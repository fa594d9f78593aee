/* SPDX-License-Identifier: MIT
 *
 * transformers' masking_utils.create_causal_mask.
 */
#include "ops/kinds/pointwise.h"
#include "ops/kinds/reduce.h"
#include "ops/kinds/view.h"
#include "ops/nn/attention.h"

/* It looks for packed sequences whatever the implementation (find_packed_sequence_indices); that is all that
 * sdpa needs. */
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

/* arange, then arange + offset under the same name */
static SsValue *
indices (SsTape *t, gint64 n)
{
  g_autoptr (SsValue) index = ss_keep (ss_arange (t, SS_I64, n));

  ss_rebind (&index, ss_plain (t, SS_PLAIN_ADD, index, NULL, SS_I64));
  return ss_give (&index);
}

/* sdpa_mask: which key each query sees, by comparing two index vectors */
static SsValue *
visible (SsTape *t, gint64 batch, gint64 s)
{
  g_autoptr (SsValue) batch_index = ss_keep (ss_arange (t, SS_I64, batch));
  g_autoptr (SsValue) head_index = ss_keep (ss_arange (t, SS_I64, 1));
  g_autoptr (SsValue) queries = ss_keep (indices (t, s));
  g_autoptr (SsValue) keys = ss_keep (indices (t, s));
  SsValue *column = ss_view (t, queries, SS_DIMS (1, 1, s, 1));

  return ss_plain (t, SS_PLAIN_LE, ss_view (t, keys, SS_DIMS (1, 1, 1, s)), column, SS_BOOL);
}

/* eager_mask: 0 where visible, the type's lowest number elsewhere */
static SsValue *
additive_mask (SsTape *t, gint64 batch, gint64 s, SsDtype dtype)
{
  g_autoptr (SsValue) is_visible = ss_keep (visible (t, batch, s));
  g_autoptr (SsValue) zero = ss_keep (ss_full (t, dtype, 0, NULL));
  g_autoptr (SsValue) lowest = ss_keep (ss_full (t, dtype, 0, NULL));

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
