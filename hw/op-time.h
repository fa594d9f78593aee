/* SPDX-License-Identifier: MIT
 *
 * How long an op takes on a device: a pure function, one model per class of kernel.
 */
#pragma once

#include "hw/device.h"
#include "ops/core/op.h"

G_BEGIN_DECLS

/* Seconds the device is busy with the op: the kernel floor for each launch, and then the longer of
 *   flops / (peak of the type * efficiency of the class)  and  bytes / (bandwidth * efficiency)
 * (roofline: Williams, Waterman, Patterson, CACM 52(4), 2009).  Causal attention counts the tiles
 * on the diagonal whole; memory and multi-tensor classes have bytes only.  A copy between host and
 * device: latency + bytes / bandwidth of the host link. */
double ss_op_time_s (const SsOp *op, const SsDevice *device);
/* Seconds the host needs to issue it: by who issues it, and for each further launch. A recomputed
 * forward costs what the forward cost. */
double ss_op_issue_s (const SsOp *op, const SsDevice *device);
/* Shares of the peak, 0 to 1, that the op reaches in `time_s`: matrix units, memory bandwidth. */
double ss_op_matmul_utilization (const SsOp *op, const SsDevice *device, double time_s);
double ss_op_bandwidth_utilization (const SsOp *op, const SsDevice *device, double time_s);

G_END_DECLS
