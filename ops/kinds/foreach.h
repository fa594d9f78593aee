/* SPDX-License-Identifier: MIT
 *
 * Multi-tensor kernels of optimizers, clipping and loss scaling: one call over lists of tensors.
 */
#pragma once

#include "ops/core/tape.h"

G_BEGIN_DECLS

/* By the name a profiler shows and the overload for numbers; _foreach_sqrt, _foreach_mul and
 * _foreach_norm make a list. */
#define SS_FOREACH_KERNELS(X)                                                                      \
  X (FUSED_ADAM, "aten::_fused_adam_", NULL) X (FUSED_ADAMW, "aten::_fused_adamw_", NULL)          \
  X (FUSED_SGD, "aten::_fused_sgd_", NULL) X (ADD, "aten::_foreach_add_", "Scalar")                \
  X (SUB, "aten::_foreach_sub_", "Scalar") X (MUL, "aten::_foreach_mul_", "Scalar")                \
  X (DIV, "aten::_foreach_div_", "ScalarList") X (LERP, "aten::_foreach_lerp_", "Scalar")          \
  X (ADDCMUL, "aten::_foreach_addcmul_", "Scalar")                                                 \
  X (ADDCDIV, "aten::_foreach_addcdiv_", "Scalar")                                                 \
  X (ADDCDIV_EACH, "aten::_foreach_addcdiv_", "ScalarList")                                        \
  X (CLAMP_MIN, "aten::_foreach_clamp_min_", "Scalar") X (RSQRT, "aten::_foreach_rsqrt_", NULL)    \
  X (LERP_EACH, "aten::_foreach_lerp_", "ScalarList")                                              \
  X (MUL_EACH, "aten::_foreach_mul_", "ScalarList") X (DIV_LIST, "aten::_foreach_div_", "List")    \
  X (MUL_LIST, "aten::_foreach_mul_", "List")                                                      \
  X (APEX_SCALE, "amp_C::multi_tensor_scale", NULL)                                                \
  X (COPY, "aten::_foreach_copy_", NULL) X (ZERO, "aten::_foreach_zero_", NULL)                    \
  X (CHECK_AND_UNSCALE, "aten::_amp_foreach_non_finite_check_and_unscale_", NULL)                  \
  X (SQRT, "aten::_foreach_sqrt", NULL) X (MUL_NEW, "aten::_foreach_mul", "Scalar")                \
  X (NORM, "aten::_foreach_norm", "Scalar")
typedef enum
{
#define SS_FOREACH_MEMBER(UPPER, name, overload) SS_FOREACH_##UPPER,
  SS_FOREACH_KERNELS (SS_FOREACH_MEMBER)
#undef SS_FOREACH_MEMBER
  SS_N_FOREACH
} SsForeachKernel;

/* Lists are GPtrArrays of held SsValues; `ss_list_new` makes an empty one. (transfer full) */
GPtrArray *ss_list_new (void);
/* Adds another reference to a value, or sinks a floating one. */
void ss_list_add (GPtrArray *list, SsValue *value);

/* One list of a call, and how often the kernel accesses each of its elements: 1 read or written,
 * 2 both, 0 the same list as an earlier one. */
typedef struct
{
  GPtrArray *values;
  guint n_accesses;
} SsForeachList;

/* A call that writes its first list, or several, in place. Nothing is recorded if that one is
 * empty. */
void ss_foreach (SsTape *t, SsForeachKernel kernel, guint n_lists, const SsForeachList *lists);
/* SS_FOREACH (t, LERP, { averages, 2 }, { gradients, 1 }) */
#define SS_FOREACH(t, UPPER, ...)                                                                  \
  ss_foreach (t, SS_FOREACH_##UPPER, G_N_ELEMENTS (((SsForeachList[]) { __VA_ARGS__ })),           \
              (SsForeachList[]) { __VA_ARGS__ })

/* A call that makes a list: one new tensor like each of `values`, of `dtype` (SS_N_DTYPES: its
 * own). (transfer full) */
GPtrArray *ss_foreach_new (SsTape *t, SsForeachKernel kernel, GPtrArray *values, SsDtype dtype);
/* torch._foreach_norm: a scalar for each of `values`. (transfer full) */
GPtrArray *ss_foreach_norm (SsTape *t, GPtrArray *values);
/* torch.stack of scalars: a vector. (transfer floating) */
SsValue *ss_stack_scalars (SsTape *t, GPtrArray *scalars);

G_END_DECLS
