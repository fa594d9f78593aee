/* SPDX-License-Identifier: MIT
 *
 * Scratch of the backward: at::native::embedding_backward_cuda_kernel over cub's radix sort and
 * unique_by_key, as recorded for PyTorch 2.14.1 (80 of 80 cases).
 */
#include "ops/kinds/embedding.h"

#include "ops/kinds/pointwise.h"
#include "ops/kinds/reduce.h"

/* up to here one kernel walks the indices without sorting them */
#define MAX_UNSORTED 3072

static void
infer_embedding (SsCall *c)
{
  const SsTensor *weight = ss_call_in (c, 0), *ids = ss_call_in (c, 1);
  gint64 size[SS_MAX_DIMS];

  memcpy (size, ids->size, sizeof size);
  size[ids->n_dims] = weight->size[1];
  c->n_out = 1;
  c->out[0] = ss_tensor ((SsDtype) weight->dtype, ids->n_dims + 1u, size);
}

static guint64
round_up (guint64 n, guint64 unit)
{
  return (n + unit - 1) / unit * unit;
}

static guint64
ceil_div (guint64 a, guint64 b)
{
  return (a + b - 1) / b;
}

static gboolean
is_hopper_or_later (const SsCall *c)
{
  return ss_call_target (c)->compute_capability >= 90;
}

static guint64
sort_scratch (const SsCall *c, guint64 n, guint64 vocabulary)
{
  guint64 passes = ceil_div (g_bit_storage (vocabulary), 8),
          tile = is_hopper_or_later (c) ? 4608 : 3840;

  return 255 + (passes > 1 ? 2 * round_up (8 * n, 256) : 0) + 2048 * passes + 256
         + 1024 * ceil_div (n, tile);
}

static guint64
unique_scratch (const SsCall *c, guint64 n)
{
  guint64 tile = is_hopper_or_later (c) ? 4928 : 1344;

  return 511 + round_up (16 * (ceil_div (n, tile) + 32), 256);
}

static void
allocate_sorted (SsCall *c, guint64 n, guint64 vocabulary, guint64 width)
{
  guint64 segments = MIN (n, vocabulary), parts = segments + n / 10;
  gboolean is_small
    = vocabulary < 4 * (guint64) ss_call_target (c)->n_multiprocessors && parts >= 4 * segments;

  for (guint i = 0; i < 3; i++)                    /* sorted, original positions, range */
    ss_call_scratch (c, 8 * n);
  ss_call_scratch (c, sort_scratch (c, n, vocabulary));
  ss_call_drop_scratch (c);
  ss_call_drop_scratch (c);
  ss_call_result (c, 0);
  ss_call_scratch (c, 8 * n);                      /* segment offsets */
  ss_call_scratch (c, 8);
  ss_call_scratch (c, 8 * n);                      /* unique keys */
  ss_call_scratch (c, unique_scratch (c, n));
  ss_call_drop_scratch (c);
  ss_call_drop_scratch (c);
  ss_call_scratch (c, 8 * segments);
  ss_call_scratch (c, 8 * segments);
  ss_call_scratch (c, ss_scan_scratch_i64 (segments));
  ss_call_drop_scratch (c);
  ss_call_scratch (c, 8);
  ss_call_scratch (c, 8 * parts);
  if (is_small)
    ss_call_scratch (c, 8 * parts);
  ss_call_scratch (c, ss_size_mul (4 * (is_small ? segments : parts), width));
}

/* inputs: gradient, ids */
static void
embedding_grad_allocate (SsCall *c)
{
  const SsTensor *grad = ss_call_in (c, 0);
  guint64 n = ss_tensor_count (ss_call_in (c, 1));

  if (!ss_tensor_is_contiguous (grad))
    ss_call_scratch (c, ss_tensor_bytes (grad));
  if (n <= MAX_UNSORTED)
    ss_call_result (c, 0);
  else
    allocate_sorted (c, n, (guint64) c->out[0].size[0], (guint64) c->out[0].size[1]);
}

/* attributes: V, H */
static void
infer_embedding_grad (SsCall *c)
{
  c->n_out = 1;
  c->out[0] = ss_tensor ((SsDtype) ss_call_in (c, 0)->dtype, 2, c->attribute);
}

static const SsOpKind embedding_grad = {
  .name = "aten::embedding_dense_backward",
  .infer = infer_embedding_grad, .memory = SS_IS_MEMORY (REDUCE),
  .allocate = embedding_grad_allocate,
};

static void
embedding_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  const SsTensor *weight = ss_node_wanted (n, 0);

  out[0] = SS_RUN_KIND (t, embedding_grad, SS_ATTRIBUTES (weight->size[0], weight->size[1]),
                        grad[0], ss_node_saved (n, 0));
}

/* reads only the rows it gathers */
static void
embedding_cost (const SsCall *c, SsCost *cost)
{
  cost->bytes = ss_size_add (ss_tensor_bytes (ss_call_in (c, 1)),
                             ss_size_mul (2, ss_tensor_bytes (&c->out[0])));
}

static const SsOpKind embedding = {
  .name = "aten::embedding",
  .node_name = "EmbeddingBackward0",
  .infer = infer_embedding, .memory = SS_IS_MEMORY (GATHER),
  .saves = { { 1, SS_ALWAYS } },
  .n_saves = 1,
  .backward = embedding_backward,
  .cost = embedding_cost,
};

SsValue *
ss_embedding (SsTape *t, SsValue *weight, SsValue *ids)
{
  return SS_RUN_KIND (t, embedding, NULL, weight, ids);
}
