/* SPDX-License-Identifier: MIT
 *
 * How long an op takes on a device: a pure function, one model per class of kernel.
 */
#pragma once

#include "hw/device.h"
#include "ops/op.h"

G_BEGIN_DECLS

/* Seconds the device is busy with the op; at least the kernel floor for each launch. */
double ss_op_time_s (const SsOp *op, const SsDevice *device);
/* Seconds the host needs to issue it. */
double ss_op_issue_s (const SsOp *op, const SsDevice *device);
/* Shares of the peak, 0 to 1, that the op reaches in `time_s`: matrix units, memory bandwidth. */
double ss_op_matmul_utilization (const SsOp *op, const SsDevice *device, double time_s);
double ss_op_bandwidth_utilization (const SsOp *op, const SsDevice *device, double time_s);

G_END_DECLS
