/* SPDX-License-Identifier: MIT
 *
 * Kernels that write their first operand in place: no storage, no history.
 */
#pragma once

#include "ops/core/arithmetic.h"
#include "ops/core/tape.h"

G_BEGIN_DECLS

/* By the name a profiler shows and its overload; the cost says whether the kernel also reads what
 * it writes. */
#define SS_IN_PLACE_KERNELS(X)                                                                     \
  X (ADD, "aten::add_", "Tensor", updates) X (MUL, "aten::mul_", "Tensor", updates)                \
  X (DIV, "aten::div_", "Tensor", updates) X (POW, "aten::pow_", "Scalar", updates)                \
  X (RSQRT, "aten::rsqrt_", NULL, updates) X (CLAMP, "aten::clamp_", NULL, updates)                \
  X (LERP, "aten::lerp_", "Scalar", updates) X (ADDCMUL, "aten::addcmul_", NULL, updates)          \
  X (ADDCDIV, "aten::addcdiv_", NULL, updates)                                                     \
  X (SIGN, "aten::sign_", NULL, updates)                                                           \
  X (UPDATE_SCALE, "aten::_amp_update_scale_", NULL, updates)                                      \
  X (COPY, "aten::copy_", NULL, overwrites) X (ZERO, "aten::zero_", NULL, overwrites)
typedef enum
{
#define SS_IN_PLACE_MEMBER(UPPER, name, overload, cost) SS_IN_PLACE_##UPPER,
  SS_IN_PLACE_KERNELS (SS_IN_PLACE_MEMBER)
#undef SS_IN_PLACE_MEMBER
  SS_N_IN_PLACE
} SsInPlaceKernel;

/* One call over `n` operands; a value given twice is read once. */
void ss_in_place (SsTape *t, SsInPlaceKernel kernel, guint n, SsValue *const *operands);
#define SS_IN_PLACE(t, UPPER, ...) ss_in_place (t, SS_IN_PLACE_##UPPER, SS_VALUES (__VA_ARGS__))

G_END_DECLS
