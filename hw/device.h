/* SPDX-License-Identifier: MIT
 *
 * SsDevice: an accelerator as its XML file describes it: memory, peaks, efficiencies, launch costs,
 * each with its source there.  It knows no op and no clock.  Reference counted, immutable after
 * load.
 */
#pragma once

#include <glib.h>

#include "hw/host-costs.h"
#include "hw/time-model.h"
#include "memory/tensor.h"
#include "ops/core/target.h"

G_BEGIN_DECLS

typedef struct _SsDevice SsDevice;

/* A file in hw/devices (by name: ss_data_list ("hw/devices"), or what one name alone begins with)
 * or a path ending in .xml.
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

/* Dense peak of matrix products in that type, fp32 without TF32 unless the run asks for it.  What
 * is not floating counts as fp32; fp64, which no recipe multiplies in, as half of it (NVIDIA A100
 * data sheet: 9.7 of 19.5 TFLOP/s). */
double ss_device_matmul_peak_flop_per_s (const SsDevice *self, SsDtype dtype);
double ss_device_bandwidth_bytes_per_s (const SsDevice *self);
guint64 ss_device_l2_bytes (const SsDevice *self);

/* ---- times ---- */

typedef enum { SS_TIME_GEMM, SS_TIME_ATTENTION, SS_TIME_MEMORY, SS_TIME_HOST, SS_N_TIME_CLASSES }
SsTimeClass;
typedef enum
{
  SS_ORIGIN_FAMILY,              /* of ss_device_family */
  SS_ORIGIN_OWN                  /* of the device's file */
} SsDeviceOrigin;

/* "gemm", "attention", "memory", "host". (transfer none) */
const char *ss_time_class_name (SsTimeClass time_class);
/* What the class's model is multiplied with: parameters of the file, or of the family. */
const SsGemmModel *ss_device_gemm (const SsDevice *self);
/* NULL: neither the file nor its family has figures of that kernel. */
const SsAttentionModel *ss_device_attention (const SsDevice *self, SsAttentionKernel kernel);
const SsMemoryModel *ss_device_memory (const SsDevice *self);
const SsHostCosts *ss_device_host (const SsDevice *self);
/* NULL: as attributes of the last release had it. (transfer none) */
const char *ss_device_host_name (const SsDevice *self);
SsHostMode ss_device_host_mode (const SsDevice *self);
/* At the clock of the run; fp32 products as TF32 where that is on. */
SsChip ss_device_chip (const SsDevice *self, SsDtype dtype);
gboolean ss_device_has_tf32 (const SsDevice *self);
gboolean ss_device_is_clock_held (const SsDevice *self);
/* The shortest kernel, behind another of its stream; `in_graph`: of a replayed graph. */
double ss_device_kernel_floor_s (const SsDevice *self, gboolean in_graph);

/* Copies between host and device over its link, from pinned or pageable host memory; FALSE: its
 * file tells nothing of the link, and the rates are 0. */
gboolean ss_device_has_host_link (const SsDevice *self);
double ss_device_host_link_bytes_per_s (const SsDevice *self, gboolean is_pinned);
double ss_device_host_link_latency_s (const SsDevice *self);

SsDeviceOrigin ss_device_origin (const SsDevice *self, SsTimeClass time_class);
gboolean ss_device_owns_attention (const SsDevice *self, SsAttentionKernel kernel);
/* `source` of the class's element, or NULL where it is the family's. (transfer none) */
const char *ss_device_source (const SsDevice *self, SsTimeClass time_class);
/* Whose parameters it has for want of its own, or NULL. (transfer none) */
const char *ss_device_family (const SsDevice *self);
/* Of attributes that the last release had: a line for the user, or NULL. (transfer none) */
const char *ss_device_warning (const SsDevice *self);

/* What a run asks of its device. */
typedef struct
{
  double clock_hz;               /* held through the run; 0: the device's own */
  gboolean has_tf32;             /* torch.set_float32_matmul_precision ("high") */
  SsHostMode host_mode;
  const char *host;              /* a name of hw/hosts or a path ending in .xml; NULL: its own */
} SsDeviceSettings;

/* The same device under those settings. SS_HW_ERROR_INPUT, SS_HW_ERROR_UNKNOWN. (transfer full) */
SsDevice *ss_device_with (const SsDevice *self, const SsDeviceSettings *settings, GError **error);

/* For calibration: the same device with that model. (transfer full) */
SsDevice *ss_device_with_gemm (const SsDevice *self, const SsGemmModel *model);
SsDevice *ss_device_with_attention (const SsDevice *self, SsAttentionKernel kernel,
                                    const SsAttentionModel *model);
SsDevice *ss_device_with_memory (const SsDevice *self, const SsMemoryModel *model);
SsDevice *ss_device_with_host (const SsDevice *self, const SsHostCosts *costs);

G_END_DECLS
