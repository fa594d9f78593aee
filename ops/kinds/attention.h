/* SPDX-License-Identifier: MIT
 *
 * Fused attention kernels: q (B, H, S, D), k and v (B, KV, S, D), any strides; causal.
 */
#pragma once

#include "ops/core/tape.h"

G_BEGIN_DECLS

/* What scaled_dot_product_attention takes of 16-bit operands where nothing is asked for: cuDNN's
 * kernel on capability 9.0 and 10.x (PyTorch 2.14.1 puts it first there: sdp_utils.cpp,
 * can_use_cudnn_attention: heads of a multiple of 8 up to 128, on 9.0 up to 256, not with
 * deterministic algorithms), else `otherwise`. */
SsAttentionKernel ss_sdpa_kernel (const SsTarget *target, gint64 head_dim,
                                  SsAttentionKernel otherwise);

/* _scaled_dot_product_flash_attention: bf16 or f16. `kernel`: flash, or another that is called in
 * its place; what that allocates is taken to be the same. */
SsValue *ss_flash_attention (SsTape *t, SsAttentionKernel kernel, SsValue *q, SsValue *k,
                             SsValue *v, gboolean has_dropout);
/* _scaled_dot_product_efficient_attention: any floating type; `bias` (B, H, S, S), expanded, or
 * NULL: causal; `kernel`: efficient, or another in its place */
SsValue *ss_efficient_attention (SsTape *t, SsAttentionKernel kernel, SsValue *q, SsValue *k,
                                 SsValue *v, SsValue *bias, gboolean has_dropout);

/* The same kernels as a compiled graph calls them, without history: under `mask` (B, 1, S, S)
 * the memory-efficient one, else flash. out: result, log-sum-exp, and two of random state
 * (floating). */
#define SS_ATTENTION_N_RESULTS 4
void ss_attention_forward (SsTape *t, SsAttentionKernel kernel, SsValue *q, SsValue *k, SsValue *v,
                           SsValue *mask, SsValue **out);
/* Gradients of q, k and v into out[3] (floating); `result` as forward made them. */
void ss_attention_backward (SsTape *t, SsAttentionKernel kernel, SsValue *grad, SsValue *q,
                            SsValue *k, SsValue *v, SsValue *const *result, SsValue *mask,
                            SsValue **out);

/* What fused causal attention costs: half of 2 * 2 S_q S_k D flops a head; backward twice that
 * and, in the fused kernel, the scores once more: 5 products for 2 (Dao-AILab/flash-attention
 * issue 1525). */
void ss_attention_cost (const SsTensor *q, const SsTensor *k, gboolean is_backward, SsCost *cost);

G_END_DECLS
