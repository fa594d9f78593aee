/* SPDX-License-Identifier: MIT
 *
 * Causal self-attention over heads, by implementation, as transformers' attention interface
 * calls it.
 */
#pragma once

#include "ops/kernel-profile.h"
#include "ops/core/tape.h"

G_BEGIN_DECLS

typedef struct
{
  SsAttentionChoice choice;
  double dropout_p;              /* on the weights */
  /* eager_attention_forward differs between families: Llama's runs its softmax in f32 whatever
   * the type and makes its result contiguous; GPT-2's does neither */
  gboolean has_f32_softmax;
} SsAttention;

/* The causal mask as Hugging Face makes it once per forward, (B, 1, S, S): bool for sdpa, added
 * to the scores for eager; NULL where the implementation needs none. `positions` (1, S);
 * `window`: how many tokens a query looks back, 0 for all. (transfer full, or NULL) */
SsValue *ss_causal_mask (SsTape *t, SsAttentionChoice choice, SsValue *positions, gint64 batch,
                         SsDtype dtype, gint64 window);

/* q (B, H, S, D), k and v (B, KV, S, D), `mask` from above -> (B, S, H, D). Also the weights
 * that an eager implementation returns and its caller's `_` holds: *weights (transfer full), or
 * NULL. (transfer floating) */
SsValue *ss_attention (SsTape *t, const SsAttention *a, SsValue *q, SsValue *k, SsValue *v,
                       SsValue *mask, SsValue **weights);

/* Which fused kernel a choice comes to: one asked for by name (its memory is taken to be
 * FlashAttention's), or PyTorch's own choice, with a mask and without. */
SsAttentionKernel ss_attention_kernel (const SsTape *t, SsAttentionChoice choice, const SsValue *q,
                                       gboolean has_mask);

/* convert_boolean_attn_mask: 0 and -inf in `dtype`, two numbers made tensors first. (transfer
 * floating) */
SsValue *ss_mask_bias (SsTape *t, SsValue *mask, SsDtype dtype);
/* at::_scaled_dot_product_attention_math, causal where there is no mask. (transfer floating) */
SsValue *ss_attention_math (SsTape *t, SsValue *q, SsValue *k, SsValue *v, SsValue *mask,
                            double dropout_p);

G_END_DECLS
