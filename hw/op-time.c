/* SPDX-License-Identifier: MIT */
#include "hw/op-time.h"

/* Rows of a query tile of the fused attention kernels: tiles on the diagonal are computed whole
 * (Dao-AILab/flash-attention, tiles of 128 rows). */
#define ATTENTION_TILE 128

/* A checkpointed forward runs on autograd's thread too, but it is the forward kernel. */
static gboolean
is_backward_kernel (const SsOp *op)
{
  return op->is_backward && !op->is_recompute;
}

/* Roofline: whichever of arithmetic and memory traffic takes longer. */
static double
roofline_s (double flops, double flop_per_s, double bytes, double bytes_per_s)
{
  return MAX (flops / flop_per_s, bytes / bytes_per_s);
}

static double
attention_s (const SsOp *op, const SsDevice *device, double peak_flop_per_s, double bytes_per_s)
{
  double efficiency = ss_device_attention_efficiency (device, is_backward_kernel (op));
  double diagonal
      = op->is_causal && op->shape[2] > 0 ? 1 + (double) ATTENTION_TILE / (double) op->shape[2] : 1;

  /* no more than all of it */
  return roofline_s ((double) op->flops * MIN (diagonal, 2), peak_flop_per_s * efficiency,
                     (double) op->bytes, bytes_per_s);
}

/* Time beyond the floors. */
static double
work_s (const SsOp *op, const SsDevice *device)
{
  double peak = ss_device_matmul_peak_flop_per_s (device, (SsDtype) op->dtype);
  double bandwidth = ss_device_bandwidth_bytes_per_s (device);

  switch ((SsOpClass) op->op_class)
    {
    case SS_OP_MATMUL:
      return roofline_s ((double) op->flops, peak * ss_device_matmul_efficiency (device),
                         (double) op->bytes, bandwidth * ss_device_memory_efficiency (device));
    case SS_OP_ATTENTION:
      return attention_s (op, device, peak, bandwidth * ss_device_memory_efficiency (device));
    case SS_OP_MEMORY:
      return (double) op->bytes / (bandwidth * ss_device_memory_efficiency (device));
    case SS_OP_HOST_COPY:
      return (double) op->bytes / ss_device_host_link_bytes_per_s (device, op->shape[0] != 0);
    case SS_OP_MULTI_TENSOR:
      return (double) op->bytes / (bandwidth * ss_device_multi_tensor_efficiency (device));
    }
  g_return_val_if_reached (0);
}

double
ss_op_time_s (const SsOp *op, const SsDevice *device)
{
  double floor_s = op->op_class == SS_OP_HOST_COPY
                   ? ss_device_host_link_latency_s (device)
                   : MAX (op->n_launches, 1) * ss_device_kernel_floor_s (device);

  return floor_s + work_s (op, device);
}

double
ss_op_issue_s (const SsOp *op, const SsDevice *device)
{
  double first = op->is_optimizer          ? ss_device_optimizer_issue_s (device)
                 : is_backward_kernel (op) ? ss_device_backward_issue_s (device)
                                           : ss_device_forward_issue_s (device);

  return first + (MAX (op->n_launches, 1) - 1) * ss_device_further_launch_s (device);
}

static double
share (double amount, double rate, double time_s)
{
  return time_s > 0 ? CLAMP (amount / (rate * time_s), 0, 1) : 0;
}

double
ss_op_matmul_utilization (const SsOp *op, const SsDevice *device, double time_s)
{
  gboolean is_product = op->op_class == SS_OP_MATMUL || op->op_class == SS_OP_ATTENTION;

  return is_product ? share ((double) op->flops,
                             ss_device_matmul_peak_flop_per_s (device, (SsDtype) op->dtype), time_s)
                    : 0;
}

double
ss_op_bandwidth_utilization (const SsOp *op, const SsDevice *device, double time_s)
{
  return share ((double) op->bytes, ss_device_bandwidth_bytes_per_s (device), time_s);
}
