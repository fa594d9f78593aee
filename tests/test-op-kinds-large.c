/* SPDX-License-Identifier: MIT
 *
 * Kinds with temporaries of their own, as PyTorch has them on an H100: products, norms,
 * attention, embeddings, losses, reductions, lists.  Figures of whole layers are those that
 * PyTorch 2.14.1 was recorded with, before the allocator rounds.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "kind-fixture.h"
#include "ops/kinds/attention.h"
#include "ops/kinds/embedding.h"
#include "ops/kinds/foreach.h"
#include "ops/kinds/loss.h"
#include "ops/kinds/matmul.h"
#include "ops/kinds/norm.h"
#include "ops/kinds/pointwise.h"
#include "ops/kinds/reduce.h"
#include "ops/kinds/view.h"

/* ---- products ---- */

static SsValue *
mm (SsTape *t)
{
  KIND_LEAF (a, SS_BF16, 4, 8);
  KIND_LEAF (b, SS_BF16, 8, 16);
  KIND_BEGIN (t);
  return ss_keep (ss_mm (t, a, b));
}

static SsValue *
addmm (SsTape *t)
{
  KIND_LEAF (bias, SS_BF16, 16);
  KIND_LEAF (a, SS_BF16, 4, 8);
  KIND_LEAF (b, SS_BF16, 8, 16);
  KIND_BEGIN (t);
  return ss_keep (ss_addmm (t, bias, a, b));
}

static SsValue *
bmm (SsTape *t)
{
  KIND_LEAF (a, SS_BF16, 2, 4, 8);
  KIND_LEAF (b, SS_BF16, 2, 8, 16);
  KIND_BEGIN (t);
  return ss_keep (ss_bmm (t, a, b));
}

static SsValue *
into_a_tensor (SsTape *t)
{
  KIND_INPUT (a, SS_BF16, 4, 8);
  KIND_INPUT (b, SS_BF16, 8, 16);
  KIND_INPUT (out, SS_BF16, 4, 16);
  KIND_INPUT (wide, SS_F32, 4, 16);
  KIND_BEGIN (t);
  ss_mm_out (t, a, b, out);
  ss_addmm_out (t, out, a, b);
  ss_addmm_out (t, wide, a, b);
  return NULL;
}

static const KindRow products[] = {
  /* 4 * 16 * 2; keeps both, 64 + 256; the second's gradient is made first */
  { "mm", mm, 320,
    "aten::mm.default bf16[4x8] bf16[8x16] -> bf16[4x16] 128\n"
    "aten::mm.default bf16[8x4] bf16[4x16] -> bf16[8x16] 256\n"
    "aten::mm.default bf16[4x16] bf16[16x8] -> bf16[4x8] 64\n" },
  { "addmm", addmm, 320,
    "aten::addmm.default bf16[16] bf16[4x8] bf16[8x16] -> bf16[4x16] 128\n"
    "aten::mm.default bf16[4x16] bf16[16x8] -> bf16[4x8] 64\n"
    "aten::mm.default bf16[8x4] bf16[4x16] -> bf16[8x16] 256\n"
    "aten::sum.dim_IntList bf16[4x16] -> bf16[1x16] 32\n" },
  { "bmm", bmm, 640,
    "aten::bmm.default bf16[2x4x8] bf16[2x8x16] -> bf16[2x4x16] 256\n"
    "aten::bmm.default bf16[2x8x4] bf16[2x4x16] -> bf16[2x8x16] 512\n"
    "aten::bmm.default bf16[2x4x16] bf16[2x16x8] -> bf16[2x4x8] 128\n" },
  { "out=", into_a_tensor, 0,
    "aten::mm.out bf16[4x8] bf16[8x16] bf16[4x16] -> bf16[4x16] 0\n"
    "aten::addmm.out bf16[4x16] bf16[4x8] bf16[8x16] bf16[4x16] -> bf16[4x16] 0\n"
    "aten::addmm.dtype_out f32[4x16] bf16[4x8] bf16[8x16] f32[4x16] -> f32[4x16] 0\n" },
};

Test (op_kinds, products)
{
  kind_check (G_N_ELEMENTS (products), products);
}

/* ---- norms ---- */

static SsValue *
layer_norm (SsTape *t)
{
  KIND_LEAF (x, SS_BF16, 4, 64);
  KIND_LEAF (weight, SS_BF16, 64);
  KIND_LEAF (bias, SS_BF16, 64);
  KIND_BEGIN (t);
  return ss_keep (ss_layer_norm (t, x, weight, bias));
}

static SsValue *
softmax (SsTape *t)
{
  KIND_LEAF (x, SS_F32, 2, 8);
  KIND_BEGIN (t);
  return ss_keep (ss_softmax (t, x));
}

static SsValue *
softmax_half_to_float (SsTape *t)
{
  KIND_LEAF (x, SS_F16, 2, 8);
  KIND_BEGIN (t);
  return ss_keep (ss_softmax_half_to_float (t, x));
}

static SsValue *
safe_softmax (SsTape *t)
{
  KIND_LEAF (x, SS_F32, 2, 8);
  KIND_BEGIN (t);
  return ss_keep (ss_safe_softmax (t, x));
}

static SsValue *
log_softmax (SsTape *t)
{
  KIND_LEAF (x, SS_F32, 2, 8);
  KIND_BEGIN (t);
  return ss_keep (ss_log_softmax (t, x));
}

static const KindRow norm_rows[] = {
  /* 512 and an f32 mean and root for each of 4 rows; keeps the input, those 32, weight and bias;
   * three gradients, 512 + 2 * 128 */
  { "layer norm", layer_norm, 512 + 32 + 2 * 128,
    "aten::native_layer_norm.default bf16[4x64] bf16[64] bf16[64]"
    " -> bf16[4x64] f32[4x1] f32[4x1] 544\n"
    "aten::native_layer_norm_backward.default bf16[4x64] bf16[4x64] f32[4x1] f32[4x1] bf16[64]"
    " bf16[64] -> bf16[4x64] bf16[64] bf16[64] 768\n" },
  /* the product of gradient and output is a tensor of its own: 2 * 64 */
  { "softmax", softmax, 64,
    "aten::_softmax.default f32[2x8] -> f32[2x8] 64\n"
    "aten::_softmax_backward_data.default f32[2x8] f32[2x8] -> f32[2x8] 128\n" },
  { "softmax to f32", softmax_half_to_float, 64,
    "aten::_softmax.default f16[2x8] -> f32[2x8] 64\n"
    "aten::_softmax_backward_data.default f32[2x8] f32[2x8] -> f16[2x8] 96\n" },
  /* which are -inf, 16 bools; whether a row is, 2; a zero, 4 */
  { "safe softmax", safe_softmax, 64,
    "aten::_safe_softmax.default f32[2x8] -> f32[2x8] 86\n"
    "aten::_softmax_backward_data.default f32[2x8] f32[2x8] -> f32[2x8] 128\n" },
  { "log softmax", log_softmax, 64,
    "aten::_log_softmax.default f32[2x8] -> f32[2x8] 64\n"
    "aten::_log_softmax_backward_data.default f32[2x8] f32[2x8] -> f32[2x8] 64\n" },
};

Test (op_kinds, norms)
{
  kind_check (G_N_ELEMENTS (norm_rows), norm_rows);
}

/* ---- attention; heads lie within tokens, as projections make them ---- */

static SsValue *
heads (SsTape *t, SsValue *x)
{
  return ss_keep (ss_transpose (t, x, 1, 2));
}

static SsValue *
flash (SsTape *t)
{
  KIND_LEAF (q, SS_BF16, 1, 2048, 32, 128);
  KIND_LEAF (k, SS_BF16, 1, 2048, 8, 128);
  KIND_LEAF (v, SS_BF16, 1, 2048, 8, 128);
  g_autoptr (SsValue) qh = heads (t, q), kh = heads (t, k), vh = heads (t, v);

  KIND_BEGIN (t);
  return ss_keep (ss_flash_attention (t, SS_KERNEL_FLASH, qh, kh, vh, FALSE));
}

static SsValue *
flash_with_splits (SsTape *t)
{
  KIND_INPUT (q, SS_BF16, 1, 2, 1024, 64);
  KIND_INPUT (k, SS_BF16, 1, 2, 1024, 64);
  KIND_INPUT (v, SS_BF16, 1, 2, 1024, 64);
  KIND_BEGIN (t);
  ss_discard (ss_flash_attention (t, SS_KERNEL_FLASH, q, k, v, FALSE));
  return NULL;
}

static SsValue *
efficient (SsTape *t)
{
  KIND_LEAF (q, SS_F32, 2, 1024, 12, 64);
  KIND_LEAF (k, SS_F32, 2, 1024, 12, 64);
  KIND_LEAF (v, SS_F32, 2, 1024, 12, 64);
  g_autoptr (SsValue) qh = heads (t, q), kh = heads (t, k), vh = heads (t, v);

  KIND_BEGIN (t);
  return ss_keep (ss_efficient_attention (t, SS_KERNEL_EFFICIENT, qh, kh, vh, NULL, FALSE));
}

static const KindRow attentions[] = {
  /* output 16,777,216, log-sum-exp 32 * 2048 * 4, random state 16 + 8; keeps these and q, k, v.
   * Backward: their gradients 25,165,824; sums of gradient times output 262,144; dq in f32
   * 33,554,432; dk and dv for each of 32 heads, 2 * 16,777,216 */
  { "flash", flash, 42205208,
    "aten::_scaled_dot_product_flash_attention.default bf16[1x32x2048x128] bf16[1x8x2048x128]"
    " bf16[1x8x2048x128] -> bf16[1x32x2048x128] f32[1x32x2048] u64[2] u64[] bf16[0] 17039384\n"
    "aten::_scaled_dot_product_flash_attention_backward.default bf16[1x32x2048x128]"
    " bf16[1x32x2048x128] bf16[1x8x2048x128] bf16[1x8x2048x128] bf16[1x32x2048x128]"
    " f32[1x32x2048] u64[2] u64[]"
    " -> bf16[1x32x2048x128] bf16[1x8x2048x128] bf16[1x8x2048x128] 92536832\n" },
  /* 32 tiles of queries for 264 places: the 4 blocks of keys are split in 4; partial log-sum-exps
   * 4 * 4 * 2048, partial outputs 64 times that; output 262,144, statistics 8192, state 24 */
  { "flash with splits", flash_with_splits, 0,
    "aten::_scaled_dot_product_flash_attention.default bf16[1x2x1024x64] bf16[1x2x1024x64]"
    " bf16[1x2x1024x64] -> bf16[1x2x1024x64] f32[1x2x1024] u64[2] u64[] bf16[0] 2400280\n" },
  /* output 6,291,456, log-sum-exp 24 * 1024 * 4, seed and offset; backward: three gradients, then
   * the product 6,291,456 with its sums twice, 2 * 98,304 (the tiles' 24 * 16 * 16,400 with one of
   * them come to less) */
  { "memory-efficient", efficient, 4 * 6291456 + 98304 + 16,
    "aten::_scaled_dot_product_efficient_attention.default f32[2x12x1024x64] f32[2x12x1024x64]"
    " f32[2x12x1024x64] -> f32[2x12x1024x64] f32[2x12x1024] i64[] i64[] 6389776\n"
    "aten::_scaled_dot_product_efficient_attention_backward.default f32[2x12x1024x64]"
    " f32[2x12x1024x64] f32[2x12x1024x64] f32[2x12x1024x64] f32[2x12x1024x64] f32[2x12x1024]"
    " i64[] i64[] -> f32[2x12x1024x64] f32[2x12x1024x64] f32[2x12x1024x64] 25362432\n" },
};

Test (op_kinds, attention)
{
  kind_check (G_N_ELEMENTS (attentions), attentions);
}

/* ---- embeddings and losses ---- */

static SsValue *
embedding (SsTape *t)
{
  KIND_LEAF (weight, SS_BF16, 100, 8);
  KIND_INPUT (ids, SS_I64, 2, 3);
  KIND_BEGIN (t);
  return ss_keep (ss_embedding (t, weight, ids));
}

static SsValue *
long_embedding (SsTape *t)
{
  KIND_LEAF (weight, SS_BF16, 1000, 16);
  KIND_INPUT (ids, SS_I64, 4096);
  KIND_BEGIN (t);
  return ss_keep (ss_embedding (t, weight, ids));
}

static SsValue *
nll_loss (SsTape *t)
{
  KIND_LEAF (x, SS_F32, 4, 10);
  KIND_INPUT (target, SS_I64, 4);
  KIND_BEGIN (t);
  return ss_keep (ss_nll_loss (t, x, target));
}

static const KindRow lookups[] = {
  { "embedding", embedding, 48,
    "aten::embedding.default bf16[100x8] i64[2x3] -> bf16[2x3x8] 96\n"
    "aten::embedding_dense_backward.default bf16[2x3x8] i64[2x3] -> bf16[100x8] 1600\n" },
  /* above 3072 ids they are sorted.  At the peak: sorted ids and their places 2 * 32,768, the
   * gradient 32,000, offsets of segments 32,768 and their number 8, two lists of 1000 segments
   * 16,000, the number of parts 8, 1000 + 409 parts 11,272, an f32 row of 16 for each, 90,176 */
  { "long embedding", long_embedding, 32768,
    "aten::embedding.default bf16[1000x16] i64[4096] -> bf16[4096x16] 131072\n"
    "aten::embedding_dense_backward.default bf16[4096x16] i64[4096] -> bf16[1000x16] 247768\n" },
  /* loss and total weight; keeps log-probabilities 160, targets 32, the weight 4 */
  { "nll loss", nll_loss, 196,
    "aten::nll_loss_forward.default f32[4x10] i64[4] -> f32[] f32[] 8\n"
    "aten::nll_loss_backward.default f32[] f32[4x10] i64[4] f32[] -> f32[4x10] 160\n" },
};

Test (op_kinds, lookups)
{
  kind_check (G_N_ELEMENTS (lookups), lookups);
}

/* ---- reductions, and what the host reads ---- */

static SsValue *
mean (SsTape *t)
{
  KIND_LEAF (x, SS_F32, 2, 64);
  KIND_BEGIN (t);
  return ss_keep (ss_mean_last (t, x));
}

static SsValue *
sums (SsTape *t)
{
  KIND_INPUT (x, SS_BF16, 1, 2048, 4096);
  SsTensor rows = ss_tensor (SS_BF16, SS_DIMS (4096)), scalar = { .dtype = SS_F32 };
  KIND_INPUT (few, SS_F32, 64);

  KIND_BEGIN (t);
  ss_discard (ss_sum_to (t, x, &rows));
  ss_discard (ss_sum_to (t, few, &scalar));
  ss_discard (ss_sum_over (t, few, 0));
  return NULL;
}

static SsValue *
packed_sequences (SsTape *t)
{
  KIND_INPUT (is_new, SS_BOOL, 1, 2048);
  KIND_BEGIN (t);
  ss_discard (ss_cumsum (t, is_new));
  ss_item (t, ss_count (t, is_new));
  ss_item (t, ss_all (t, is_new));
  return NULL;
}

static SsValue *
scalars (SsTape *t)
{
  KIND_INPUT (mask, SS_BOOL, 1, 1, 4, 4);
  g_autoptr (SsValue) zero = NULL, one = NULL;

  KIND_BEGIN (t);
  zero = ss_keep (ss_zeros (t, SS_BF16, 0, NULL));
  ss_discard (ss_where (t, mask, zero, ss_scalar_tensor (t, SS_BF16)));
  one = ss_keep (ss_tensor_of_number (t, SS_BF16));
  ss_equal (t, zero, one);
  return NULL;
}

static const KindRow reductions[] = {
  { "mean", mean, 0,
    "aten::mean.dim f32[2x64] -> f32[2x1] 8\n"
    "aten::div.Scalar f32[2x64] -> f32[2x64] 512\n" },
  /* columns: 32 blocks of rows leave, for each of 4096 columns, an f32 from each of 128 lanes;
   * a semaphore for each of 32 groups of columns */
  { "sums", sums, 0,
    "aten::sum.dim_IntList bf16[1x2048x4096] -> bf16[1x1x4096] 67117184\n"
    "aten::sum.default f32[64] -> f32[] 4\n"
    "aten::sum.dim_IntList f32[64] -> f32[] 4\n" },
  /* bools become i64 first, 16,384; a scan of 2048 in 3 tiles: 511 + 256 * 3 */
  { "packed sequences", packed_sequences, 0,
    "aten::cumsum.default bool[1x2048] -> i64[1x2048] 34047\n"
    "aten::sum.default bool[1x2048] -> i64[] 16392\n"
    "aten::_local_scalar_dense.default i64[] -> 0\n"
    "aten::all.default bool[1x2048] -> bool[] 1\n"
    "aten::_local_scalar_dense.default bool[] -> 0\n" },
  { "scalars", scalars, 0,
    "aten::zeros.default -> bf16[] 2\n"
    "aten::scalar_tensor.default -> bf16[] 2\n"
    "aten::where.self bool[1x1x4x4] bf16[] bf16[] -> bf16[1x1x4x4] 32\n"
    "aten::lift_fresh.default -> bf16[] 2\n"
    "aten::equal.default bf16[] bf16[] -> 2\n" },
};

Test (op_kinds, reductions)
{
  kind_check (G_N_ELEMENTS (reductions), reductions);
}

/* ---- lists ---- */

static SsValue *
lists (SsTape *t)
{
  KIND_INPUT (large, SS_BF16, 70000);
  KIND_INPUT (small, SS_BF16, 8);
  KIND_INPUT (number, SS_BF16, 1);
  g_autoptr (GPtrArray) list = ss_list_new (), scalar = ss_list_new (), norms = NULL, roots = NULL;

  ss_list_add (list, large);
  ss_list_add (list, small);
  ss_list_add (scalar, number);
  KIND_BEGIN (t);
  norms = ss_foreach_norm (t, list);
  ss_discard (ss_stack_scalars (t, norms));
  SS_FOREACH (t, MUL, { list, 2 }, { scalar, 1 });
  SS_FOREACH (t, MUL, { list, 2 });
  SS_FOREACH (t, ADD, { list, 2 });
  SS_FOREACH (t, ADD, { list, 2 }, { list, 1 });
  roots = ss_foreach_new (t, SS_FOREACH_SQRT, list, SS_N_DTYPES);
  SS_FOREACH (t, ADDCDIV_EACH, { list, 2 }, { list, 0 }, { roots, 1 });
  return NULL;
}

/* norms: an f32 for each of the larger one's 2 chunks, for both: 16; two scalars of 2 */
Test (op_kinds, lists)
{
  const KindRow row = { "lists", lists, 0,
    "aten::_foreach_norm.Scalar bf16[70000] bf16[8] -> bf16[] bf16[] 20\n"
    "aten::stack.default bf16[] bf16[] -> bf16[2] 4\n"
    "aten::_foreach_mul_.Tensor bf16[70000] bf16[8] bf16[1] -> 0\n"
    "aten::_foreach_mul_.Scalar bf16[70000] bf16[8] -> 0\n"
    "aten::_foreach_add_.Scalar bf16[70000] bf16[8] -> 0\n"
    "aten::_foreach_add_.List bf16[70000] bf16[8] bf16[70000] bf16[8] -> 0\n"
    "aten::_foreach_sqrt.default bf16[70000] bf16[8] -> bf16[70000] bf16[8] 140016\n"
    "aten::_foreach_addcdiv_.ScalarList bf16[70000] bf16[8] bf16[70000] bf16[8] bf16[70000]"
    " bf16[8] -> 0\n" };

  kind_check (1, &row);
}
