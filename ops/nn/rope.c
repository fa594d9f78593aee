/* SPDX-License-Identifier: MIT
 *
 * transformers 5.24, modeling_rope_utils.py and LlamaRotaryEmbedding, expression by expression.
 */
#include "ops/nn/rope.h"

#include "ops/kinds/fused.h"
#include "ops/kinds/liger.h"
#include "ops/kinds/pointwise.h"
#include "ops/kinds/view.h"

/* ---- buffers ---- */

/* base ** (arange (0, dim, 2) / dim), reciprocal: attention-free frequencies */
static SsValue *
inverse_frequencies (SsTape *t, gint64 half, SsDtype arange_dtype)
{
  SsValue *steps = ss_to (t, ss_arange (t, arange_dtype, half), SS_F32);
  g_autoptr (SsValue) exponent = ss_keep (ss_plain (t, SS_PLAIN_DIV, steps, NULL, SS_F32));
  g_autoptr (SsValue) power = NULL;
  SsValue *inverse;

  /* torch.pow (number, tensor) makes the number a tensor after its output: one f64 */
  power = ss_keep (ss_pow_of_number (t, exponent));
  ss_drop (&exponent);
  inverse = ss_plain (t, SS_PLAIN_RECIPROCAL, power, NULL, SS_F32);
  return ss_plain (t, SS_PLAIN_MUL, inverse, NULL, SS_F32);
}

/* _compute_llama3_parameters: three bands of wavelengths; every name lives until the function
 * returns */
static SsValue *
llama3_frequencies (SsTape *t, gint64 half)
{
  g_autoptr (SsValue) inv_freq = ss_keep (inverse_frequencies (t, half, SS_I64));
  g_autoptr (SsValue) wavelen
    = ss_keep (ss_plain (t, SS_PLAIN_MUL, ss_plain (t, SS_PLAIN_RECIPROCAL, inv_freq, NULL, SS_F32),
                         NULL, SS_F32));
  g_autoptr (SsValue) scaled = NULL, factor = NULL, smoothed = NULL, is_medium = NULL;
  SsValue *low, *high, *condition, *other;

  condition = ss_plain (t, SS_PLAIN_GT, wavelen, NULL, SS_BOOL);
  other = ss_plain (t, SS_PLAIN_DIV, inv_freq, NULL, SS_F32);
  scaled = ss_keep (ss_where (t, condition, other, inv_freq));
  low = ss_plain (t, SS_PLAIN_MUL, ss_plain (t, SS_PLAIN_RECIPROCAL, wavelen, NULL, SS_F32), NULL,
                  SS_F32);
  factor = ss_keep (
    ss_plain (t, SS_PLAIN_DIV, ss_plain (t, SS_PLAIN_SUB, low, NULL, SS_F32), NULL, SS_F32));
  high = ss_plain (t, SS_PLAIN_RSUB, factor, NULL, SS_F32);
  high = ss_plain (t, SS_PLAIN_DIV, ss_plain (t, SS_PLAIN_MUL, high, scaled, SS_F32), NULL, SS_F32);
  low = ss_plain (t, SS_PLAIN_MUL, factor, scaled, SS_F32);
  smoothed = ss_keep (ss_plain (t, SS_PLAIN_ADD, high, low, SS_F32));
  low
    = ss_plain (t, SS_PLAIN_NOT, ss_plain (t, SS_PLAIN_LT, wavelen, NULL, SS_BOOL), NULL, SS_BOOL);
  high
    = ss_plain (t, SS_PLAIN_NOT, ss_plain (t, SS_PLAIN_GT, wavelen, NULL, SS_BOOL), NULL, SS_BOOL);
  is_medium = ss_keep (ss_plain (t, SS_PLAIN_AND, low, high, SS_BOOL));
  return ss_where (t, is_medium, smoothed, scaled);
}

static SsValue *
frequencies (SsTape *t, SsRopeType type, gint64 half)
{
  switch (type)
    {
    case SS_ROPE_LLAMA3: return llama3_frequencies (t, half);
    case SS_ROPE_DEFAULT: break;
    }
  return inverse_frequencies (t, half, SS_F32);
}

void
ss_rope_build (SsTape *t, SsRopeType type, gint64 head_dim, SsRopeBuffers *out)
{
  SS_MODULE (t, "rotary_emb");

  out->inv_freq = ss_keep (frequencies (t, type, head_dim / 2));
  out->original_inv_freq = ss_keep (ss_clone (t, out->inv_freq));
  ss_value_claim (out->inv_freq, SS_CATEGORY_PARAMETERS);
  ss_value_claim (out->original_inv_freq, SS_CATEGORY_PARAMETERS);
  /* _init_weights computes them once more and copies them into the buffers */
  ss_discard (frequencies (t, type, head_dim / 2));
}

void
ss_rope_clear (SsRopeBuffers *buffers)
{
  ss_drop (&buffers->inv_freq);
  ss_drop (&buffers->original_inv_freq);
}

/* ---- tables ---- */

void
ss_rope_tables (SsTape *t, const SsRopeBuffers *buffers, SsValue *position_ids, SsDtype dtype,
                SsValue **cos, SsValue **sin)
{
  SS_MODULE (t, "rotary_emb");
  gint64 s = ss_value_size (position_ids, -1);
  SsValue *positions = ss_to (t, ss_view (t, position_ids, SS_DIMS (1, s, 1)), SS_F32);
  g_autoptr (SsValue) freqs = ss_keep (ss_mul (t, positions, buffers->inv_freq));
  g_autoptr (SsValue) emb = ss_keep (ss_cat (t, freqs, freqs, 2));
  g_autoptr (SsValue) c = NULL, n = NULL;

  c = ss_keep (
    ss_plain (t, SS_PLAIN_MUL, ss_plain (t, SS_PLAIN_COS, emb, NULL, SS_F32), NULL, SS_F32));
  n = ss_keep (
    ss_plain (t, SS_PLAIN_MUL, ss_plain (t, SS_PLAIN_SIN, emb, NULL, SS_F32), NULL, SS_F32));
  *cos = ss_keep (ss_to (t, c, dtype));
  *sin = ss_keep (ss_to (t, n, dtype));
}

/* ---- rotation ---- */

static SsValue *
rotate_half (SsTape *t, SsValue *x)
{
  gint64 half = ss_value_size (x, -1) / 2;
  g_autoptr (SsValue) x1 = ss_keep (ss_slice (t, x, 3, 0, half));
  g_autoptr (SsValue) x2 = ss_keep (ss_slice (t, x, 3, half, half));

  return ss_cat (t, ss_neg (t, x2), x1, 3);
}

static SsValue *
rotate (SsTape *t, SsValue *x, SsValue *cos, SsValue *sin)
{
  SsValue *straight = ss_mul (t, x, cos);

  return ss_add (t, straight, ss_mul (t, rotate_half (t, x), sin));
}

static SsValue *
rotated (SsTape *t, SsRopeChoice choice, SsValue *x, SsValue *cos, SsValue *sin)
{
  return choice == SS_ROPE_PAPER ? ss_fused_rope (t, x, cos, sin) : rotate (t, x, cos, sin);
}

/* cos.unsqueeze (1): (1, 1, S, D) */
static SsValue *
unsqueezed (SsTape *t, SsValue *x)
{
  return ss_view (t, x, SS_DIMS (1, 1, ss_value_size (x, 1), ss_value_size (x, 2)));
}

static void
apply_rotation (SsTape *t, SsRopeChoice choice, SsValue **q, SsValue **k, SsValue *cos_arg,
                SsValue *sin_arg)
{
  g_autoptr (SsValue) cos = ss_keep (unsqueezed (t, cos_arg));
  g_autoptr (SsValue) sin = ss_keep (unsqueezed (t, sin_arg));
  g_autoptr (SsValue) q_embed = ss_keep (rotated (t, choice, *q, cos, sin));
  g_autoptr (SsValue) k_embed = ss_keep (rotated (t, choice, *k, cos, sin));

  ss_rebind (q, q_embed);
  ss_rebind (k, k_embed);
}

void
ss_rope_apply (SsTape *t, SsRopeChoice choice, SsValue **q, SsValue **k, SsValue *cos, SsValue *sin)
{
  if (choice == SS_ROPE_LIGER)
    ss_liger_rope (t, q, k, cos, sin);
  else
    apply_rotation (t, choice, q, k, cos, sin);
}

void
ss_rope_apply_rounded (SsTape *t, SsRopeChoice choice, SsValue **q, SsValue **k, SsValue *cos,
                       SsValue *sin)
{
  g_autoptr (SsValue) q_embed = ss_keep (*q), k_embed = ss_keep (*k), q_out = NULL, k_out = NULL;

  ss_rope_apply (t, choice, &q_embed, &k_embed, cos, sin);
  q_out = ss_keep (ss_to (t, q_embed, ss_value_dtype (*q)));
  k_out = ss_keep (ss_to (t, k_embed, ss_value_dtype (*k)));
  ss_rebind (q, q_out);
  ss_rebind (k, k_out);
}
