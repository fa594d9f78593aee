/* SPDX-License-Identifier: MIT
 *
 * Kernels that make one element of output from one of each input: arithmetic, activations,
 * casts, copies. Functions take floating or kept values and return a floating one
 * (ops/value.h); sources: PyTorch 2.14.1's derivatives.yaml as recorded in data/pytorch/ops.
 */
#pragma once

#include "ops/kinds/factory.h"

G_BEGIN_DECLS

/* a + number */
SsValue *ss_add_scalar (SsTape *t, SsValue *a);
SsValue *ss_mul (SsTape *t, SsValue *a, SsValue *b);
/* a * number, differentiable */
SsValue *ss_scale (SsTape *t, SsValue *a);
/* the same called from C++ */
SsValue *ss_scale_native (SsTape *t, SsValue *a);
/* a / number, differentiable */
SsValue *ss_div_scalar (SsTape *t, SsValue *a);
/* a ** number; autocast runs it in f32 */
SsValue *ss_pow (SsTape *t, SsValue *a);
SsValue *ss_rsqrt (SsTape *t, SsValue *a);
SsValue *ss_neg (SsTape *t, SsValue *a);
SsValue *ss_silu (SsTape *t, SsValue *a);
SsValue *ss_gelu (SsTape *t, SsValue *a);
SsValue *ss_tanh (SsTape *t, SsValue *a);
/* x.to (device, copy=True): a copy even where nothing changes */
SsValue *ss_copy (SsTape *t, SsValue *a);
/* A contiguous copy. */
SsValue *ss_clone (SsTape *t, SsValue *a);
/* The value itself if it is contiguous, else a copy. */
SsValue *ss_contiguous (SsTape *t, SsValue *a);

/* Kernels without a derivative, by the name a profiler shows and the overload for one operand; `b`
 * may be NULL.  A number in Python becomes a tensor on the way, one in C++ (SCALE) does not. */
#define SS_PLAIN_KERNELS(X)                                                                        \
  X (ADD, "aten::add", "Tensor") X (SUB, "aten::sub", "Tensor") X (MUL, "aten::mul", "Tensor")     \
  X (DIV, "aten::div", "Tensor") X (SCALE, "aten::mul", "Scalar")                                  \
  X (POW, "aten::pow", "Tensor_Scalar") X (SQRT, "aten::sqrt", NULL)                               \
  X (RECIPROCAL, "aten::reciprocal", NULL) X (COS, "aten::cos", NULL) X (SIN, "aten::sin", NULL)   \
  X (EQ, "aten::eq", "Scalar") X (NE, "aten::ne", "Scalar") X (LE, "aten::le", "Scalar")           \
  X (LT, "aten::lt", "Scalar") X (GT, "aten::gt", "Scalar") X (GE, "aten::ge", "Scalar")           \
  X (NOT, "aten::bitwise_not", NULL) X (AND, "aten::bitwise_and", "Scalar")                        \
  X (RSUB, "aten::rsub", "Scalar") X (CLAMP, "aten::clamp", NULL) X (TRIL, "aten::tril", NULL)     \
  X (CLONE, "aten::clone", NULL) X (LERP, "aten::lerp", "Scalar")
typedef enum
{
#define SS_PLAIN_MEMBER(UPPER, name, overload) SS_PLAIN_##UPPER,
  SS_PLAIN_KERNELS (SS_PLAIN_MEMBER)
#undef SS_PLAIN_MEMBER
  SS_N_PLAIN
} SsPlainKernel;
SsValue *ss_plain (SsTape *t, SsPlainKernel kernel, SsValue *a, SsValue *b, SsDtype dtype);
/* a.item (): a copy to the host, which waits for it */
void ss_item (SsTape *t, SsValue *a);
/* torch.equal (a, b): the host waits for the answer */
void ss_equal (SsTape *t, SsValue *a, SsValue *b);
/* torch.pow (number, tensor): the number becomes a 0-dim f64 tensor, after the output */
SsValue *ss_pow_of_number (SsTape *t, SsValue *exponent);
/* torch.where (condition, a, b) of tensors, no derivative */
SsValue *ss_where (SsTape *t, SsValue *condition, SsValue *a, SsValue *b);

/* ---- for other kinds: shapes of pointwise results ---- */
void ss_infer_like_first (SsCall *c);
void ss_infer_broadcast (SsCall *c);
/* Gradients of every input are the incoming one. */
void ss_pass_gradient (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out);

G_END_DECLS
