/* SPDX-License-Identifier: MIT
 *
 * Losses of a causal language model over logits (B, S, V).
 */
#pragma once

#include "ops/kernel-profile.h"
#include "ops/core/tape.h"

G_BEGIN_DECLS

/* A scalar. `logits` and `labels` (B, S) are the caller's; `is_scaled`: the loss is divided or
 * scaled before backward, so that the gradient that arrives is not 1. (transfer floating) */
SsValue *ss_causal_loss (SsTape *t, SsLossChoice choice, SsValue *logits, SsValue *labels,
                         gboolean is_scaled);

/* Liger's loss fused with the head: from hidden states (B, S, H) and the head's weight (V, H), a
 * chunk of rows at a time, their gradients made on the way. (transfer floating) */
SsValue *ss_fused_linear_loss (SsTape *t, SsValue *hidden, SsValue *weight, SsValue *labels,
                               gboolean is_scaled);
/* Rows of such a chunk: so many that its logits are about as large as the hidden states, rounded
 * up to a power of 2.  liger-kernel 0.8.5, ops/fused_linear_cross_entropy.py, chunk_mem_const 1. */
gint64 ss_fused_linear_chunk (gint64 n_rows, gint64 hidden_size, gint64 vocab_size);

G_END_DECLS
