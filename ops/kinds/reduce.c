/* SPDX-License-Identifier: MIT */
#include "ops/kinds/reduce.h"

#include "ops/kinds/pointwise.h"
#include "ops/kinds/view.h"

#define ACCUMULATOR_BYTES 4      /* f32, for f32, bf16 and f16 inputs */

/* attributes: n_dims, sizes of the output */
static void
infer_sizes (SsCall *c)
{
  c->n_out = 1;
  c->out[0]
    = ss_tensor ((SsDtype) ss_call_in (c, 0)->dtype, (guint) c->attribute[0], c->attribute + 1);
}

static void
sizes_of (const SsTensor *x, gint64 attribute[SS_N_ATTRIBUTES])
{
  attribute[0] = x->n_dims;
  memcpy (attribute + 1, x->size, sizeof x->size);
}

/* ---- mean over the last dimension ---- */

static void
infer_mean (SsCall *c)
{
  SsTensor x = *ss_call_in (c, 0);

  x.size[x.n_dims - 1] = 1;
  c->n_out = 1;
  c->out[0] = ss_tensor ((SsDtype) x.dtype, x.n_dims, x.size);
}

static void
mean_scratch (SsCall *c)
{
  gboolean reduced[SS_MAX_DIMS] = { FALSE };

  reduced[ss_call_in (c, 0)->n_dims - 1] = TRUE;
  ss_call_reduce_scratch (c, ss_call_in (c, 0), reduced, ACCUMULATOR_BYTES);
}

/* reads what was expanded once */
static void
mean_grad_cost (const SsCall *c, SsCost *cost)
{
  const SsTensor *o = &c->out[0];
  guint64 bytes = ss_tensor_bytes (o);

  cost->bytes = ss_size_add (bytes, bytes / (guint64) MAX (o->size[o->n_dims - 1], 1));
}

/* the gradient, expanded, over the count */
static const SsOpKind mean_grad = {
  .name = "aten::div", .overload = "Scalar", .infer = infer_sizes, .cost = mean_grad_cost,
};

static void
mean_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  gint64 attribute[SS_N_ATTRIBUTES] = { 0 };

  sizes_of (ss_node_wanted (n, 0), attribute);
  out[0] = SS_RUN_KIND (t, mean_grad, attribute,
                        ss_expand (t, grad[0], (guint) attribute[0] - 1,
                                   attribute[attribute[0]]));
}

static const SsOpKind mean = {
  .name = "aten::mean", .overload = "dim", .node_name = "MeanBackward1", .infer = infer_mean,
  .memory = SS_IS_MEMORY (REDUCE),
  .backward = mean_backward, .scratch = mean_scratch,
};

SsValue *
ss_mean_last (SsTape *t, SsValue *a)
{
  return SS_RUN_KIND (t, mean, NULL, a);
}

/* ---- reductions without a derivative ---- */

static gboolean
is_reduced (const SsCall *c, guint dim)
{
  return ((guint64) c->attribute[0] >> dim & 1) != 0;
}

/* attributes: bits of the reduced dimensions, whether they stay with size 1 */
static void
infer_reduced (SsCall *c)
{
  const SsTensor *x = ss_call_in (c, 0);
  gint64 size[SS_MAX_DIMS];
  guint n_dims = 0;

  for (guint i = 0; i < x->n_dims; i++)
    if (c->attribute[1] || !is_reduced (c, i))
      size[n_dims++] = is_reduced (c, i) ? 1 : x->size[i];
  c->n_out = 1;
  c->out[0] = ss_tensor ((SsDtype) x->dtype, n_dims, size);
}

static void
reduced_scratch (SsCall *c)
{
  gboolean reduced[SS_MAX_DIMS];

  for (guint i = 0; i < SS_MAX_DIMS; i++)
    reduced[i] = is_reduced (c, i);
  ss_call_reduce_scratch (c, ss_call_in (c, 0), reduced, ACCUMULATOR_BYTES);
}

static const SsOpKind vector_norm = {
  .name = "aten::linalg_vector_norm", .infer = infer_reduced,
  .memory = SS_IS_MEMORY (REDUCE), .scratch = reduced_scratch,
};
static const SsOpKind mean_over = {
  .name = "aten::mean", .overload = "dim", .infer = infer_reduced,
  .memory = SS_IS_MEMORY (REDUCE), .scratch = reduced_scratch,
};

static const SsOpKind sum_over = {
  .name = "aten::sum", .overload = "dim_IntList", .infer = infer_reduced,
  .memory = SS_IS_MEMORY (REDUCE),
  .scratch = reduced_scratch,
};

SsValue *
ss_sum_over (SsTape *t, SsValue *a, guint dim)
{
  return SS_RUN_KIND (t, sum_over, SS_ATTRIBUTES (1 << dim, FALSE), a);
}

SsValue *
ss_vector_norm (SsTape *t, SsValue *a, guint reduced, gboolean is_kept)
{
  return SS_RUN_KIND (t, vector_norm, SS_ATTRIBUTES (reduced, is_kept), a);
}

SsValue *
ss_mean_over (SsTape *t, SsValue *a, guint dim)
{
  return SS_RUN_KIND (t, mean_over, SS_ATTRIBUTES (1 << dim, TRUE), a);
}

/* ---- sum ---- */

/* attributes: n_dims and sizes of what it is summed to; dimensions stay, with size 1 */
static void
infer_sum (SsCall *c)
{
  const SsTensor *x = ss_call_in (c, 0);
  guint lead = x->n_dims - (guint) c->attribute[0];
  gint64 size[SS_MAX_DIMS];

  for (guint i = 0; i < x->n_dims; i++)
    size[i] = i < lead ? 1 : c->attribute[1 + i - lead];
  c->n_out = 1;
  c->out[0] = ss_tensor ((SsDtype) x->dtype, x->n_dims, size);
}

static void
sum_scratch (SsCall *c)
{
  const SsTensor *x = ss_call_in (c, 0);
  guint lead = x->n_dims - (guint) c->attribute[0];
  gboolean reduced[SS_MAX_DIMS];

  for (guint i = 0; i < x->n_dims; i++)
    reduced[i] = i < lead || (c->attribute[1 + i - lead] == 1 && x->size[i] != 1);
  ss_call_reduce_scratch (c, x, reduced, ACCUMULATOR_BYTES);
}

static const SsOpKind sum = {
  .name = "aten::sum", .overload = "dim_IntList", .infer = infer_sum,
  .memory = SS_IS_MEMORY (REDUCE), .scratch = sum_scratch,
};
static const SsOpKind sum_all = {
  .name = "aten::sum", .infer = infer_sizes,
  .memory = SS_IS_MEMORY (REDUCE), .scratch = sum_scratch,
};

/* at::sum_to */
SsValue *
ss_sum_to (SsTape *t, SsValue *a, const SsTensor *target)
{
  gint64 attribute[SS_N_ATTRIBUTES] = { 0 };
  guint n_dims = a->tensor.n_dims;
  SsValue *kept;

  sizes_of (target, attribute);
  if (target->n_dims == 0)
    return SS_RUN_KIND (t, sum_all, attribute, a);
  kept = SS_RUN_KIND (t, sum, attribute, a);
  return n_dims > target->n_dims ? ss_view (t, kept, target->n_dims, target->size) : kept;
}

/* ---- over everything, of integers ---- */

#define I64_ACCUMULATOR_BYTES 8

static void
infer_i64_scalar (SsCall *c)
{
  c->n_out = 1;
  c->out[0] = ss_tensor (SS_I64, 0, NULL);
}

static void
i64_scratch (SsCall *c)
{
  const SsTensor *x = ss_call_in (c, 0);
  SsTensor wide = ss_tensor (SS_I64, x->n_dims, x->size);
  gboolean reduced[SS_MAX_DIMS];

  for (guint i = 0; i < SS_MAX_DIMS; i++)
    reduced[i] = TRUE;
  /* bools are copied to i64 first */
  if (x->dtype != SS_I64)
    ss_call_scratch (c, ss_tensor_bytes (&wide));
  ss_call_reduce_scratch (c, &wide, reduced, I64_ACCUMULATOR_BYTES);
}

static const SsOpKind count = {
  .name = "aten::sum", .infer = infer_i64_scalar,
  .memory = SS_IS_MEMORY (REDUCE), .scratch = i64_scratch,
};
static const SsOpKind max = {
  .name = "aten::max", .infer = infer_i64_scalar,
  .memory = SS_IS_MEMORY (REDUCE), .scratch = i64_scratch,
};
static const SsOpKind min = {
  .name = "aten::min", .infer = infer_i64_scalar,
  .memory = SS_IS_MEMORY (REDUCE), .scratch = i64_scratch,
};

SsValue *
ss_count (SsTape *t, SsValue *a)
{
  return SS_RUN_KIND (t, count, NULL, a);
}

SsValue *
ss_extremum (SsTape *t, gboolean is_max, SsValue *a)
{
  return ss_record (t, is_max ? &max : &min, NULL, 1, &a);
}

/* ---- scans and logic ---- */

guint64
ss_scan_scratch_i64 (guint64 n)
{
  guint64 tiles = (n + 895) / 896; /* 896 i64 per tile; 16 bytes of state each and for one warp */

  return 511 + (16 * (tiles + 32) + 255) / 256 * 256;
}

static void
infer_i64 (SsCall *c)
{
  ss_infer_like_first (c);
  c->out[0].dtype = SS_I64;
}

static void
cumsum_scratch (SsCall *c)
{
  const SsTensor *x = ss_call_in (c, 0);
  guint64 n = ss_tensor_count (x);

  if (x->dtype == SS_BOOL)
    ss_call_scratch (c, ss_size_mul (8, n));
  if (n == (guint64) x->size[x->n_dims - 1])
    ss_call_scratch (c, ss_scan_scratch_i64 (n));
}

static const SsOpKind cumsum = {
  .name = "aten::cumsum", .infer = infer_i64,
  .memory = SS_IS_MEMORY (REDUCE), .scratch = cumsum_scratch,
};

SsValue *
ss_cumsum (SsTape *t, SsValue *a)
{
  return SS_RUN_KIND (t, cumsum, NULL, a);
}

static void
infer_bool_scalar (SsCall *c)
{
  c->n_out = 1;
  c->out[0] = ss_tensor (SS_BOOL, 0, NULL);
}

static const SsOpKind all = {
  .name = "aten::all", .infer = infer_bool_scalar,
  .memory = SS_IS_MEMORY (REDUCE),
};

SsValue *
ss_all (SsTape *t, SsValue *a)
{
  return SS_RUN_KIND (t, all, NULL, a);
}
