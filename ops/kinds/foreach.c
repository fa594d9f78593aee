/* SPDX-License-Identifier: MIT */
#include "ops/kinds/foreach.h"

#include "ops/kinds/pointwise.h"

/* A multi-tensor kernel takes chunks of 65,536 elements, up to 320 of them a launch
 * (ATen/native/cuda/MultiTensorApply.cuh: kChunkSize, depth_to_max_blocks). */
#define CHUNK 65536
#define CHUNKS_PER_LAUNCH 320

static void
infer_nothing (SsCall *c)
{
  c->n_out = 0;
}

/* attribute[0]: bytes read and written; attribute[1]: launches */
static void
foreach_cost (const SsCall *c, SsCost *cost)
{
  cost->op_class = SS_OP_MULTI_TENSOR;
  cost->bytes = (guint64) c->attribute[0];
  cost->n_launches = (guint) c->attribute[1];
}

static const SsOpKind kinds[SS_N_FOREACH] = {
#define SS_FOREACH_KIND(UPPER, text)                                                               \
  [SS_FOREACH_##UPPER] = { .name = text, .infer = infer_nothing, .cost = foreach_cost, .in_place = TRUE },
  SS_FOREACH_KERNELS (SS_FOREACH_KIND)
#undef SS_FOREACH_KIND
};

static gint64
n_launches (guint n, SsValue *const *operands)
{
  guint64 chunks = 0;

  for (guint i = 0; i < n; i++)
    chunks = ss_size_add (chunks, 1 + ss_tensor_count (&operands[i]->tensor) / CHUNK);
  return (gint64) MIN (1 + chunks / CHUNKS_PER_LAUNCH, 60000);
}

void
ss_foreach (SsTape *t, SsForeachKernel kernel, guint n, SsValue *const *operands, guint64 bytes)
{
  if (bytes == SS_SIZE_OVERFLOW)
    ss_tape_fail (t, SS_OPS_ERROR_OVERFLOW, "%s: 2^63 bytes or more", kinds[kernel].name);
  else if (n > 0)
    ss_record (t, &kinds[kernel], SS_ATTRIBUTES ((gint64) bytes, n_launches (n, operands)), n, operands);
}

GPtrArray *
ss_foreach_new (SsTape *t, SsForeachKernel kernel, guint n, SsValue *const *operands, SsDtype dtype)
{
  GPtrArray *list = g_ptr_array_new_full (n, (GDestroyNotify) ss_value_unref);
  guint64 bytes = 0;

  for (guint i = 0; i < n; i++)
    {
      SsTensor x = operands[i]->tensor;

      if (dtype != SS_N_DTYPES)
        x.dtype = (guint8) dtype;
      ss_tensor_like (&x, &operands[i]->tensor);
      g_ptr_array_add (list, ss_keep (ss_empty (t, &x)));
      bytes = ss_size_add (bytes, ss_size_add (ss_tensor_bytes (&x), ss_tensor_bytes (&operands[i]->tensor)));
    }
  ss_foreach (t, kernel, n, operands, bytes);
  return list;
}

static void
infer_typed_like (SsCall *c)
{
  ss_infer_like_first (c);
  c->out[0].dtype = (guint8) c->attribute[0];
}

static void
zeros_cost (const SsCall *c, SsCost *cost)
{
  cost->bytes = ss_tensor_bytes (&c->out[0]);
}

static const SsOpKind zeros_like = { .name = "aten::zeros_like", .infer = infer_typed_like, .cost = zeros_cost };

SsValue *
ss_zeros_like (SsTape *t, SsValue *x, SsDtype dtype)
{
  return ss_keep (SS_RUN_KIND (t, zeros_like, SS_ATTRIBUTES (dtype), x));
}
