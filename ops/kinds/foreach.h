/* SPDX-License-Identifier: MIT
 *
 * Multi-tensor kernels of the optimizers: one call over lists of tensors.
 */
#pragma once

#include "ops/tape.h"

G_BEGIN_DECLS

/* Calls that write their operands in place, by the name a profiler shows. */
#define SS_FOREACH_KERNELS(X)                                                                      \
  X (FUSED_ADAM, "aten::_fused_adam_") X (FUSED_ADAMW, "aten::_fused_adamw_")                      \
  X (FUSED_SGD, "aten::_fused_sgd_") X (MUL, "aten::_foreach_mul_") X (LERP, "aten::_foreach_lerp_") \
  X (ADD, "aten::_foreach_add_") X (ADDCMUL, "aten::_foreach_addcmul_")                            \
  X (DIV, "aten::_foreach_div_") X (ADDCDIV, "aten::_foreach_addcdiv_") X (COPY, "aten::_foreach_copy_") \
  X (SQRT, "aten::_foreach_sqrt") X (ADD_NEW, "aten::_foreach_add") X (MUL_NEW, "aten::_foreach_mul")
typedef enum
{
#define SS_FOREACH_MEMBER(UPPER, name) SS_FOREACH_##UPPER,
  SS_FOREACH_KERNELS (SS_FOREACH_MEMBER)
#undef SS_FOREACH_MEMBER
  SS_N_FOREACH
} SsForeachKernel;

/* A call over `n` operands, written in place; `bytes` it reads and writes. */
void ss_foreach (SsTape *t, SsForeachKernel kernel, guint n, SsValue *const *operands, guint64 bytes);
/* A call that makes a list: one new tensor like each operand, of `dtype` (SS_N_DTYPES: the operand's).
 * (transfer full) elements are held values. */
GPtrArray *ss_foreach_new (SsTape *t, SsForeachKernel kernel, guint n, SsValue *const *operands, SsDtype dtype);
/* A new tensor of the same shape and layout, zeroed; category optimizer states is the caller's to claim.
 * (transfer full) */
SsValue *ss_zeros_like (SsTape *t, SsValue *x, SsDtype dtype);

G_END_DECLS
