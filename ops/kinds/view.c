/* SPDX-License-Identifier: MIT */
#include "ops/kinds/view.h"

#include "ops/kinds/pointwise.h"
#include "ops/kinds/reduce.h"

static void
sizes_of (const SsTensor *x, gint64 attribute[SS_N_ATTRIBUTES])
{
  attribute[0] = x->n_dims;
  memcpy (attribute + 1, x->size, sizeof x->size);
}

/* attributes: n_dims, sizes; contiguous */
static void
infer_sizes (SsCall *c)
{
  c->n_out = 1;
  c->out[0]
    = ss_tensor ((SsDtype) ss_call_in (c, 0)->dtype, (guint) c->attribute[0], c->attribute + 1);
}

/* ---- view, reshape ---- */

static void
infer_view (SsCall *c)
{
  const SsTensor *x = ss_call_in (c, 0);

  c->n_out = 1;
  if (!ss_tensor_view (x, (guint) c->attribute[0], c->attribute + 1, &c->out[0]))
    {
      g_autofree char *from = ss_tensor_to_string (x), *to = ss_tensor_to_string (&c->out[0]);

      ss_call_fail (c, "%s cannot be seen as %s without a copy", from, to);
    }
}

static void
view_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  const SsTensor *wanted = ss_node_wanted (n, 0);

  out[0] = ss_reshape (t, grad[0], wanted->n_dims, wanted->size);
}

static const SsOpKind view = {
  .name = "aten::view",
  .node_name = "ViewBackward0",
  .infer = infer_view,
  .backward = view_backward,
  .is_view = TRUE,
  .holds_base = TRUE,
};
static const SsOpKind unsafe_view = {
  .name = "aten::_unsafe_view", .node_name = "UnsafeViewBackward0", .infer = infer_view,
  .backward = view_backward, .is_view = TRUE,
};

static SsValue *
shaped (SsTape *t, const SsOpKind *kind, SsValue *a, guint n_dims, const gint64 *size)
{
  gint64 attribute[SS_N_ATTRIBUTES] = { n_dims };

  memcpy (attribute + 1, size, n_dims * sizeof *size);
  return ss_record (t, kind, attribute, 1, &a);
}

SsValue *
ss_view (SsTape *t, SsValue *a, guint n_dims, const gint64 *size)
{
  return shaped (t, &view, a, n_dims, size);
}

SsValue *
ss_unsafe_view (SsTape *t, SsValue *a, guint n_dims, const gint64 *size)
{
  return shaped (t, &unsafe_view, a, n_dims, size);
}

SsValue *
ss_reshape (SsTape *t, SsValue *a, guint n_dims, const gint64 *size)
{
  SsTensor x;

  if (ss_tensor_view (&a->tensor, n_dims, size, &x))
    return ss_view (t, a, n_dims, size);
  return ss_unsafe_view (t, ss_clone (t, a), n_dims, size);
}

/* ---- transpose: attributes d0, d1 ---- */

static void
infer_transpose (SsCall *c)
{
  const SsTensor *x = ss_call_in (c, 0);
  gint64 a = c->attribute[0], b = c->attribute[1];

  c->n_out = 1;
  c->out[0] = *x;
  c->out[0].size[a] = x->size[b];
  c->out[0].size[b] = x->size[a];
  c->out[0].stride[a] = x->stride[b];
  c->out[0].stride[b] = x->stride[a];
}

static void
transpose_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  out[0]
    = ss_transpose (t, grad[0], (guint) ss_node_attribute (n, 0), (guint) ss_node_attribute (n, 1));
}

static const SsOpKind transpose = {
  .name = "aten::transpose", .node_name = "TransposeBackward0", .infer = infer_transpose,
  .backward = transpose_backward, .is_view = TRUE, .holds_base = TRUE,
};

SsValue *
ss_transpose (SsTape *t, SsValue *a, guint d0, guint d1)
{
  return SS_RUN_KIND (t, transpose, SS_ATTRIBUTES (d0, d1), a);
}

/* ---- expand: attributes dim, n ---- */

static void
infer_expand (SsCall *c)
{
  gint64 dim = c->attribute[0], n = c->attribute[1];

  c->n_out = 1;
  c->out[0] = *ss_call_in (c, 0);
  if (n > 1 && c->out[0].size[dim] == 1)
    c->out[0].stride[dim] = 0;
  c->out[0].size[dim] = n;
}

static void
expand_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  const SsTensor *wanted = ss_node_wanted (n, 0);

  out[0]
    = ss_tensor_same_sizes (wanted, &grad[0]->tensor) ? grad[0] : ss_sum_to (t, grad[0], wanted);
}

static const SsOpKind expand = {
  .name = "aten::expand",
  .node_name = "ExpandBackward0",
  .infer = infer_expand,
  .backward = expand_backward,
  .is_view = TRUE,
  .holds_base = TRUE,
};

SsValue *
ss_expand (SsTape *t, SsValue *a, guint dim, gint64 n)
{
  return SS_RUN_KIND (t, expand, SS_ATTRIBUTES (dim, n), a);
}

/* ---- slice: attributes dim, start, length ---- */

static void
infer_slice (SsCall *c)
{
  c->n_out = 1;
  c->out[0] = *ss_call_in (c, 0);
  c->out[0].size[c->attribute[0]] = c->attribute[2];
}

static const SsOpKind slice_grad = {
  .name = "aten::slice_backward", .infer = infer_sizes,
  .memory = SS_IS_MEMORY (STRIDED),
};

static void
slice_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  gint64 attribute[SS_N_ATTRIBUTES] = { 0 };

  sizes_of (ss_node_wanted (n, 0), attribute);
  out[0] = SS_RUN_KIND (t, slice_grad, attribute, grad[0]);
}

static const SsOpKind slice = {
  .name = "aten::slice",
  .node_name = "SliceBackward0",
  .infer = infer_slice,
  .backward = slice_backward,
  .is_view = TRUE,
  .holds_base = TRUE,
};

SsValue *
ss_slice (SsTape *t, SsValue *a, guint dim, gint64 start, gint64 length)
{
  return SS_RUN_KIND (t, slice, SS_ATTRIBUTES (dim, start, length), a);
}

/* ---- split of the last dimension: attribute n ---- */

static void
infer_split (SsCall *c)
{
  c->n_out = (guint) c->attribute[0];
  for (guint i = 0; i < c->n_out; i++)
    {
      c->out[i] = *ss_call_in (c, 0);
      c->out[i].size[c->out[i].n_dims - 1] /= c->attribute[0];
    }
}

static const SsOpKind split_grad = {
  .name = "aten::cat", .infer = infer_sizes,
  .memory = SS_IS_MEMORY (STRIDED),
};

static void
split_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  gint64 attribute[SS_N_ATTRIBUTES] = { 0 };

  sizes_of (ss_node_wanted (n, 0), attribute);
  out[0] = ss_record (t, &split_grad, attribute, (guint) ss_node_attribute (n, 0), grad);
}

/* One kind for each number of parts: a node has one slot for each. */
#define SPLIT_IN(n)                                                                                \
  { .name = "aten::split", .node_name = "SplitBackward0", .infer = infer_split,                    \
    .backward = split_backward, .n_carriers = n, .is_view = TRUE, .holds_base = TRUE }
static const SsOpKind split[] = { SPLIT_IN (2), SPLIT_IN (3), SPLIT_IN (4) };
#undef SPLIT_IN

void
ss_split_last (SsTape *t, SsValue *a, guint n, SsValue **out)
{
  SsValue *all[SS_MAX_OUTPUTS];

  g_assert (n >= 2 && n - 2 < G_N_ELEMENTS (split));
  ss_record_multi (t, &split[n - 2], SS_ATTRIBUTES (n), 1, &a, all);
  memcpy (out, all, n * sizeof *out);
}

/* ---- cat: attributes dim, size of the first ---- */

static void
infer_cat (SsCall *c)
{
  SsTensor x = *ss_call_in (c, 0);

  x.size[c->attribute[0]] += ss_call_in (c, 1)->size[c->attribute[0]];
  c->n_out = 1;
  c->out[0] = ss_tensor (ss_dtype_promote ((SsDtype) x.dtype, (SsDtype) ss_call_in (c, 1)->dtype),
                         x.n_dims, x.size);
}

static void
cat_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  guint dim = (guint) ss_node_attribute (n, 0);
  gint64 first = ss_node_attribute (n, 1), all = ss_value_size (grad[0], (int) dim);

  if (ss_node_needs (n, 0))
    out[0] = ss_slice (t, grad[0], dim, 0, first);
  if (ss_node_needs (n, 1))
    out[1] = ss_slice (t, grad[0], dim, first, all - first);
}

static const SsOpKind cat = {
  .name = "aten::cat", .node_name = "CatBackward0", .infer = infer_cat,
  .memory = SS_IS_MEMORY (STRIDED), .backward = cat_backward,
};

SsValue *
ss_cat (SsTape *t, SsValue *a, SsValue *b, guint dim)
{
  return SS_RUN_KIND (t, cat, SS_ATTRIBUTES (dim, ss_value_size (a, (int) dim)), a, b);
}

/* ---- pad: attribute length ---- */

static void
infer_pad (SsCall *c)
{
  SsTensor x = *ss_call_in (c, 0);

  x.size[x.n_dims - 1] = c->attribute[0];
  c->n_out = 1;
  c->out[0] = ss_tensor ((SsDtype) x.dtype, x.n_dims, x.size);
}

/* the gradient is cut: a negative padding, which clones */
static void
infer_unpad (SsCall *c)
{
  SsTensor x = *ss_call_in (c, 0);

  x.size[x.n_dims - 1] = c->attribute[0];
  ss_tensor_like (&x, ss_call_in (c, 0));
  c->n_out = 1;
  c->out[0] = x;
}

static const SsOpKind unpad = {
  .name = "aten::constant_pad_nd", .infer = infer_unpad,
  .memory = SS_IS_MEMORY (STRIDED),
};

static void
pad_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  const SsTensor *wanted = ss_node_wanted (n, 0);

  out[0] = SS_RUN_KIND (t, unpad, SS_ATTRIBUTES (wanted->size[wanted->n_dims - 1]), grad[0]);
}

static const SsOpKind pad = {
  .name = "aten::constant_pad_nd",
  .node_name = "ConstantPadNdBackward0",
  .infer = infer_pad, .memory = SS_IS_MEMORY (STRIDED),
  .backward = pad_backward,
};

SsValue *
ss_pad_to (SsTape *t, SsValue *a, gint64 length)
{
  return SS_RUN_KIND (t, pad, SS_ATTRIBUTES (length), a);
}
