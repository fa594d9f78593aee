/* SPDX-License-Identifier: MIT
 *
 * Which fused attention runs, and what it costs.
 */
#include "ops/kinds/attention-private.h"

#define MAX_CUDNN_HEAD 128
#define MAX_CUDNN_HEAD_90 256

SsAttentionKernel
ss_sdpa_kernel (const SsTarget *target, gint64 head_dim, SsAttentionKernel otherwise)
{
  guint capability = target->compute_capability;
  gboolean is_hopper = capability == 90;

  if ((!is_hopper && capability / 10 != 10) || target->is_deterministic || head_dim % 8 != 0
      || head_dim > (is_hopper ? MAX_CUDNN_HEAD_90 : MAX_CUDNN_HEAD))
    return otherwise;
  return SS_KERNEL_CUDNN;
}

/* of one row of queries with one of keys, over all: B H S_q S_k D; sizes cannot be negative */
static guint64
products (const SsTensor *q, const SsTensor *k)
{
  return ss_size_mul (ss_size_mul ((guint64) (q->size[0] * q->size[1]), (guint64) q->size[2]),
                      ss_size_mul ((guint64) k->size[2], (guint64) q->size[3]));
}

void
ss_attention_cost (const SsTensor *q, const SsTensor *k, gboolean is_backward, SsCost *cost)
{
  guint64 half = products (q, k);

  cost->op_class = SS_OP_ATTENTION;
  cost->model_flops = ss_size_mul (is_backward ? 4 : 2, half);
  cost->flops = ss_size_mul (is_backward ? 5 : 2, half);
  cost->is_causal = TRUE;
  cost->shape[0] = q->size[0] * q->size[1];
  cost->shape[1] = q->size[2];
  cost->shape[2] = k->size[2];
  cost->shape[3] = q->size[3];
}

/* Under a mask that could be any, the kernel computes the whole square. */
static void
count_whole_square (SsCost *cost)
{
  cost->flops = ss_size_mul (2, cost->flops);
  cost->is_causal = FALSE;
}

/* Keys and values of fewer heads than the queries have are copied to as many, or their gradients
 * summed back: both in whole, once. */
static void
count_grouped_heads (const SsTensor *q, const SsTensor *k, SsCost *cost)
{
  SsTensor repeated = *k;

  repeated.size[1] = q->size[1];
  if (q->size[1] != k->size[1])
    cost->side_bytes
      = ss_size_mul (2, ss_size_add (ss_tensor_bytes (k), ss_tensor_bytes (&repeated)));
}

void
ss_attention_forward_cost (const SsCall *c, SsCost *cost)
{
  ss_attention_cost (ss_call_in (c, 0), ss_call_in (c, 1), FALSE, cost);
  cost->variant = (guint8) c->attribute[SS_ATTENTION_KERNEL];
  if (c->n_in > 3)
    count_whole_square (cost);
}

void
ss_attention_efficient_cost (const SsCall *c, SsCost *cost)
{
  ss_attention_forward_cost (c, cost);
  if (cost->variant == SS_KERNEL_EFFICIENT)
    count_grouped_heads (ss_call_in (c, 0), ss_call_in (c, 1), cost);
}

void
ss_attention_backward_cost (const SsCall *c, SsCost *cost)
{
  ss_attention_cost (ss_call_in (c, 1), ss_call_in (c, 2), TRUE, cost);
  cost->variant = (guint8) c->attribute[SS_ATTENTION_KERNEL];
  if (c->n_in > 8)
    count_whole_square (cost);
  count_grouped_heads (ss_call_in (c, 1), ss_call_in (c, 2), cost);
}
