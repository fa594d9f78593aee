/* SPDX-License-Identifier: MIT */
#include "ops/kinds/norm.h"

#include "ops/kinds/pointwise.h"
#include "ops/kinds/reduce.h"

/* ---- layer norm ---- */

static void
infer_layer_norm (SsCall *c)
{
  const SsTensor *x = ss_call_in (c, 0);
  gint64 rows[SS_MAX_DIMS];

  ss_infer_like_first (c);
  memcpy (rows, x->size, sizeof rows);
  rows[x->n_dims - 1] = 1;
  c->n_out = 3;
  c->out[1] = c->out[2] = ss_tensor (SS_F32, x->n_dims, rows);
}

/* inputs: grad, x, mean, rstd, weight, bias */
static void
infer_layer_norm_grad (SsCall *c)
{
  const SsTensor *x = ss_call_in (c, 1);
  gint64 width = x->size[x->n_dims - 1];

  c->n_out = 3;
  c->out[0] = *x;
  c->out[1] = c->out[2] = ss_tensor ((SsDtype) ss_call_in (c, 4)->dtype, 1, &width);
}

/* Very tall inputs are summed in two steps; the first gradient of each parameter is replaced by
 * the sum of its partial rows (layer_norm_kernel.cu: LayerNormBackwardKernelImplInternal). */
static void
layer_norm_grad_allocate (SsCall *c)
{
  const SsTensor *x = ss_call_in (c, 1);
  gint64 width = x->size[x->n_dims - 1], rows = (gint64) ss_tensor_count (x) / width;
  gint64 columns = (width + 31) / 32, parts = MIN ((rows + 31) / 32, 32768 / columns);
  SsTensor partial = ss_tensor ((SsDtype) c->out[1].dtype, 2, (gint64[]) { parts, width });
  gboolean reduced[SS_MAX_DIMS] = { TRUE, FALSE };

  ss_call_result (c, 0);
  ss_call_result (c, 1);
  ss_call_result (c, 2);
  if (rows <= 65536 || width / 32 >= ss_call_target (c)->n_multiprocessors / 2)
    return;
  ss_call_scratch (c, ss_tensor_bytes (&partial));
  ss_call_scratch (c, ss_tensor_bytes (&partial));
  for (guint i = 1; i <= 2; i++)
    {
      SsStorage *first = c->result[i];
      guint n_before;

      c->result[i] = NULL;
      ss_call_result (c, i);
      n_before = c->n_scratch;
      ss_call_reduce_scratch (c, &partial, reduced, 4);
      while (c->n_scratch > n_before)
        ss_call_drop_scratch (c);
      c->scratch[c->n_scratch++] = first;
      ss_call_drop_scratch (c);
    }
}

static const SsOpKind layer_norm_grad = {
  .name = "aten::native_layer_norm_backward",
  .infer = infer_layer_norm_grad, .memory = SS_IS_MEMORY (LAYER_NORM),
  .allocate = layer_norm_grad_allocate,
};

static void
layer_norm_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  SsValue *all[SS_MAX_OUTPUTS];

  ss_record_multi (t, &layer_norm_grad, NULL,
                   SS_VALUES (grad[0], ss_node_saved (n, 0), ss_node_saved (n, 1),
                              ss_node_saved (n, 2), ss_node_saved (n, 3), ss_node_saved (n, 4)),
                   all);
  memcpy (out, all, 3 * sizeof *out);
}

static const SsOpKind layer_norm = {
  .name = "aten::native_layer_norm",
  .node_name = "NativeLayerNormBackward0",
  .infer = infer_layer_norm, .memory = SS_IS_MEMORY (LAYER_NORM),
  .saves = { { 0, SS_ALWAYS },
             { SS_RESULT (1), SS_ALWAYS },
             { SS_RESULT (2), SS_ALWAYS },
             { 1, SS_ALWAYS },
             { 2, SS_ALWAYS } },
  .n_saves = 5,
  .backward = layer_norm_backward,
};

SsValue *
ss_layer_norm (SsTape *t, SsValue *x, SsValue *weight, SsValue *bias)
{
  return SS_RUN_KIND (t, layer_norm, NULL, ss_raise (t, x), weight, bias);
}

/* ---- softmax ---- */

/* Rows of up to so many elements stay in registers (PersistentSoftmax.cuh: dim_size <= 1024);
 * longer ones are read for the maximum, for the sum and for the result (SoftMax.cu:
 * cunn_SoftMaxForward), those of a gradient for its sum and for the result. */
#define MAX_PERSISTENT_ROW 1024

/* Passes over tensors as large as the output, `n` of them and for a long row `n_long`. */
static void
count_passes (const SsCall *c, guint n, guint n_long, SsCost *cost)
{
  const SsTensor *x = &c->out[0];
  gboolean is_long = x->size[x->n_dims - 1] > MAX_PERSISTENT_ROW;

  /* what overflowed is told of it by itself */
  if (is_long && cost->bytes != SS_SIZE_OVERFLOW)
    cost->bytes = ss_size_mul (cost->bytes / n, n_long);
}

static void
softmax_cost (const SsCall *c, SsCost *cost)
{
  count_passes (c, 2, 4, cost);
}

static void
log_softmax_grad_cost (const SsCall *c, SsCost *cost)
{
  count_passes (c, 3, 5, cost);
}

/* and first the product of gradient and output, read and written */
static void
softmax_grad_cost (const SsCall *c, SsCost *cost)
{
  guint64 product = cost->bytes;

  count_passes (c, 3, 5, cost);
  cost->bytes = ss_size_add (cost->bytes, product);
}

/* the kernel multiplies gradient and output into a tensor of its own first */
static void
softmax_grad_scratch (SsCall *c)
{
  ss_call_scratch (c, ss_tensor_bytes (&c->out[0]));
}

static const SsOpKind softmax_grad = {
  .name = "aten::_softmax_backward_data",
  .infer = ss_infer_like_first, .memory = SS_IS_MEMORY (SOFTMAX), .cost = softmax_grad_cost,
  .scratch = softmax_grad_scratch,
};

/* the product is in the output's type, the gradient in the input's */
static void
softmax_grad_to_half_scratch (SsCall *c)
{
  ss_call_scratch (c, ss_tensor_bytes (ss_call_in (c, 1)));
}

static void
infer_half (SsCall *c)
{
  ss_infer_like_first (c);
  c->out[0].dtype = SS_F16;
}

static void
infer_f32 (SsCall *c)
{
  ss_infer_like_first (c);
  c->out[0].dtype = SS_F32;
}

static const SsOpKind softmax_grad_to_half = {
  .name = "aten::_softmax_backward_data",
  .infer = infer_half, .memory = SS_IS_MEMORY (SOFTMAX), .cost = softmax_grad_cost,
  .scratch = softmax_grad_to_half_scratch,
};

static void
softmax_half_to_float_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  out[0] = SS_RUN_KIND (t, softmax_grad_to_half, NULL, grad[0], ss_node_saved (n, 0));
}

static const SsOpKind softmax_half_to_float = {
  .name = "aten::_softmax",
  .node_name = "SoftmaxBackward0",
  .infer = infer_f32, .memory = SS_IS_MEMORY (SOFTMAX), .cost = softmax_cost,
  .saves = { { SS_RESULT (0), SS_ALWAYS } },
  .n_saves = 1,
  .backward = softmax_half_to_float_backward,
};

SsValue *
ss_softmax_half_to_float (SsTape *t, SsValue *x)
{
  return SS_RUN_KIND (t, softmax_half_to_float, NULL, x);
}

static void
softmax_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  out[0] = SS_RUN_KIND (t, softmax_grad, NULL, grad[0], ss_node_saved (n, 0));
}

static const SsOpKind softmax = {
  .name = "aten::_softmax", .node_name = "SoftmaxBackward0", .infer = ss_infer_like_first,
  .memory = SS_IS_MEMORY (SOFTMAX), .cost = softmax_cost,
  .saves = { { SS_RESULT (0), SS_ALWAYS } }, .n_saves = 1, .backward = softmax_backward,
};

SsValue *
ss_softmax (SsTape *t, SsValue *x)
{
  return SS_RUN_KIND (t, softmax, NULL, ss_raise (t, x));
}

/* isneginf of all elements, all of it by row, a zero for where, which then writes in place */
static void
safe_softmax_scratch (SsCall *c)
{
  guint64 n = ss_tensor_count (&c->out[0]);

  ss_call_scratch (c, n);
  ss_call_scratch (c, n / (guint64) c->out[0].size[c->out[0].n_dims - 1]);
  ss_call_scratch (c, ss_dtype_bytes ((SsDtype) c->out[0].dtype));
}

static const SsOpKind safe_softmax = {
  .name = "aten::_safe_softmax", .node_name = "SafeSoftmaxBackward0", .infer = ss_infer_like_first,
  .memory = SS_IS_MEMORY (SOFTMAX), .cost = softmax_cost,
  .saves = { { SS_RESULT (0), SS_ALWAYS } }, .n_saves = 1, .backward = softmax_backward,
  .scratch = safe_softmax_scratch,
};

SsValue *
ss_safe_softmax (SsTape *t, SsValue *x)
{
  return SS_RUN_KIND (t, safe_softmax, NULL, x);
}

static const SsOpKind log_softmax_grad = {
  .name = "aten::_log_softmax_backward_data", .infer = ss_infer_like_first,
  .memory = SS_IS_MEMORY (SOFTMAX), .cost = log_softmax_grad_cost,
};

static void
log_softmax_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  out[0] = SS_RUN_KIND (t, log_softmax_grad, NULL, grad[0], ss_node_saved (n, 0));
}

static const SsOpKind log_softmax = {
  .name = "aten::_log_softmax", .node_name = "LogSoftmaxBackward0", .infer = ss_infer_like_first,
  .memory = SS_IS_MEMORY (SOFTMAX), .cost = softmax_cost,
  .saves = { { SS_RESULT (0), SS_ALWAYS } }, .n_saves = 1, .backward = log_softmax_backward,
};

SsValue *
ss_log_softmax (SsTape *t, SsValue *x)
{
  return SS_RUN_KIND (t, log_softmax, NULL, x);
}
