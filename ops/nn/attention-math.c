/* SPDX-License-Identifier: MIT
 *
 * at::_scaled_dot_product_attention_math (ATen/native/transformers/attention.cpp), causal, as
 * recorded in data/pytorch/plain/llama-math-*: half types are computed in f32.
 */
#include "ops/kinds/in-place.h"
#include "ops/kinds/matmul.h"
#include "ops/kinds/norm.h"
#include "ops/kinds/pointwise.h"
#include "ops/kinds/random.h"
#include "ops/kinds/view.h"
#include "ops/nn/attention.h"

/* ones (S, S).tril (), as an additive bias */
static SsValue *
causal_bias (SsTape *t, gint64 s)
{
  g_autoptr (SsValue) lower
    = ss_keep (ss_plain (t, SS_PLAIN_TRIL, ss_ones (t, SS_BOOL, SS_DIMS (s, s)), NULL, SS_BOOL));

  return ss_mask_bias (t, lower, SS_F32);
}

/* repeat_interleave over heads: (B, KV, S, D) -> (B, H, S, D) */
static SsValue *
repeated (SsTape *t, SsValue *x, gint64 n_heads)
{
  gint64 b = ss_value_size (x, 0), kv = ss_value_size (x, 1), s = ss_value_size (x, 2),
         d = ss_value_size (x, 3);
  SsValue *grouped = ss_view (t, x, SS_DIMS (b, kv, 1, s, d));

  return ss_view (t, ss_clone (t, ss_expand (t, grouped, 2, n_heads / kv)),
                  SS_DIMS (b, n_heads, s, d));
}

SsValue *
ss_mask_bias (SsTape *t, SsValue *mask, SsDtype dtype)
{
  g_autoptr (SsValue) zero = ss_keep (ss_scalar_tensor (t, dtype));

  return ss_where (t, mask, zero, ss_scalar_tensor (t, dtype));
}

SsValue *
ss_attention_math (SsTape *t, SsValue *q_arg, SsValue *k_arg, SsValue *v_arg, SsValue *mask,
                   double dropout_p)
{
  SsDtype dtype = ss_value_dtype (q_arg);
  gint64 n_heads = ss_value_size (q_arg, 1), s = ss_value_size (q_arg, 2);
  g_autoptr (SsValue) q_f32 = ss_keep (ss_to (t, q_arg, SS_F32));
  g_autoptr (SsValue) k_f32 = ss_keep (ss_to (t, k_arg, SS_F32));
  g_autoptr (SsValue) v_f32 = ss_keep (ss_to (t, v_arg, SS_F32));
  g_autoptr (SsValue) q = ss_keep (ss_scale_native (t, q_f32));
  g_autoptr (SsValue) bias = ss_keep (mask ? ss_mask_bias (t, mask, SS_F32) : causal_bias (t, s));
  g_autoptr (SsValue) k = ss_keep (k_f32), v = ss_keep (v_f32), weights = NULL, returned = NULL;

  if (ss_value_size (k, 1) != n_heads)
    {
      ss_rebind (&k, repeated (t, k, n_heads));
      ss_rebind (&v, repeated (t, v, n_heads));
    }
  weights = ss_keep (ss_matmul4_plain (t, q, ss_scale_native (t, ss_transpose (t, k, 2, 3))));
  ss_add_in_place (t, weights, bias);
  ss_rebind (&weights, ss_safe_softmax (t, weights));
  ss_rebind (&weights, ss_dropout (t, weights, dropout_p));
  /* the weights are returned too, in the input's type */
  returned = ss_keep (ss_to (t, weights, dtype));
  return ss_to (t, ss_matmul4_plain (t, weights, v), dtype);
}
