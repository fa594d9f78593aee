/* SPDX-License-Identifier: MIT */
#include "ops/kinds/foreach.h"

#include "ops/core/function.h"

/* A multi-tensor kernel takes chunks of 65,536 elements (kChunkSize), so many of them a launch,
 * and so many tensors by the number of lists it works on: ATen/native/cuda/MultiTensorApply.cuh,
 * depth_to_max_blocks and depth_to_max_tensors of builds for CUDA 13, as is the PyTorch 2.14.1
 * of data/pytorch. */
#define CHUNK 65536
#define CHUNKS_PER_LAUNCH 2240
#define MAX_DEPTH 5
static const guint max_tensors[MAX_DEPTH] = { 770, 448, 336, 252, 210 };

/* ---- lists ---- */

GPtrArray *
ss_list_new (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) ss_value_unref);
}

void
ss_list_add (GPtrArray *list, SsValue *value)
{
  g_ptr_array_add (list, ss_keep (value));
}

static SsValue *
value_at (const GPtrArray *list, guint i)
{
  return list->pdata[i];
}

static guint64
bytes_of_list (const GPtrArray *list)
{
  guint64 bytes = 0;

  for (guint i = 0; i < list->len; i++)
    bytes = ss_size_add (bytes, ss_tensor_bytes (&value_at (list, i)->tensor));
  return bytes;
}

static guint64
chunks_of (const GPtrArray *list, guint i)
{
  guint64 n = ss_tensor_count (&value_at (list, i)->tensor);

  return n / CHUNK + (n % CHUNK != 0);
}

/* multi_tensor_apply: a launch goes out when its table of blocks or of tensors is full. */
static guint64
n_launches (const GPtrArray *list, guint depth)
{
  guint64 launches = 0, blocks = 0;
  guint tensors = 0;

  for (guint i = 0; i < list->len; i++)
    {
      guint64 all = blocks + chunks_of (list, i);

      tensors++;
      launches += all / CHUNKS_PER_LAUNCH;
      blocks = all % CHUNKS_PER_LAUNCH;
      if (all >= CHUNKS_PER_LAUNCH)
        tensors = blocks > 0;
      if (tensors == max_tensors[MIN (depth, MAX_DEPTH) - 1] && blocks > 0)
        {
          launches++;
          tensors = 0;
          blocks = 0;
        }
    }
  return launches + (blocks > 0);
}

/* ---- kinds ---- */

/* attribute[0]: bytes read and written; attribute[1]: launches */
static void
foreach_cost (const SsCall *c, SsCost *cost)
{
  cost->op_class = SS_OP_MULTI_TENSOR;
  cost->bytes = (guint64) c->attribute[0];
  cost->n_launches = (guint) c->attribute[1];
}

#define SS_FOREACH_KIND(text, signature)                                                           \
  { .name = text, .overload = signature, .cost = foreach_cost,             \
    .in_place = TRUE }

static const SsOpKind kinds[SS_N_FOREACH] = {
#define SS_FOREACH_ENTRY(UPPER, text, signature)                                                   \
  [SS_FOREACH_##UPPER] = SS_FOREACH_KIND (text, signature),
  SS_FOREACH_KERNELS (SS_FOREACH_ENTRY)
#undef SS_FOREACH_ENTRY
};

/* Sums and products also come with a list or with one tensor for all. */
static const SsOpKind add_list = SS_FOREACH_KIND ("aten::_foreach_add_", "List");
static const SsOpKind sub_list = SS_FOREACH_KIND ("aten::_foreach_sub_", "List");
static const SsOpKind mul_tensor = SS_FOREACH_KIND ("aten::_foreach_mul_", "Tensor");

static const SsOpKind *
kind_of (SsForeachKernel kernel, guint n_lists)
{
  if (n_lists == 2 && kernel == SS_FOREACH_ADD)
    return &add_list;
  if (n_lists == 2 && kernel == SS_FOREACH_SUB)
    return &sub_list;
  if (n_lists == 2 && kernel == SS_FOREACH_MUL)
    return &mul_tensor;
  return &kinds[kernel];
}

static void
record (SsTape *t, const SsOpKind *kind, const GPtrArray *operands, guint64 bytes,
        guint64 launches)
{
  gint64 n = (gint64) MIN (launches, G_MAXUINT16);

  if (bytes >= G_MAXINT64)
    ss_tape_fail (t, SS_OPS_ERROR_OVERFLOW, "%s: 2^63 bytes or more", kind->name);
  else
    ss_record (t, kind, SS_ATTRIBUTES ((gint64) bytes, n),
               operands->len, (SsValue *const *) operands->pdata);
}

/* ---- calls ---- */

/* Lists of scalars, one per tensor, do not count. */
static gboolean
is_as_deep (const GPtrArray *list, const GPtrArray *first)
{
  return list->len == first->len
         && ss_tensor_same_sizes (&value_at (list, 0)->tensor, &value_at (first, 0)->tensor);
}

void
ss_foreach (SsTape *t, SsForeachKernel kernel, guint n_lists, const SsForeachList *lists)
{
  g_autoptr (GPtrArray) operands = g_ptr_array_new ();
  guint64 bytes = 0;
  guint depth = 0;

  if (lists[0].values->len == 0)
    return;
  for (guint i = 0; i < n_lists; i++)
    {
      GPtrArray *list = lists[i].values;

      for (guint k = 0; k < list->len; k++)
        g_ptr_array_add (operands, list->pdata[k]);
      bytes = ss_size_add (bytes, ss_size_mul (lists[i].n_accesses, bytes_of_list (list)));
      depth += is_as_deep (list, lists[0].values) ? 1 : 0;
    }
  record (t, kind_of (kernel, n_lists), operands, bytes, n_launches (lists[0].values, depth));
}

GPtrArray *
ss_foreach_new (SsTape *t, SsForeachKernel kernel, GPtrArray *values, SsDtype dtype)
{
  SS_NATIVE (t);
  GPtrArray *list = ss_list_new ();

  if (values->len == 0)
    return list;
  for (guint i = 0; i < values->len; i++)
    {
      const SsTensor *like = &value_at (values, i)->tensor;
      SsTensor x = *like;

      if (dtype != SS_N_DTYPES)
        x.dtype = (guint8) dtype;
      ss_tensor_like (&x, like);
      ss_list_add (list, ss_empty (t, &x));
    }
  record (t, &kinds[kernel], values, ss_size_add (bytes_of_list (values), bytes_of_list (list)),
          n_launches (values, 2));
  ss_tape_add_outputs (t, list->len, (SsValue *const *) list->pdata);
  return list;
}

/* foreach_tensor_norm_cuda (ATen/native/cuda/ForeachReduceOp.cu): an fp32 partial sum for each
 * chunk that the largest tensor has, for every tensor, zeroed first; a second kernel folds them. */
GPtrArray *
ss_foreach_norm (SsTape *t, GPtrArray *values)
{
  GPtrArray *norms = ss_list_new ();
  guint64 most_chunks = 0, partial_bytes;
  SsStorage *partial;

  if (values->len == 0)
    return norms;
  for (guint i = 0; i < values->len; i++)
    most_chunks = MAX (most_chunks, chunks_of (values, i));
  partial_bytes = ss_size_mul (ss_size_mul (values->len, most_chunks), ss_dtype_bytes (SS_F32));
  partial = ss_storage_new (t, partial_bytes, TRUE);
  for (guint i = 0; i < values->len; i++)
    ss_list_add (norms, ss_empty_sizes (t, ss_value_dtype (value_at (values, i)), 0, NULL));
  /* zeroed, written, read; two more launches zero and fold */
  record (t, &kinds[SS_FOREACH_NORM], values,
          ss_size_add (bytes_of_list (values), ss_size_mul (3, partial_bytes)),
          n_launches (values, 1) + 2);
  ss_tape_add_outputs (t, norms->len, (SsValue *const *) norms->pdata);
  ss_storage_unref (partial);
  return norms;
}

/* ---- stack ---- */

static void
infer_stack (SsCall *c)
{
  c->n_out = 1;
  c->out[0] = ss_tensor ((SsDtype) ss_call_in (c, 0)->dtype, 1, (gint64[]) { c->n_in });
}

static const SsOpKind stack = { .name = "aten::stack", .infer = infer_stack };

SsValue *
ss_stack_scalars (SsTape *t, GPtrArray *scalars)
{
  return ss_record (t, &stack, NULL, scalars->len, (SsValue *const *) scalars->pdata);
}
