/* SPDX-License-Identifier: MIT */
#include "ops/nn/attention.h"

#include "ops/kinds/attention.h"
#include "ops/kinds/fused.h"
#include "ops/kinds/matmul.h"
#include "ops/kinds/norm.h"
#include "ops/kinds/pointwise.h"
#include "ops/kinds/random.h"
#include "ops/kinds/view.h"

/* FlashAttention's largest head (sdp_utils.cpp: check_head_dim_size_flash) */
#define MAX_FLASH_HEAD 256
/* FlashAttention, and the memory-efficient kernel in bf16, are built from here on (sdp_utils.cpp:
 * check_flash_attention_hardware_support, use_mem_efficient_attention) */
#define AMPERE 80

/* repeat_kv: (B, KV, S, D) -> (B, H, S, D) */
static SsValue *
repeat_kv (SsTape *t, SsValue *x, gint64 n_heads)
{
  gint64 b = ss_value_size (x, 0), kv = ss_value_size (x, 1), s = ss_value_size (x, 2),
         d = ss_value_size (x, 3);
  SsTensor grouped = x->tensor;

  if (kv == n_heads)
    return x;
  grouped = ss_tensor (ss_value_dtype (x), 5, (gint64[]) { b, kv, 1, s, d });
  return ss_reshape (t, ss_expand (t, ss_view (t, x, 5, grouped.size), 2, n_heads / kv),
                     SS_DIMS (b, n_heads, s, d));
}

/* ---- scaled_dot_product_attention ---- */

static gboolean
wants_gradients (const SsTape *t, const SsValue *q, const SsValue *k, const SsValue *v)
{
  return ss_tape_grad_enabled (t)
         && (ss_value_requires_grad (q) || ss_value_requires_grad (k)
             || ss_value_requires_grad (v));
}

/* Devices whose shared memory is too small for the backward of wide heads (sdp_utils.cpp:
 * check_requires_grad_and_head_dim_gt192_constraints_on_sm86_89_or_120) */
static gboolean
is_too_wide_to_train (const SsTape *t, gint64 head_dim, gboolean has_dropout)
{
  guint capability = ss_tape_target (t)->compute_capability;

  if (capability < 86 || (capability > 89 && capability != 120 && capability != 121))
    return FALSE;
  return head_dim > 192 && (head_dim <= 224 || has_dropout);
}

static gboolean
takes_flash (const SsTape *t, const SsAttention *a, const SsValue *q, const SsValue *k,
             const SsValue *v, const SsValue *mask)
{
  gint64 head_dim = ss_value_size (q, 3);

  if (a->choice != SS_ATTENTION_SDPA)
    return a->choice == SS_ATTENTION_SDPA_FLASH || a->choice == SS_ATTENTION_SDPA_CUDNN
           || a->choice == SS_ATTENTION_FA3;
  return ss_tape_target (t)->compute_capability >= AMPERE
         && ss_dtype_bytes (ss_value_dtype (q)) == 2 && !mask && head_dim <= MAX_FLASH_HEAD
         && !(is_too_wide_to_train (t, head_dim, a->dropout_p > 0)
              && wants_gradients (t, q, k, v));
}

SsAttentionKernel
ss_attention_kernel (const SsTape *t, SsAttentionChoice choice, const SsValue *q, gboolean has_mask)
{
  SsAttentionKernel own = has_mask ? SS_KERNEL_EFFICIENT : SS_KERNEL_FLASH;

  switch (choice)
    {
    case SS_ATTENTION_SDPA_CUDNN:
      return SS_KERNEL_CUDNN;
    case SS_ATTENTION_FA3:
      return SS_KERNEL_FA3;
    case SS_ATTENTION_SDPA:
      return ss_dtype_bytes (ss_value_dtype (q)) == 2
               ? ss_sdpa_kernel (ss_tape_target (t), ss_value_size (q, 3), own) : own;
    case SS_ATTENTION_SDPA_FLASH:
    case SS_ATTENTION_SDPA_EFFICIENT:
    case SS_ATTENTION_SDPA_MATH:
    case SS_ATTENTION_EAGER:
    case SS_ATTENTION_PAPER_FLASH:
    case SS_ATTENTION_PAPER_EAGER:
    case SS_N_ATTENTIONS:
      return own;
    }
  g_return_val_if_reached (own);
}

/* Elements whose multiple a head must be: whole loads of 16 bytes, which older devices ask of half
 * types alone (sdp_utils.cpp: check_head_dim_size_mem_efficient, minimum_gemm_alignment) */
static gint64
efficient_alignment (const SsTape *t, const SsValue *q)
{
  gint64 bytes = (gint64) ss_dtype_bytes (ss_value_dtype (q));

  return bytes == 4 && ss_tape_target (t)->compute_capability < AMPERE ? 1 : 16 / bytes;
}

static gboolean
fits_efficient (const SsTape *t, const SsValue *q)
{
  if (ss_value_dtype (q) == SS_BF16 && ss_tape_target (t)->compute_capability < AMPERE)
    return FALSE;
  return ss_value_size (q, 3) % efficient_alignment (t, q) == 0;
}

/* Heads are made a multiple of 8 outside the kernel: what autograd keeps is the copies. */
static SsValue *
flash (SsTape *t, SsAttentionKernel kernel, SsValue *q_arg, SsValue *k_arg, SsValue *v_arg,
       gboolean has_dropout)
{
  gint64 head_dim = ss_value_size (q_arg, 3), padded = (head_dim + 7) / 8 * 8;
  g_autoptr (SsValue) q = NULL, k = NULL, v = NULL;

  if (padded == head_dim)
    return ss_flash_attention (t, kernel, q_arg, k_arg, v_arg, has_dropout);
  q = ss_keep (ss_pad_to (t, q_arg, padded));
  k = ss_keep (ss_pad_to (t, k_arg, padded));
  v = ss_keep (ss_pad_to (t, v_arg, padded));
  return ss_slice (t, ss_flash_attention (t, kernel, q, k, v, has_dropout), 3, 0, head_dim);
}

/* The kernel wants rows of a multiple of 8: then the bias is copied into wider rows and seen in
 * part. */
static SsValue *
aligned_bias (SsTape *t, SsValue *mask, const SsValue *q)
{
  gint64 s = ss_value_size (q, 2);
  SsValue *bias = ss_mask_bias (t, mask, ss_value_dtype (q));

  if (s % 8 != 0)
    bias = ss_slice (t, ss_pad_to (t, bias, (s + 7) / 8 * 8), 3, 0, s);
  return ss_expand (t, bias, 1, ss_value_size (q, 1));
}

static SsValue *
efficient (SsTape *t, SsAttentionKernel kernel, SsValue *q, SsValue *k, SsValue *v, SsValue *mask,
           double dropout_p)
{
  if (!mask)
    return ss_efficient_attention (t, kernel, q, k, v, NULL, dropout_p > 0);
  return ss_efficient_attention (t, kernel, q, k, v, aligned_bias (t, mask, q), dropout_p > 0);
}

/* autocast lowers the arguments from the last to the first */
static SsValue *
sdpa (SsTape *t, const SsAttention *a, SsValue *q_arg, SsValue *k_arg, SsValue *v_arg,
      SsValue *mask)
{
  SS_NATIVE (t);
  g_autoptr (SsValue) v = ss_keep (ss_lower (t, v_arg));
  g_autoptr (SsValue) k = ss_keep (ss_lower (t, k_arg));
  g_autoptr (SsValue) q = ss_keep (ss_lower (t, q_arg));

  if (a->choice == SS_ATTENTION_SDPA_MATH)
    return ss_attention_math (t, q, k, v, mask, a->dropout_p);
  if (!takes_flash (t, a, q, k, v, mask))
    {
      if (a->choice == SS_ATTENTION_SDPA && !fits_efficient (t, q))
        return ss_attention_math (t, q, k, v, mask, a->dropout_p);
      if (!fits_efficient (t, q))
        ss_tape_fail (t, SS_OPS_ERROR_SHAPE,
                      "sdpa-efficient takes heads of a multiple of %" G_GINT64_FORMAT
                      " elements of %s, not %" G_GINT64_FORMAT, efficient_alignment (t, q),
                      ss_dtype_name (ss_value_dtype (q)), ss_value_size (q, 3));
      return efficient (t, mask ? ss_attention_kernel (t, a->choice, q, TRUE) : SS_KERNEL_EFFICIENT,
                        q, k, v, mask, a->dropout_p);
    }
  if (mask)
    ss_tape_fail (t, SS_OPS_ERROR_SHAPE,
                  "attention that is asked for by name takes no mask, which the model's sliding "
                  "window needs here; sdpa was expected");
  return flash (t, ss_attention_kernel (t, a->choice, q, FALSE), q, k, v, a->dropout_p > 0);
}

/* ---- eager ---- */

/* softmax (weights, dim=-1, dtype=torch.float32).to (query.dtype); f16 inputs need no copy */
static SsValue *
softmax_f32 (SsTape *t, SsValue *weights, SsDtype dtype)
{
  if (ss_value_dtype (weights) == SS_F16)
    return ss_to (t, ss_softmax_half_to_float (t, weights), dtype);
  return ss_to (t, ss_softmax (t, ss_to (t, weights, SS_F32)), dtype);
}

static SsValue *
eager (SsTape *t, const SsAttention *a, SsValue *q, SsValue *k_arg, SsValue *v_arg, SsValue *mask,
       SsValue **weights)
{
  SsDtype dtype = ss_value_dtype (q);
  g_autoptr (SsValue) k = ss_keep (repeat_kv (t, k_arg, ss_value_size (q, 1)));
  g_autoptr (SsValue) v = ss_keep (repeat_kv (t, v_arg, ss_value_size (q, 1)));
  g_autoptr (SsValue) out = NULL;

  *weights = ss_keep (ss_scale (t, ss_matmul4 (t, q, ss_transpose (t, k, 2, 3))));
  ss_rebind (weights, ss_add (t, *weights, mask));
  if (a->has_f32_softmax)
    ss_rebind (weights, softmax_f32 (t, *weights, dtype));
  else
    {
      ss_rebind (weights, ss_softmax (t, *weights));
      ss_rebind (weights, ss_to (t, *weights, ss_value_dtype (v)));
    }
  ss_rebind (weights, ss_dropout (t, *weights, a->dropout_p));
  out = ss_keep (ss_matmul4 (t, *weights, v));
  ss_rebind (&out, ss_transpose (t, out, 1, 2));
  if (a->has_f32_softmax)
    ss_rebind (&out, ss_contiguous (t, out));
  return ss_give (&out);
}

/* ---- as the papers count ---- */

/* Query heads of one key-value head are rows of one product, so that K and V are not repeated;
 * mask and scale are part of the softmax, as in Megatron's fused kernel. */
static SsValue *
paper_eager (SsTape *t, const SsAttention *a, SsValue *q, SsValue *k, SsValue *v)
{
  gint64 b = ss_value_size (q, 0), n = ss_value_size (q, 1), s = ss_value_size (q, 2),
         d = ss_value_size (q, 3);
  gint64 kv = ss_value_size (k, 1);
  g_autoptr (SsValue) keys
    = ss_keep (ss_reshape (t, ss_transpose (t, k, 2, 3), SS_DIMS (b * kv, d, s)));
  g_autoptr (SsValue) values = ss_keep (ss_reshape (t, v, SS_DIMS (b * kv, s, d)));
  SsValue *queries = ss_reshape (t, q, SS_DIMS (b * kv, n / kv * s, d));
  g_autoptr (SsValue) weights = ss_keep (ss_softmax (t, ss_bmm (t, queries, keys)));

  ss_rebind (&weights, ss_dropout (t, weights, a->dropout_p));
  return ss_transpose (t, ss_view (t, ss_bmm (t, weights, values), SS_DIMS (b, n, s, d)), 1, 2);
}

SsValue *
ss_attention (SsTape *t, const SsAttention *a, SsValue *q_arg, SsValue *k_arg, SsValue *v_arg,
              SsValue *mask, SsValue **weights)
{
  g_autoptr (SsValue) q = ss_keep (q_arg);
  g_autoptr (SsValue) k = ss_keep (k_arg);
  g_autoptr (SsValue) v = ss_keep (v_arg);
  g_autoptr (SsValue) out = NULL;

  *weights = NULL;
  if (a->choice == SS_ATTENTION_EAGER)
    return eager (t, a, q, k, v, mask, weights);
  if (a->choice == SS_ATTENTION_PAPER_EAGER)
    return paper_eager (t, a, q, k, v);
  if (a->choice == SS_ATTENTION_PAPER_FLASH)
    return ss_transpose (t, ss_fused_attention (t, q, k, v), 1, 2);
  /* use_gqa_in_sdpa: with a mask the heads are repeated first */
  if (mask)
    {
      ss_rebind (&k, repeat_kv (t, k, ss_value_size (q, 1)));
      ss_rebind (&v, repeat_kv (t, v, ss_value_size (q, 1)));
    }
  out = ss_keep (sdpa (t, a, q, k, v, mask));
  ss_rebind (&out, ss_contiguous (t, ss_transpose (t, out, 1, 2)));
  return ss_give (&out);
}
