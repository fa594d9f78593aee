/* SPDX-License-Identifier: MIT */
#include "ops/kinds/pointwise.h"

/* ---- shapes ---- */

void
ss_infer_like_first (SsCall *c)
{
  c->n_out = 1;
  c->out[0] = *ss_call_in (c, 0);
  ss_tensor_like (&c->out[0], ss_call_in (c, 0));
}

/* A 0-dim tensor never widens the type of one that has dimensions. */
static SsDtype
promoted (const SsTensor *a, const SsTensor *b)
{
  if ((a->n_dims > 0) == (b->n_dims > 0))
    return ss_dtype_promote ((SsDtype) a->dtype, (SsDtype) b->dtype);
  return (SsDtype) (a->n_dims > 0 ? a : b)->dtype;
}

static gint64
size_from_right (const SsTensor *x, guint n_dims, guint i)
{
  return i + x->n_dims >= n_dims ? x->size[i + x->n_dims - n_dims] : 1;
}

/* The output lies as the first operand of full size does (TensorIterator). */
void
ss_infer_broadcast (SsCall *c)
{
  const SsTensor *a = ss_call_in (c, 0), *b = ss_call_in (c, 1);
  guint n_dims = MAX (a->n_dims, b->n_dims);
  gint64 size[SS_MAX_DIMS];
  const SsTensor *full = NULL;

  for (guint i = 0; i < n_dims; i++)
    {
      gint64 x = size_from_right (a, n_dims, i), y = size_from_right (b, n_dims, i);

      if (x != y && x != 1 && y != 1)
        ss_call_fail (c,
                      "sizes %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT " do not fit each other",
                      x, y);
      size[i] = x == 1 ? y : x;
    }
  c->n_out = 1;
  c->out[0] = ss_tensor (promoted (a, b), n_dims, size);
  if (ss_tensor_same_sizes (a, &c->out[0]))
    full = a;
  else if (ss_tensor_same_sizes (b, &c->out[0]))
    full = b;
  if (full)
    ss_tensor_like (&c->out[0], full);
}

/* attribute[0]: the output's type */
static void
infer_typed (SsCall *c)
{
  if (c->n_in == 2)
    ss_infer_broadcast (c);
  else
    ss_infer_like_first (c);
  c->out[0].dtype = (guint8) c->attribute[0];
}

void
ss_pass_gradient (SsTape *t G_GNUC_UNUSED, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  for (guint i = 0; i < SS_MAX_EDGES; i++)
    out[i] = ss_node_needs (n, i) ? grad[0] : NULL;
}

/* ---- arithmetic ---- */

static const SsOpKind add = {
  .name = "aten::add", .overload = "Tensor", .node_name = "AddBackward0",
  .infer = ss_infer_broadcast, .backward = ss_pass_gradient,
};
static const SsOpKind add_scalar = {
  .name = "aten::add", .overload = "Tensor", .node_name = "AddBackward0",
  .infer = ss_infer_like_first, .backward = ss_pass_gradient,
};

SsValue *
ss_add (SsTape *t, SsValue *a, SsValue *b)
{
  return SS_RUN_KIND (t, add, NULL, a, b);
}

SsValue *
ss_add_scalar (SsTape *t, SsValue *a)
{
  return SS_RUN_KIND (t, add_scalar, NULL, a);
}

static void
mul_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  if (ss_node_needs (n, 1))
    out[1] = ss_mul (t, grad[0], ss_node_saved (n, 1));
  if (ss_node_needs (n, 0))
    out[0] = ss_mul (t, grad[0], ss_node_saved (n, 0));
}

/* saved: other if self needs a gradient, self if other does */
static const SsOpKind mul = {
  .name = "aten::mul", .overload = "Tensor", .node_name = "MulBackward0",
  .infer = ss_infer_broadcast,
  .saves = { { 1, 0 }, { 0, 1 } }, .n_saves = 2, .backward = mul_backward,
};

SsValue *
ss_mul (SsTape *t, SsValue *a, SsValue *b)
{
  return SS_RUN_KIND (t, mul, NULL, a, b);
}

static void
scale_backward (SsTape *t, const SsNode *n G_GNUC_UNUSED, SsValue *const *grad, SsValue **out)
{
  out[0] = ss_plain (t, SS_PLAIN_MUL, grad[0], NULL, ss_value_dtype (grad[0]));
}

static const SsOpKind scale = {
  .name = "aten::mul", .overload = "Tensor", .node_name = "MulBackward0",
  .infer = ss_infer_like_first, .backward = scale_backward,
};

SsValue *
ss_scale (SsTape *t, SsValue *a)
{
  return SS_RUN_KIND (t, scale, NULL, a);
}

static void
scale_native_backward (SsTape *t, const SsNode *n G_GNUC_UNUSED, SsValue *const *grad,
                       SsValue **out)
{
  out[0] = ss_plain (t, SS_PLAIN_SCALE, grad[0], NULL, ss_value_dtype (grad[0]));
}

static const SsOpKind scale_native = {
  .name = "aten::mul", .overload = "Scalar", .node_name = "MulBackward1",
  .infer = ss_infer_like_first, .backward = scale_native_backward,
};

SsValue *
ss_scale_native (SsTape *t, SsValue *a)
{
  return SS_RUN_KIND (t, scale_native, NULL, a);
}

static void
div_backward (SsTape *t, const SsNode *n G_GNUC_UNUSED, SsValue *const *grad, SsValue **out)
{
  out[0] = ss_plain (t, SS_PLAIN_DIV, grad[0], NULL, ss_value_dtype (grad[0]));
}

static const SsOpKind div_scalar = {
  .name = "aten::div", .overload = "Tensor", .node_name = "DivBackward0",
  .infer = ss_infer_like_first, .backward = div_backward,
};

SsValue *
ss_div_scalar (SsTape *t, SsValue *a)
{
  return SS_RUN_KIND (t, div_scalar, NULL, a);
}

/* x^(n-1), gradient times n, their product; rsqrt: result^3, gradient times -1/2, their product */
static void
power_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  SsValue *x = ss_node_saved (n, 0);
  g_autoptr (SsValue) power = ss_keep (ss_plain (t, SS_PLAIN_POW, x, NULL, ss_value_dtype (x)));
  g_autoptr (SsValue) scaled
    = ss_keep (ss_plain (t, SS_PLAIN_SCALE, grad[0], NULL, ss_value_dtype (grad[0])));

  out[0] = ss_plain (t, SS_PLAIN_MUL, scaled, power,
                     ss_dtype_promote (ss_value_dtype (scaled), ss_value_dtype (power)));
}

static const SsOpKind pow_kind = {
  .name = "aten::pow", .overload = "Tensor_Scalar", .node_name = "PowBackward0",
  .infer = ss_infer_like_first,
  .saves = { { 0, SS_ALWAYS } }, .n_saves = 1, .backward = power_backward,
};
static const SsOpKind rsqrt = {
  .name = "aten::rsqrt", .node_name = "RsqrtBackward0", .infer = ss_infer_like_first,
  .saves = { { SS_RESULT (0), SS_ALWAYS } }, .n_saves = 1, .backward = power_backward,
};

SsValue *
ss_pow (SsTape *t, SsValue *a)
{
  return SS_RUN_KIND (t, pow_kind, NULL, ss_raise (t, a));
}

SsValue *
ss_rsqrt (SsTape *t, SsValue *a)
{
  return SS_RUN_KIND (t, rsqrt, NULL, ss_raise (t, a));
}

static void
neg_backward (SsTape *t, const SsNode *n G_GNUC_UNUSED, SsValue *const *grad, SsValue **out)
{
  out[0] = ss_neg (t, grad[0]);
}

static const SsOpKind neg = {
  .name = "aten::neg",
  .node_name = "NegBackward0",
  .infer = ss_infer_like_first,
  .backward = neg_backward,
};

SsValue *
ss_neg (SsTape *t, SsValue *a)
{
  return SS_RUN_KIND (t, neg, NULL, a);
}

/* ---- casts and copies ---- */

static void
to_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  out[0] = ss_to (t, grad[0], (SsDtype) ss_node_wanted (n, 0)->dtype);
}

static const SsOpKind to_copy = {
  .name = "aten::_to_copy",
  .node_name = "ToCopyBackward0",
  .infer = infer_typed,
  .backward = to_backward,
};

SsValue *
ss_to (SsTape *t, SsValue *a, SsDtype dtype)
{
  return ss_value_dtype (a) == dtype ? a : SS_RUN_KIND (t, to_copy, SS_ATTRIBUTES (dtype), a);
}

SsValue *
ss_copy (SsTape *t, SsValue *a)
{
  return SS_RUN_KIND (t, to_copy, SS_ATTRIBUTES (ss_value_dtype (a)), a);
}

static void
infer_contiguous (SsCall *c)
{
  const SsTensor *x = ss_call_in (c, 0);

  c->n_out = 1;
  c->out[0] = ss_tensor ((SsDtype) x->dtype, x->n_dims, x->size);
}

/* attributes: the strides */
static void
infer_strided (SsCall *c)
{
  c->n_out = 1;
  c->out[0] = *ss_call_in (c, 0);
  for (guint i = 0; i < c->out[0].n_dims; i++)
    c->out[0].stride[i] = c->attribute[i];
}

static const SsOpKind clone_kind = {
  .name = "aten::clone",
  .node_name = "CloneBackward0",
  .infer = infer_contiguous,
  .backward = ss_pass_gradient,
};
static const SsOpKind clone_strided = { .name = "aten::clone", .infer = infer_strided };

SsValue *
ss_clone (SsTape *t, SsValue *a)
{
  return SS_RUN_KIND (t, clone_kind, NULL, a);
}

SsValue *
ss_clone_like (SsTape *t, SsValue *a, const SsTensor *layout)
{
  gint64 strides[SS_N_ATTRIBUTES] = { 0 };
  SsTensor dense = *layout;

  ss_tensor_like (&dense, layout);
  memcpy (strides, dense.stride, sizeof dense.stride);
  return SS_RUN_KIND (t, clone_strided, strides, a);
}

SsValue *
ss_contiguous (SsTape *t, SsValue *a)
{
  return ss_tensor_is_contiguous (&a->tensor) ? a : ss_clone (t, a);
}

/* ---- kernels without a derivative ---- */

static const SsOpKind plain[SS_N_PLAIN] = {
#define SS_PLAIN_KIND(UPPER, text, signature)                                                      \
  [SS_PLAIN_##UPPER] = { .name = text, .overload = signature, .infer = infer_typed },
  SS_PLAIN_KERNELS (SS_PLAIN_KIND)
#undef SS_PLAIN_KIND
};
static const SsOpKind plain_of_two[SS_N_PLAIN] = {
#define SS_PLAIN_KIND(UPPER, text, signature)                                                      \
  [SS_PLAIN_##UPPER] = { .name = text, .overload = "Tensor", .infer = infer_typed },
  SS_PLAIN_KERNELS (SS_PLAIN_KIND)
#undef SS_PLAIN_KIND
};

SsValue *
ss_plain (SsTape *t, SsPlainKernel kernel, SsValue *a, SsValue *b, SsDtype dtype)
{
  return b ? SS_RUN_KIND (t, plain_of_two[kernel], SS_ATTRIBUTES (dtype), a, b)
           : SS_RUN_KIND (t, plain[kernel], SS_ATTRIBUTES (dtype), a);
}

static void
number_scratch (SsCall *c)
{
  ss_call_scratch (c, ss_dtype_bytes (SS_F64));
}

static const SsOpKind pow_of_number = {
  .name = "aten::pow", .overload = "Scalar", .infer = ss_infer_like_first,
  .scratch = number_scratch,
};

SsValue *
ss_pow_of_number (SsTape *t, SsValue *exponent)
{
  return SS_RUN_KIND (t, pow_of_number, NULL, exponent);
}

/* as large as the widest operand, of the values' type */
static void
infer_where (SsCall *c)
{
  const SsTensor *like = ss_call_in (c, 1);

  for (guint i = 0; i < c->n_in; i++)
    if (ss_call_in (c, i)->n_dims > like->n_dims)
      like = ss_call_in (c, i);
  c->n_out = 1;
  c->out[0] = *like;
  c->out[0].dtype = ss_call_in (c, 1)->dtype;
  ss_tensor_like (&c->out[0], like);
}

static const SsOpKind where = { .name = "aten::where", .overload = "self", .infer = infer_where };

SsValue *
ss_where (SsTape *t, SsValue *condition, SsValue *a, SsValue *b)
{
  return SS_RUN_KIND (t, where, NULL, condition, a, b);
}

/* ---- values that the host reads ---- */

static const SsOpKind item = {
  .name = "aten::_local_scalar_dense", .in_place = TRUE,
  .is_synchronous = TRUE,
};

void
ss_item (SsTape *t, SsValue *a)
{
  SS_RUN_KIND (t, item, NULL, a);
}

/* at::eq, its all (), and that item (ATen/native/cuda/Equal.cpp) */
static void
equal_scratch (SsCall *c)
{
  ss_call_scratch (c, ss_tensor_count (ss_call_in (c, 0)));
  ss_call_scratch (c, ss_dtype_bytes (SS_BOOL));
}

static void
equal_cost (const SsCall *c G_GNUC_UNUSED, SsCost *cost)
{
  cost->n_launches = 3;
}

static const SsOpKind equal = {
  .name = "aten::equal", .scratch = equal_scratch, .cost = equal_cost,
  .in_place = TRUE, .is_synchronous = TRUE,
};

void
ss_equal (SsTape *t, SsValue *a, SsValue *b)
{
  SS_RUN_KIND (t, equal, NULL, a, b);
}
