/* SPDX-License-Identifier: MIT
 *
 * What a device is made of, for the files of this room that fill it.
 */
#pragma once

#include "hw/device.h"
#include "hw/host-costs.h"
#include "hw/problems.h"
#include "hw/time-model.h"
#include "hw/xml-node.h"

G_BEGIN_DECLS

struct _SsDevice
{
  gatomicrefcount references;
  char *id, *name;
  guint64 capacity_bytes, context_bytes, l2_bytes;
  double bandwidth_bytes_per_s;
  SsTarget target;
  double peak_bf16_flop_per_s, peak_fp16_flop_per_s, peak_fp32_flop_per_s, peak_tf32_flop_per_s;
  double clock_hz;               /* at which its shares of the peak were measured; 0: not said */
  SsGemmModel gemm;
  SsAttentionModel attention[SS_N_ATTENTION_KERNELS];
  guint own_attention;           /* bits by SsAttentionKernel: of the file */
  guint known_attention;         /* and of its family */
  SsMemoryModel memory;
  double kernel_floor_s, graph_floor_s;
  double pinned_bytes_per_s, pageable_bytes_per_s, copy_latency_s;
  SsHostCosts host;
  char *host_name;
  SsDeviceOrigin origin[SS_N_TIME_CLASSES];
  char *source[SS_N_TIME_CLASSES];   /* as the file says it; NULL where it is the family's */
  char *family_id;               /* whose parameters it has for want of its own, or NULL */
  char *warning;                 /* of attributes of the last release, or NULL */
  /* what a run asks for */
  double clock_ratio;            /* of the run's clock to clock_hz */
  gboolean is_clock_held, has_tf32;
  SsHostMode host_mode;
};

/* What a device file that names no host has. */
#define SS_DEFAULT_HOST "fast-x86"

/* Reads <gemm>, <attention>s, <kinds> of <memory>, and what stood for them in the last release, and
 * fills what is missing from the device's family. */
void ss_device_read_models (SsDevice *self, const SsXmlNode *root, SsProblems *problems);
/* The device that lends to those of that compute capability. (transfer none) */
const char *ss_device_family_of (guint compute_capability);

G_END_DECLS
