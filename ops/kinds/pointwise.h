/* SPDX-License-Identifier: MIT
 *
 * Kernels that make one element of output from one of each input: arithmetic, activations, casts, copies.
 * Functions take floating or kept values and return a floating one (ops/value.h); sources: PyTorch 2.14.1's
 * derivatives.yaml as recorded in data/pytorch/ops.
 */
#pragma once

#include "ops/tape.h"

G_BEGIN_DECLS

SsValue *ss_add (SsTape *t, SsValue *a, SsValue *b);
/* a + number */
SsValue *ss_add_scalar (SsTape *t, SsValue *a);
SsValue *ss_mul (SsTape *t, SsValue *a, SsValue *b);
/* a * number, differentiable */
SsValue *ss_scale (SsTape *t, SsValue *a);
/* a / number, differentiable */
SsValue *ss_div_scalar (SsTape *t, SsValue *a);
/* a ** number; autocast runs it in f32 */
SsValue *ss_pow (SsTape *t, SsValue *a);
SsValue *ss_rsqrt (SsTape *t, SsValue *a);
SsValue *ss_neg (SsTape *t, SsValue *a);
SsValue *ss_silu (SsTape *t, SsValue *a);
SsValue *ss_gelu (SsTape *t, SsValue *a);
SsValue *ss_tanh (SsTape *t, SsValue *a);
/* x.to (dtype): the value itself if it has that type */
SsValue *ss_to (SsTape *t, SsValue *a, SsDtype dtype);
/* x.to (device, copy=True): a copy even where nothing changes */
SsValue *ss_copy (SsTape *t, SsValue *a);
/* A contiguous copy. */
SsValue *ss_clone (SsTape *t, SsValue *a);
/* A copy that lies as `layout` does. */
SsValue *ss_clone_like (SsTape *t, SsValue *a, const SsTensor *layout);
/* The value itself if it is contiguous, else a copy. */
SsValue *ss_contiguous (SsTape *t, SsValue *a);
SsValue *ss_ones_like (SsTape *t, SsValue *a);
/* torch.zeros_like (a, dtype), torch.full_like (a): contiguous or laid out as a dense `a` is */
SsValue *ss_zeros_like (SsTape *t, SsValue *a, SsDtype dtype);
SsValue *ss_full_like (SsTape *t, SsValue *a);
/* a.new_zeros (sizes) */
SsValue *ss_new_zeros (SsTape *t, SsValue *a, guint n_dims, const gint64 *size);

/* Kernels without a derivative, by the name a profiler shows; `b` may be NULL. */
#define SS_PLAIN_KERNELS(X)                                                                        \
  X (ADD, "aten::add") X (SUB, "aten::sub") X (MUL, "aten::mul") X (DIV, "aten::div")              \
  X (POW, "aten::pow") X (SQRT, "aten::sqrt") X (RECIPROCAL, "aten::reciprocal")                   \
  X (COS, "aten::cos") X (SIN, "aten::sin") X (EQ, "aten::eq") X (NE, "aten::ne")                  \
  X (LE, "aten::le") X (LT, "aten::lt") X (GT, "aten::gt") X (GE, "aten::ge")            \
  X (NOT, "aten::bitwise_not") X (AND, "aten::bitwise_and") X (RSUB, "aten::rsub")                 \
  X (CLAMP, "aten::clamp") X (TRIL, "aten::tril") X (CLONE, "aten::clone")
typedef enum
{
#define SS_PLAIN_MEMBER(UPPER, name) SS_PLAIN_##UPPER,
  SS_PLAIN_KERNELS (SS_PLAIN_MEMBER)
#undef SS_PLAIN_MEMBER
  SS_N_PLAIN
} SsPlainKernel;
SsValue *ss_plain (SsTape *t, SsPlainKernel kernel, SsValue *a, SsValue *b, SsDtype dtype);
/* torch.pow (number, tensor): the number becomes a 0-dim f64 tensor, after the output */
SsValue *ss_pow_of_number (SsTape *t, SsValue *exponent);
/* torch.where (condition, a, b) of tensors, no derivative */
SsValue *ss_where (SsTape *t, SsValue *condition, SsValue *a, SsValue *b);
/* torch.where (condition, a, number): the number becomes a 0-dim tensor first; shaped as the condition */
SsValue *ss_where_number (SsTape *t, SsValue *condition, SsValue *a, SsDtype dtype);
/* Factory kernels: torch.arange, torch.zeros, torch.ones ... */
SsValue *ss_arange (SsTape *t, SsDtype dtype, gint64 n);
SsValue *ss_zeros (SsTape *t, SsDtype dtype, guint n_dims, const gint64 *size);
SsValue *ss_ones (SsTape *t, SsDtype dtype, guint n_dims, const gint64 *size);
SsValue *ss_full (SsTape *t, SsDtype dtype, guint n_dims, const gint64 *size);

/* ---- for other kinds: shapes of pointwise results ---- */
void ss_infer_like_first (SsCall *c);
void ss_infer_broadcast (SsCall *c);
/* Gradients of every input are the incoming one. */
void ss_pass_gradient (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out);

G_END_DECLS
