/* SPDX-License-Identifier: MIT
 *
 * Pointwise kinds as PyTorch's dispatcher has them: names, operands, bytes, and what nodes keep.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "kind-fixture.h"
#include "ops/kinds/pointwise.h"
#include "ops/kinds/random.h"
#include "ops/kinds/view.h"

/* ---- pointwise: outputs of the operands' size, no temporaries ---- */

static SsValue *
add (SsTape *t)
{
  KIND_LEAF (a, SS_BF16, 2, 8);
  KIND_LEAF (b, SS_F32, 2, 8);
  KIND_BEGIN (t);
  return ss_keep (ss_add (t, a, b));
}

static SsValue *
add_in_backward (SsTape *t)
{
  KIND_LEAF (a, SS_BF16, 2, 8);
  SsValue *negative;

  KIND_BEGIN (t);
  negative = ss_neg (t, a);
  return ss_keep (ss_add (t, negative, ss_silu (t, a)));
}

static SsValue *
mul (SsTape *t)
{
  KIND_LEAF (a, SS_BF16, 2, 8);
  KIND_LEAF (b, SS_BF16, 8);
  KIND_BEGIN (t);
  return ss_keep (ss_mul (t, a, b));
}

static SsValue *
scaled (SsTape *t)
{
  KIND_LEAF (a, SS_F32, 2, 8);
  KIND_BEGIN (t);
  return ss_keep (ss_scale_native (t, ss_div_scalar (t, ss_scale (t, ss_add_scalar (t, a)))));
}

static SsValue *
powers (SsTape *t)
{
  KIND_LEAF (a, SS_F32, 2, 8);
  KIND_BEGIN (t);
  return ss_keep (ss_rsqrt (t, ss_pow (t, a)));
}

static SsValue *
casts (SsTape *t)
{
  KIND_LEAF (a, SS_F32, 2, 8);
  KIND_BEGIN (t);
  return ss_keep (ss_contiguous (t, ss_transpose (t, ss_to (t, a, SS_BF16), 0, 1)));
}

static SsValue *
activations (SsTape *t)
{
  KIND_LEAF (a, SS_BF16, 2, 8);
  KIND_BEGIN (t);
  return ss_keep (ss_tanh (t, ss_gelu (t, a)));
}

static SsValue *
dropped_out (SsTape *t)
{
  KIND_LEAF (a, SS_BF16, 2, 8);
  KIND_BEGIN (t);
  return ss_keep (ss_native_dropout (t, a));
}

static SsValue *
halves (SsTape *t)
{
  KIND_LEAF (a, SS_BF16, 2, 8);
  SsValue *second;

  KIND_BEGIN (t);
  second = ss_slice (t, a, 1, 4, 4);
  return ss_keep (ss_cat (t, second, ss_slice (t, a, 1, 0, 4), 1));
}

static const KindRow pointwise[] = {
  /* bf16 + f32 = f32: 16 * 4; the bf16 operand's gradient is cast: 16 * 2; the other's is the one
   * that was given, which somebody holds: copied */
  { "add", add, 0,
    "aten::add.Tensor bf16[2x8] f32[2x8] -> f32[2x8] 64\n"
    "aten::_to_copy.default f32[2x8] -> bf16[2x8] 32\n"
    "aten::clone.default f32[2x8] -> f32[2x8] 64\n" },
  /* silu saves its input; both branches' gradients meet in the leaf: taken over, then added to */
  { "sum of gradients", add_in_backward, 32,
    "aten::neg.default bf16[2x8] -> bf16[2x8] 32\n"
    "aten::silu.default bf16[2x8] -> bf16[2x8] 32\n"
    "aten::add.Tensor bf16[2x8] bf16[2x8] -> bf16[2x8] 32\n"
    "aten::silu_backward.default bf16[2x8] bf16[2x8] -> bf16[2x8] 32\n"
    "aten::neg.default bf16[2x8] -> bf16[2x8] 32\n"
    "aten::add_.Tensor bf16[2x8] bf16[2x8] -> bf16[2x8] 0\n" },
  /* keeps both, 32 + 16; the other's gradient first, then summed over the broadcast dimension */
  { "mul", mul, 48,
    "aten::mul.Tensor bf16[2x8] bf16[8] -> bf16[2x8] 32\n"
    "aten::mul.Tensor bf16[2x8] bf16[2x8] -> bf16[2x8] 32\n"
    "aten::mul.Tensor bf16[2x8] bf16[8] -> bf16[2x8] 32\n"
    "aten::sum.dim_IntList bf16[2x8] -> bf16[1x8] 16\n" },
  { "numbers", scaled, 0,
    "aten::add.Tensor f32[2x8] -> f32[2x8] 64\n"
    "aten::mul.Tensor f32[2x8] -> f32[2x8] 64\n"
    "aten::div.Tensor f32[2x8] -> f32[2x8] 64\n"
    "aten::mul.Scalar f32[2x8] -> f32[2x8] 64\n"
    "aten::mul.Scalar f32[2x8] -> f32[2x8] 64\n"
    "aten::div.Tensor f32[2x8] -> f32[2x8] 64\n"
    "aten::mul.Tensor f32[2x8] -> f32[2x8] 64\n" },
  /* pow keeps its input, rsqrt its result: 2 * 64; three kernels of 64 bytes each way back */
  { "powers", powers, 128,
    "aten::pow.Tensor_Scalar f32[2x8] -> f32[2x8] 64\n"
    "aten::rsqrt.default f32[2x8] -> f32[2x8] 64\n"
    "aten::pow.Tensor_Scalar f32[2x8] -> f32[2x8] 64\n"
    "aten::mul.Scalar f32[2x8] -> f32[2x8] 64\n"
    "aten::mul.Tensor f32[2x8] f32[2x8] -> f32[2x8] 64\n"
    "aten::pow.Tensor_Scalar f32[2x8] -> f32[2x8] 64\n"
    "aten::mul.Scalar f32[2x8] -> f32[2x8] 64\n"
    "aten::mul.Tensor f32[2x8] f32[2x8] -> f32[2x8] 64\n" },
  { "casts and copies", casts, 0,
    "aten::_to_copy.default f32[2x8] -> bf16[2x8] 32\n"
    "aten::clone.default bf16[8x2] -> bf16[8x2] 32\n"
    "aten::_to_copy.default bf16[2x8] -> f32[2x8] 64\n"
    "aten::clone.default f32[2x8] -> f32[2x8] 64\n" },
  /* gelu keeps its input, tanh its result */
  { "activations", activations, 64,
    "aten::gelu.default bf16[2x8] -> bf16[2x8] 32\n"
    "aten::tanh.default bf16[2x8] -> bf16[2x8] 32\n"
    "aten::tanh_backward.default bf16[2x8] bf16[2x8] -> bf16[2x8] 32\n"
    "aten::gelu_backward.default bf16[2x8] bf16[2x8] -> bf16[2x8] 32\n" },
  /* a byte of mask for each element, kept */
  { "dropout", dropped_out, 16,
    "aten::native_dropout.default bf16[2x8] -> bf16[2x8] bool[2x8] 48\n"
    "aten::native_dropout_backward.default bf16[2x8] bool[2x8] -> bf16[2x8] 32\n" },
  /* rotate_half: each half's gradient is as large as the whole; the second is added in place */
  { "halves", halves, 0,
    "aten::cat.default bf16[2x4] bf16[2x4] -> bf16[2x8] 32\n"
    "aten::slice_backward.default bf16[2x4] -> bf16[2x8] 32\n"
    "aten::slice_backward.default bf16[2x4] -> bf16[2x8] 32\n"
    "aten::add_.Tensor bf16[2x8] bf16[2x8] -> bf16[2x8] 0\n" },
};

Test (op_kinds, pointwise)
{
  kind_check (G_N_ELEMENTS (pointwise), pointwise);
}
