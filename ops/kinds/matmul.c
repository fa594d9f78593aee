/* SPDX-License-Identifier: MIT */
#include "ops/kinds/matmul.h"

#include "ops/kinds/view.h"

/* Of the last two dimensions: the rows lie in memory one after the other, or the columns do. */
static gboolean
is_by_column (const SsTensor *x)
{
  guint n = x->n_dims;

  return x->stride[n - 1] != 1 && x->stride[n - 2] == 1;
}

static gint64
leading_dimension (const SsTensor *x)
{
  return x->stride[x->n_dims - (is_by_column (x) ? 1 : 2)];
}

/* 2 m n k multiplications and additions (ledger section 4) of a (B, m, k) and b (B, k, n) into o,
 * each by its last two dimensions. Kernels load 16 bytes at a time where rows begin at multiples of
 * them. */
static void
cost_of_product (SsCost *cost, const SsTensor *a, const SsTensor *b, const SsTensor *o)
{
  gint64 m = o->size[o->n_dims - 2], n = o->size[o->n_dims - 1], k = a->size[a->n_dims - 1];
  gint64 batch = o->n_dims > 2 ? o->size[0] : 1;
  gint64 leading = leading_dimension (a) | leading_dimension (b) | leading_dimension (o);
  guint64 flops = ss_size_mul (ss_size_mul (2 * (guint64) batch, (guint64) m),
                               ss_size_mul ((guint64) n, (guint64) k));

  cost->op_class = SS_OP_MATMUL;
  cost->flops = cost->model_flops = flops;
  cost->shape[0] = batch;
  cost->shape[1] = m;
  cost->shape[2] = n;
  cost->shape[3] = k;
  cost->dtype = a->dtype;
  cost->alignment = (guint8) ((leading | 8) & -(leading | 8));
  cost->variant = is_by_column (a)   ? SS_PRODUCT_WEIGHT_GRADIENT
                  : is_by_column (b) ? SS_PRODUCT_FORWARD
                                     : SS_PRODUCT_INPUT_GRADIENT;
}

/* ---- gradients in the layout of their operand ---- */

static gboolean
is_column_major (const SsTensor *x)
{
  return x->stride[0] == 1 && x->stride[1] == x->size[0];
}

static SsValue *
gradient_of_first (SsTape *t, SsValue *g, SsValue *mat2, const SsTensor *mat1)
{
  if (!is_column_major (mat1))
    return ss_mm (t, g, ss_transpose (t, mat2, 0, 1));
  return ss_transpose (t, ss_mm (t, mat2, ss_transpose (t, g, 0, 1)), 0, 1);
}

static SsValue *
gradient_of_second (SsTape *t, SsValue *g, SsValue *mat1, const SsTensor *mat2)
{
  if (!is_column_major (mat2))
    return ss_mm (t, ss_transpose (t, mat1, 0, 1), g);
  return ss_transpose (t, ss_mm (t, ss_transpose (t, g, 0, 1), mat1), 0, 1);
}

/* ---- mm ---- */

static void
expect_one_type (SsCall *c, const SsTensor *a, const SsTensor *b)
{
  if (a->dtype != b->dtype)
    ss_call_fail (c, "%s times %s; a product is of one type", ss_dtype_name ((SsDtype) a->dtype),
                  ss_dtype_name ((SsDtype) b->dtype));
}

/* mm's operands are inputs 0 and 1, addmm's 1 and 2, behind the bias. */
static void
infer_product (SsCall *c, guint first)
{
  const SsTensor *a = ss_call_in (c, first), *b = ss_call_in (c, first + 1);

  expect_one_type (c, a, b);
  if (a->size[1] != b->size[0])
    ss_call_fail (c, "inner sizes %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT " differ", a->size[1],
                  b->size[0]);
  c->n_out = 1;
  c->out[0] = ss_tensor ((SsDtype) a->dtype, 2, (gint64[]) { a->size[0], b->size[1] });
}

static void
product_cost (const SsCall *c, guint first, SsCost *cost)
{
  const SsTensor *o = c->n_out > 0 ? &c->out[0] : ss_call_in (c, first + 2);

  cost_of_product (cost, ss_call_in (c, first), ss_call_in (c, first + 1), o);
}

static void
infer_mm (SsCall *c)
{
  infer_product (c, 0);
}

static void
mm_cost (const SsCall *c, SsCost *cost)
{
  product_cost (c, 0, cost);
}

static void
mm_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  if (ss_node_needs (n, 1))
    out[1] = gradient_of_second (t, grad[0], ss_node_saved (n, 1), ss_node_wanted (n, 1));
  if (ss_node_needs (n, 0))
    out[0] = gradient_of_first (t, grad[0], ss_node_saved (n, 0), ss_node_wanted (n, 0));
}

static const SsOpKind mm = {
  .name = "aten::mm",
  .node_name = "MmBackward0",
  .infer = infer_mm,
  .saves = { { 1, 0 }, { 0, 1 } },
  .n_saves = 2,
  .backward = mm_backward,
  .cost = mm_cost,
  .uses_workspace = TRUE,
};

SsValue *
ss_mm (SsTape *t, SsValue *a, SsValue *b)
{
  return SS_RUN_KIND (t, mm, NULL, a, b);
}

/* ---- addmm ---- */

static void
infer_addmm (SsCall *c)
{
  infer_product (c, 1);
}

static void
addmm_cost (const SsCall *c, SsCost *cost)
{
  product_cost (c, 1, cost);
}

/* the bias's gradient is the incoming one, summed by the engine after the others were made */
static void
addmm_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  if (ss_node_needs (n, 1))
    out[1] = gradient_of_first (t, grad[0], ss_node_saved (n, 1), ss_node_wanted (n, 1));
  if (ss_node_needs (n, 2))
    out[2] = gradient_of_second (t, grad[0], ss_node_saved (n, 0), ss_node_wanted (n, 2));
  if (ss_node_needs (n, 0))
    out[0] = grad[0];
}

static const SsOpKind addmm = {
  .name = "aten::addmm", .node_name = "AddmmBackward0", .infer = infer_addmm,
  .saves = { { 1, 2 }, { 2, 1 } }, .n_saves = 2, .backward = addmm_backward, .cost = addmm_cost,
  .uses_workspace = TRUE,
};

SsValue *
ss_addmm (SsTape *t, SsValue *bias, SsValue *a, SsValue *b)
{
  return SS_RUN_KIND (t, addmm, NULL, bias, a, b);
}

/* ---- into a given tensor: inputs [what is added,] a, b, out ---- */

static void
check_out (SsCall *c, guint first)
{
  const SsTensor *a = ss_call_in (c, first), *b = ss_call_in (c, first + 1);
  const SsTensor *o = ss_call_in (c, first + 2);

  expect_one_type (c, a, b);
  if (a->size[1] != b->size[0] || o->size[0] != a->size[0] || o->size[1] != b->size[1])
    ss_call_fail (c, "sizes do not fit the tensor that is to hold the result");
  c->n_out = 0;
}

static void
infer_mm_out (SsCall *c)
{
  check_out (c, 0);
}

static void
infer_addmm_out (SsCall *c)
{
  check_out (c, 1);
}

static const SsOpKind mm_out = {
  .name = "aten::mm", .overload = "out", .infer = infer_mm_out, .cost = mm_cost,
  .in_place = TRUE, .returned = 3, .uses_workspace = TRUE,
};
static const SsOpKind addmm_out = {
  .name = "aten::addmm", .overload = "out", .infer = infer_addmm_out, .cost = addmm_cost,
  .in_place = TRUE, .returned = 4, .uses_workspace = TRUE,
};
/* a sum wider than its factors */
static const SsOpKind addmm_wide_out = {
  .name = "aten::addmm", .overload = "dtype_out", .infer = infer_addmm_out,
  .cost = addmm_cost, .in_place = TRUE, .returned = 4, .uses_workspace = TRUE,
};

void
ss_mm_out (SsTape *t, SsValue *a, SsValue *b, SsValue *out)
{
  SS_RUN_KIND (t, mm_out, NULL, a, b, out);
}

void
ss_addmm_out (SsTape *t, SsValue *sum, SsValue *a, SsValue *b)
{
  if (ss_value_dtype (sum) == ss_value_dtype (a))
    SS_RUN_KIND (t, addmm_out, NULL, sum, a, b, sum);
  else
    SS_RUN_KIND (t, addmm_wide_out, NULL, sum, a, b, sum);
}

/* ---- bmm ---- */

static void
infer_bmm (SsCall *c)
{
  const SsTensor *a = ss_call_in (c, 0), *b = ss_call_in (c, 1);

  expect_one_type (c, a, b);
  if (a->size[0] != b->size[0] || a->size[2] != b->size[1])
    ss_call_fail (c,
                  "batches %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
                  " or inner sizes %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT " differ",
                  a->size[0], b->size[0], a->size[2], b->size[1]);
  c->n_out = 1;
  c->out[0] = ss_tensor ((SsDtype) a->dtype, 3, (gint64[]) { a->size[0], a->size[1], b->size[2] });
}

static void
bmm_cost (const SsCall *c, SsCost *cost)
{
  cost_of_product (cost, ss_call_in (c, 0), ss_call_in (c, 1), &c->out[0]);
}

static void
bmm_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  if (ss_node_needs (n, 1))
    out[1] = ss_bmm (t, ss_transpose (t, ss_node_saved (n, 1), 1, 2), grad[0]);
  if (ss_node_needs (n, 0))
    out[0] = ss_bmm (t, grad[0], ss_transpose (t, ss_node_saved (n, 0), 1, 2));
}

static const SsOpKind bmm = {
  .name = "aten::bmm",
  .node_name = "BmmBackward0",
  .infer = infer_bmm,
  .saves = { { 1, 0 }, { 0, 1 } },
  .n_saves = 2,
  .backward = bmm_backward,
  .cost = bmm_cost,
  .uses_workspace = TRUE,
};

SsValue *
ss_bmm (SsTape *t, SsValue *a, SsValue *b)
{
  return SS_RUN_KIND (t, bmm, NULL, a, b);
}

SsValue *
ss_matmul4 (SsTape *t, SsValue *a_arg, SsValue *b_arg)
{
  SS_NATIVE (t);
  g_autoptr (SsValue) b = ss_keep (ss_lower (t, b_arg));
  g_autoptr (SsValue) a = ss_keep (ss_lower (t, a_arg));

  return ss_matmul4_plain (t, a, b);
}

SsValue *
ss_matmul4_plain (SsTape *t, SsValue *a_arg, SsValue *b_arg)
{
  SS_NATIVE (t);
  g_autoptr (SsValue) a = ss_keep (a_arg);
  g_autoptr (SsValue) b = ss_keep (b_arg);
  const gint64 *x = a->tensor.size, *y = b->tensor.size;
  SsValue *a3 = ss_reshape (t, a, SS_DIMS (x[0] * x[1], x[2], x[3]));
  SsValue *b3 = ss_reshape (t, b, SS_DIMS (y[0] * y[1], y[2], y[3]));

  return ss_unsafe_view (t, ss_bmm (t, a3, b3), SS_DIMS (x[0], x[1], x[2], y[3]));
}
