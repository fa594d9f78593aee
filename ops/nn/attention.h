/* SPDX-License-Identifier: MIT
 *
 * Causal self-attention over heads, by implementation, as transformers' attention interface calls it.
 */
#pragma once

#include "ops/kernel-profile.h"
#include "ops/tape.h"

G_BEGIN_DECLS

/* The causal mask as Hugging Face makes it once per forward: NULL where the implementation needs none.
 * `positions` (1, S); `batch` sequences. (transfer full, or NULL) */
SsValue *ss_causal_mask (SsTape *t, SsAttentionChoice choice, SsValue *positions, gint64 batch, SsDtype dtype);

/* q (B, H, S, D), k and v (B, KV, S, D), `mask` from above -> (B, S, H, D).  dropout_p is applied to the
 * weights.  Arguments are held for the call. (transfer floating) */
SsValue *ss_attention (SsTape *t, SsAttentionChoice choice, SsValue *q, SsValue *k, SsValue *v, SsValue *mask,
                       double dropout_p);

G_END_DECLS
