/* SPDX-License-Identifier: MIT
 *
 * SsDevice: an accelerator as its XML file describes it: memory, peaks, efficiencies, launch costs,
 * each with its source there.  It knows no op and no clock.  Reference counted, immutable after
 * load.
 */
#pragma once

#include <glib.h>

#include "memory/tensor.h"
#include "ops/core/target.h"

G_BEGIN_DECLS

typedef struct _SsDevice SsDevice;

/* A file in hw/devices (by name: ss_data_list ("hw/devices")) or a path ending in .xml.
 * SS_HW_ERROR_INPUT, SS_HW_ERROR_UNKNOWN. (transfer full) */
SsDevice *ss_device_load (const char *name, GError **error);
SsDevice *ss_device_load_file (const char *path, GError **error);
SsDevice *ss_device_ref (SsDevice *self);
void ss_device_unref (SsDevice *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsDevice, ss_device_unref)

const char *ss_device_id (const SsDevice *self);        /* "h100-sxm-80gb" */
const char *ss_device_name (const SsDevice *self);      /* "NVIDIA H100 SXM 80GB" */
guint64 ss_device_capacity_bytes (const SsDevice *self);   /* what the framework calls total */
guint64 ss_device_context_bytes (const SsDevice *self);    /* gone before the first allocation */
const SsTarget *ss_device_target (const SsDevice *self);

/* Dense peak of matrix products in that type, fp32 without TF32 as PyTorch has it by default.  What
 * is not floating counts as fp32; fp64, which no recipe multiplies in, as half of it (NVIDIA A100
 * data sheet: 9.7 of 19.5 TFLOP/s). */
double ss_device_matmul_peak_flop_per_s (const SsDevice *self, SsDtype dtype);
double ss_device_bandwidth_bytes_per_s (const SsDevice *self);
guint64 ss_device_l2_bytes (const SsDevice *self);
/* Shares of the peak: by large matrix products through a whole step; by fused attention kernels. */
double ss_device_matmul_efficiency (const SsDevice *self);
double ss_device_attention_efficiency (const SsDevice *self, gboolean is_backward);
/* Shares of the bandwidth: by kernels bound by bytes; by multi-tensor passes over long lists. */
double ss_device_memory_efficiency (const SsDevice *self);
double ss_device_multi_tensor_efficiency (const SsDevice *self);
double ss_device_kernel_floor_s (const SsDevice *self);    /* the shortest kernel */
/* Host time to issue one op. */
double ss_device_forward_issue_s (const SsDevice *self);
double ss_device_backward_issue_s (const SsDevice *self);
double ss_device_optimizer_issue_s (const SsDevice *self);
double ss_device_further_launch_s (const SsDevice *self);  /* each kernel of an op but the first */
double ss_device_launch_latency_s (const SsDevice *self);  /* from issue to the earliest start */
double ss_device_segment_call_s (const SsDevice *self);    /* cudaMalloc or cudaFree of a segment */
/* Copies between host and device over its link, from pinned or pageable host memory; FALSE: its
 * file tells nothing of the link, and the rates are 0. */
gboolean ss_device_has_host_link (const SsDevice *self);
double ss_device_host_link_bytes_per_s (const SsDevice *self, gboolean is_pinned);
double ss_device_host_link_latency_s (const SsDevice *self);
guint ss_device_queue_depth (const SsDevice *self);        /* launches ahead of the device */

G_END_DECLS
