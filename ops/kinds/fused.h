/* SPDX-License-Identifier: MIT
 *
 * The kernels that papers count with: each keeps its input and nothing else (Korthikanti et al.
 * 2022, "Reducing Activation Recomputation in Large Transformer Models", section 4).
 */
#pragma once

#include "ops/core/tape.h"

G_BEGIN_DECLS

/* Norm over the last dimension, with or without bias (NULL); keeps x, its backward computes the
 * statistics. */
SsValue *ss_fused_norm (SsTape *t, SsValue *x, SsValue *weight, SsValue *bias);
/* Rotation of (B, H, S, D) by cos and sin, one kernel each way. */
SsValue *ss_fused_rope (SsTape *t, SsValue *x, SsValue *cos, SsValue *sin);
/* FlashAttention that keeps q, k, v and its output, not its statistics. */
SsValue *ss_fused_attention (SsTape *t, SsValue *q, SsValue *k, SsValue *v);

G_END_DECLS
