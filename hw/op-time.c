/* SPDX-License-Identifier: MIT */
#include "hw/op-time.h"

/* A checkpointed forward runs on autograd's thread too, but it is the forward kernel. */
static gboolean
is_backward_kernel (const SsOp *op)
{
  return op->is_backward && !op->is_recompute;
}

/* The optimizer's calls are Python's, whatever runs the model. */
static SsHostMode
mode_of (const SsOp *op, const SsDevice *device)
{
  return op->is_optimizer ? SS_HOST_EAGER : ss_device_host_mode (device);
}

static double
product_s (const SsOp *op, const SsDevice *device)
{
  SsChip chip = ss_device_chip (device, (SsDtype) op->dtype);
  SsGemmModel model = *ss_device_gemm (device);
  /* vector units load element by element */
  gboolean is_vector = op->dtype == SS_F32 ? !ss_device_has_tf32 (device)
                                           : ss_dtype_bytes ((SsDtype) op->dtype) > 2;
  SsProduct product = {
    .batch = op->shape[0], .m = op->shape[1], .n = op->shape[2], .k = op->shape[3],
    .bytes = (double) op->bytes, .alignment = is_vector ? 8 : op->alignment,
    .pass = (SsProductPass) op->variant,
  };

  /* a held clock is what a power limit would have brought about */
  if (!ss_device_is_clock_held (device))
    model.efficiency *= model.sustained;
  return ss_gemm_time_s (&model, &chip, &product);
}

static double
strided_s (const SsDevice *device, double bytes)
{
  SsChip chip = ss_device_chip (device, SS_BF16);

  return ss_memory_time_s (&chip, ss_device_memory (device)->share[SS_MEMORY_STRIDED], bytes);
}

static double
attention_s (const SsOp *op, const SsDevice *device)
{
  const SsAttentionModel *model = ss_device_attention (device, (SsAttentionKernel) op->variant);
  SsChip chip = ss_device_chip (device, (SsDtype) op->dtype);
  SsAttentionCall call = {
    .flops = (double) op->flops, .bytes = (double) op->bytes, .n_keys = (double) op->shape[2],
    .head_size = (double) op->shape[3], .is_causal = op->is_causal,
    .is_backward = is_backward_kernel (op),
  };

  /* what a device has no figures of runs as FlashAttention does; a scenario asks for none such */
  if (model == NULL)
    model = ss_device_attention (device, SS_KERNEL_FLASH);
  return ss_attention_time_s (model, &chip, &call)
         + (op->side_bytes > 0 ? strided_s (device, (double) op->side_bytes) : 0);
}

static double
memory_s (const SsOp *op, const SsDevice *device, double share)
{
  SsChip chip = ss_device_chip (device, SS_BF16);

  return ss_memory_time_s (&chip, share, (double) op->bytes);
}

double
ss_op_time_s (const SsOp *op, const SsDevice *device)
{
  gboolean in_graph = mode_of (op, device) == SS_HOST_CUDA_GRAPH;
  double floors_s = MAX (op->n_launches, 1) * ss_device_kernel_floor_s (device, in_graph);

  switch ((SsOpClass) op->op_class)
    {
    case SS_OP_MATMUL:
      return product_s (op, device);
    case SS_OP_ATTENTION:
      return floors_s + attention_s (op, device);
    case SS_OP_MEMORY:
      return floors_s + memory_s (op, device, ss_device_memory (device)->share[op->variant]);
    case SS_OP_HOST_COPY:
      return ss_device_host_link_latency_s (device)
             + (double) op->bytes / ss_device_host_link_bytes_per_s (device, op->shape[0] != 0);
    case SS_OP_MULTI_TENSOR:
      return floors_s + memory_s (op, device, ss_device_memory (device)->multi_tensor);
    }
  g_return_val_if_reached (0);
}

double
ss_op_issue_s (const SsOp *op, const SsDevice *device)
{
  const SsHostCosts *host = ss_device_host (device);
  guint n_launches = MAX (op->n_launches, 1);
  double first_s = op->is_optimizer          ? host->optimizer_s
                   : is_backward_kernel (op) ? host->backward_s
                   : op->is_recorded         ? host->forward_s
                                             : host->inference_s;

  switch (mode_of (op, device))
    {
    case SS_HOST_EAGER:
      return first_s + (n_launches - 1) * host->further_launch_s;
    case SS_HOST_COMPILED:
      return n_launches * host->compiled_s;
    case SS_HOST_CUDA_GRAPH:
      return n_launches * host->graph_kernel_s;
    }
  g_return_val_if_reached (0);
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
