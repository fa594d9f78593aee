/* SPDX-License-Identifier: MIT */
#include "ops/kinds/liger.h"

#include "ops/kinds/pointwise.h"
#include "ops/kinds/reduce.h"
#include "ops/kinds/view.h"

/* ---- norm ---- */

/* inputs: x, weight */
static void
infer_rms_norm (SsCall *c)
{
  const SsTensor *x = ss_call_in (c, 0);
  gint64 width = x->size[x->n_dims - 1];
  guint64 count = ss_tensor_count (x);
  gint64 rows = count == SS_SIZE_OVERFLOW ? 0 : (gint64) count / width;

  c->n_out = 2;
  c->out[0] = ss_tensor ((SsDtype) x->dtype, x->n_dims, x->size);
  c->out[1] = ss_tensor (SS_F32, 1, &rows);
}

/* inputs: gradient, x, weight, reciprocal roots; attribute[0]: the weight's gradient is wanted,
 * whose partial sums are one row per multiprocessor */
static void
infer_rms_norm_grad (SsCall *c)
{
  const SsTensor *g = ss_call_in (c, 0);
  gint64 partial[2] = { ss_call_target (c)->n_multiprocessors, g->size[g->n_dims - 1] };

  c->n_out = c->attribute[0] ? 2 : 1;
  c->out[0] = *g;
  c->shares[0] = 1;
  c->out[1] = ss_tensor (SS_F32, 2, partial);
}

/* no faster than PyTorch's own: .37 to .40 of the bandwidth (linkedin/Liger-Kernel,
 * benchmark/data/all_benchmark_data.csv) */
static const SsOpKind rms_norm_grad = {
  .name = "triton::_rms_norm_backward_kernel", .infer = infer_rms_norm_grad,
  .memory = SS_IS_MEMORY (LAYER_NORM),
};

static void
rms_norm_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  SsValue *all[SS_MAX_OUTPUTS], *weight = ss_node_saved (n, 1);
  g_autoptr (SsValue) partial = NULL;
  g_autoptr (SsValue) sum = NULL;

  ss_record_multi (
    t, &rms_norm_grad, SS_ATTRIBUTES (ss_node_needs (n, 1)),
    SS_VALUES (ss_contiguous (t, grad[0]), ss_node_saved (n, 0), weight, ss_node_saved (n, 2)),
    all);
  out[0] = all[0];
  if (!all[1])
    return;
  partial = ss_keep (all[1]);
  sum = ss_keep (ss_sum_over (t, partial, 0));
  ss_rebind (&sum, ss_to (t, sum, ss_value_dtype (weight)));
  out[1] = ss_give (&sum);
}

static const SsOpKind rms_norm = {
  .name = "triton::_rms_norm_forward_kernel", .node_name = "LigerRMSNormFunctionBackward",
  .infer = infer_rms_norm, .memory = SS_IS_MEMORY (FUSED),
  .saves = { { 0, SS_ALWAYS }, { 1, SS_ALWAYS }, { SS_RESULT (1), SS_ALWAYS } }, .n_saves = 3,
  .backward = rms_norm_backward,
};

SsValue *
ss_liger_rms_norm (SsTape *t, SsValue *x, SsValue *weight)
{
  return SS_RUN_KIND (t, rms_norm, NULL, ss_contiguous (t, x), weight);
}

/* ---- rotation ---- */

static gboolean
is_token_major (const SsTensor *x)
{
  SsTensor y = *x;

  y.size[1] = x->size[2];
  y.size[2] = x->size[1];
  y.stride[1] = x->stride[2];
  y.stride[2] = x->stride[1];
  return ss_tensor_is_contiguous (&y);
}

/* inputs: q, k, cos, sin */
static void
infer_rope (SsCall *c)
{
  c->n_out = 2;
  for (guint i = 0; i < 2; i++)
    {
      c->out[i] = *ss_call_in (c, i);
      c->shares[i] = (guint8) (i + 1);
    }
}

/* transpose (1, 2).contiguous (): where heads lie within tokens, nothing is copied */
static SsValue *
token_major (SsTape *t, SsValue *x)
{
  return is_token_major (&x->tensor)
           ? x
           : ss_transpose (t, ss_contiguous (t, ss_transpose (t, x, 1, 2)), 1, 2);
}

static const SsOpKind rope_grad = {
  .name = "triton::_triton_rope", .infer = infer_rope,
  .memory = SS_IS_MEMORY (FUSED),
};

static void
rope_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  SsValue *all[SS_MAX_OUTPUTS];
  g_autoptr (SsValue) q = ss_keep (token_major (t, grad[0]));
  g_autoptr (SsValue) k = ss_keep (token_major (t, grad[1]));

  ss_record_multi (t, &rope_grad, NULL,
                   SS_VALUES (q, k, ss_node_saved (n, 0), ss_node_saved (n, 1)), all);
  memcpy (out, all, 2 * sizeof *out);
}

static const SsOpKind rope = {
  .name = "triton::_triton_rope", .node_name = "LigerRopeFunctionBackward", .infer = infer_rope,
  .memory = SS_IS_MEMORY (FUSED),
  .saves = { { 2, SS_ALWAYS }, { 3, SS_ALWAYS } }, .n_saves = 2, .backward = rope_backward,
  .n_carriers = 2,
};

void
ss_liger_rope (SsTape *t, SsValue **q, SsValue **k, SsValue *cos, SsValue *sin)
{
  SsValue *all[SS_MAX_OUTPUTS];

  ss_rebind (q, token_major (t, *q));
  ss_rebind (k, token_major (t, *k));
  ss_record_multi (t, &rope, NULL, SS_VALUES (*q, *k, cos, sin), all);
  ss_rebind (q, all[0]);
  ss_rebind (k, all[1]);
}

/* ---- gated activation ---- */

/* inputs: gradient, gate, up */
static void
infer_silu_mul_grad (SsCall *c)
{
  c->n_out = 2;
  for (guint i = 0; i < 2; i++)
    {
      c->out[i] = *ss_call_in (c, i + 1);
      c->shares[i] = (guint8) (i + 2);
    }
}

static const SsOpKind silu_mul_grad = {
  .name = "triton::_swiglu_backward_kernel", .infer = infer_silu_mul_grad,
  .memory = SS_IS_MEMORY (FUSED),
};

static void
silu_mul_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  SsValue *all[SS_MAX_OUTPUTS];

  ss_record_multi (
    t, &silu_mul_grad, NULL,
    SS_VALUES (ss_contiguous (t, grad[0]), ss_node_saved (n, 0), ss_node_saved (n, 1)), all);
  memcpy (out, all, 2 * sizeof *out);
}

static const SsOpKind silu_mul = {
  .name = "triton::_swiglu_forward_kernel", .node_name = "LigerSiLUMulFunctionBackward",
  .infer = ss_infer_like_first,
  .memory = SS_IS_MEMORY (FUSED), .saves = { { 0, SS_ALWAYS }, { 1, SS_ALWAYS } }, .n_saves = 2,
  .backward = silu_mul_backward,
};

SsValue *
ss_liger_silu_mul (SsTape *t, SsValue *gate, SsValue *up)
{
  return SS_RUN_KIND (t, silu_mul, NULL, gate, up);
}

/* ---- losses ---- */

/* reads the logits for the maximum and the sum, and again for the gradient that it writes over
 * them */
static void
cross_entropy_cost (const SsCall *c, SsCost *cost)
{
  cost->bytes = ss_size_add (cost->bytes, ss_size_mul (2, ss_tensor_bytes (ss_call_in (c, 0))));
}

static const SsOpKind cross_entropy_kernel = {
  .name = "triton::liger_cross_entropy_kernel",
  .memory = SS_IS_MEMORY (FUSED), .cost = cross_entropy_cost,
  .in_place = TRUE,
};

void
ss_liger_cross_entropy_kernel (SsTape *t, SsValue *logits, SsValue *target, SsValue *loss)
{
  SS_RUN_KIND (t, cross_entropy_kernel, NULL, logits, target, loss);
}

static void
element_mul_cost (const SsCall *c, SsCost *cost)
{
  cost->bytes = ss_size_add (cost->bytes, ss_tensor_bytes (ss_call_in (c, 0)));
}

static const SsOpKind element_mul = {
  .name = "triton::element_mul_kernel",
  .memory = SS_IS_MEMORY (FUSED),
  .cost = element_mul_cost,
  .in_place = TRUE,
};

void
ss_liger_element_mul (SsTape *t, SsValue *x, SsValue *scalar)
{
  SS_RUN_KIND (t, element_mul, NULL, x, scalar);
}
