/* SPDX-License-Identifier: MIT
 *
 * Kernels that torch.compile's inductor writes: each runs over buffers that its wrapper allocated.
 * They are called here by what they do; inductor's own names list the aten ops and end in a number.
 */
#pragma once

#include "ops/core/tape.h"

G_BEGIN_DECLS

#define SS_COMPILED_KERNELS(X)                                                                     \
  X (LABELS, "triton_poi_fused_pad") X (MASK, "triton_poi_fused_causal_mask")                      \
  X (CAST, "triton_poi_fused_cast") X (EMBED_NORM, "triton_red_fused_embedding_rms_norm")          \
  X (ADD_NORM, "triton_red_fused_add_rms_norm") X (ROPE, "triton_poi_fused_rope")                  \
  X (NORM_ROPE, "triton_per_fused_rms_norm_rope") X (REPEAT, "triton_poi_fused_repeat_kv")         \
  X (SILU_MUL, "triton_poi_fused_silu_mul") X (SOFTMAX, "triton_red_fused_log_softmax")            \
  X (NLL, "triton_red_fused_nll_loss") X (NLL_GRAD, "triton_poi_fused_nll_loss_backward")          \
  X (NORM_GRAD, "triton_red_fused_rms_norm_backward")                                              \
  X (NORM_SUM, "triton_red_fused_rms_norm_weight_sum")                                             \
  X (SILU_MUL_GRAD, "triton_poi_fused_silu_mul_backward")                                          \
  X (ROPE_GRAD, "triton_poi_fused_rope_backward") X (GROUP_SUM, "triton_poi_fused_group_sum")      \
  X (NORM_ROPE_GRAD, "triton_per_fused_rms_norm_rope_backward")                                    \
  X (ZERO, "triton_poi_fused_zeros") X (EMBED_GRAD, "triton_poi_fused_embedding_backward")         \
  X (SUM, "triton_poi_fused_add")
typedef enum
{
#define SS_COMPILED_MEMBER(UPPER, name) SS_COMPILED_##UPPER,
  SS_COMPILED_KERNELS (SS_COMPILED_MEMBER)
#undef SS_COMPILED_MEMBER
  SS_N_COMPILED
} SsCompiledKernel;

/* One run over `n` operands; the first `n_updated` of them are read and written, each of the others
 * once. */
void ss_compiled (SsTape *t, SsCompiledKernel kernel, guint n_updated, guint n,
                  SsValue *const *operands);
#define SS_COMPILED(t, UPPER, n_updated, ...) \
  ss_compiled (t, SS_COMPILED_##UPPER, n_updated, SS_VALUES (__VA_ARGS__))

G_END_DECLS
