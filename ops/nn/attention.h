/* SPDX-License-Identifier: MIT
 *
 * Causal self-attention over heads, by implementation, as transformers' attention interface calls it.
 */
#pragma once

#include "ops/kernel-profile.h"
#include "ops/tape.h"

G_BEGIN_DECLS

typedef struct
{
  SsAttentionChoice choice;
  double dropout_p;              /* on the weights */
  /* eager_attention_forward differs between families: Llama's runs its softmax in f32 whatever the type and
   * makes its result contiguous; GPT-2's does neither */
  gboolean has_f32_softmax;
} SsAttention;

/* The causal mask as Hugging Face makes it once per forward: NULL where the implementation needs none.
 * `positions` (1, S); `batch` sequences. (transfer full, or NULL) */
SsValue *ss_causal_mask (SsTape *t, SsAttentionChoice choice, SsValue *positions, gint64 batch, SsDtype dtype);

/* q (B, H, S, D), k and v (B, KV, S, D), `mask` from above -> (B, S, H, D).  Also the weights that an eager
 * implementation returns and its caller's `_` holds: *weights (transfer full), or NULL. (transfer floating) */
SsValue *ss_attention (SsTape *t, const SsAttention *a, SsValue *q, SsValue *k, SsValue *v, SsValue *mask,
                       SsValue **weights);

/* at::_scaled_dot_product_attention_math, causal. (transfer floating) */
SsValue *ss_attention_math (SsTape *t, SsValue *q, SsValue *k, SsValue *v, double dropout_p);

G_END_DECLS
