/* SPDX-License-Identifier: MIT
 *
 * How long an op takes on a device: a pure function, by the model of its class of kernel.
 */
#pragma once

#include "hw/device.h"
#include "ops/core/op.h"

G_BEGIN_DECLS

/* Seconds the device is busy with the op, by the model of its class (hw/time-model.h) with the
 * device's parameters, and the kernel floor for each launch (a product's model has its own). A copy
 * between host and device: latency + bytes / bandwidth of the host link. */
double ss_op_time_s (const SsOp *op, const SsDevice *device);
/* Seconds the host needs to issue it: by who issues it (an op that autograd does not record costs
 * less), and for each further launch; by the kernel under a compiled graph or a replayed one. A
 * recomputed forward costs what the forward cost. */
double ss_op_issue_s (const SsOp *op, const SsDevice *device);
/* Shares of the peak, 0 to 1, that the op reaches in `time_s`: matrix units, memory bandwidth. */
double ss_op_matmul_utilization (const SsOp *op, const SsDevice *device, double time_s);
double ss_op_bandwidth_utilization (const SsOp *op, const SsDevice *device, double time_s);

G_END_DECLS
