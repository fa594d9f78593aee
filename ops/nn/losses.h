/* SPDX-License-Identifier: MIT
 *
 * Losses of a causal language model over logits (B, S, V).
 */
#pragma once

#include "ops/kernel-profile.h"
#include "ops/tape.h"

G_BEGIN_DECLS

/* A scalar. `logits` and `labels` (B, S) are the caller's. (transfer floating) */
SsValue *ss_causal_loss (SsTape *t, SsLossChoice choice, SsValue *logits, SsValue *labels);

G_END_DECLS
