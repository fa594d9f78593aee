/* SPDX-License-Identifier: MIT
 *
 * SsCalibration: one element of a device's file fitted to measured kernels, or a host's costs to
 * measured steps.  It writes no file: study/device-text does.  The caller owns the list.
 */
#pragma once

#include "study/fit.h"
#include "study/kernel-table.h"
#include "study/step-table.h"

G_BEGIN_DECLS

typedef struct
{
  SsTimeClass time_class;
  SsAttentionKernel kernel;      /* of attention */
  char *title;                   /* "attention flash" */
  SsFitParameter parameters[SS_FIT_MAX_PARAMETERS];
  double before[SS_FIT_MAX_PARAMETERS];
  guint n_parameters, n_rows;
  char *sources;                 /* "740 aiconfigurator, 224 vidur" */
  SsFitResult result;
  union
  {
    SsGemmModel gemm;
    SsAttentionModel attention;
    SsMemoryModel memory;
    SsHostCosts host;
  } model;                       /* the fitted one, with what was not fitted as it was */
} SsCalibration;

/* Of SS_TIME_GEMM, _ATTENTION or _MEMORY, from the rows of the device, of one source alone unless
 * it is NULL: SsCalibration, one for each element that has rows enough. `prior`: the device whose
 * parameters are where the fit begins and what holds those that no row determines.
 * (transfer full) */
GPtrArray *ss_calibrate_kernels (const SsDevice *device, const SsDevice *prior,
                                 const SsKernelTable *table, SsTimeClass time_class,
                                 const char *source);
/* Of `forward` and `backward`, taken as one, of the host of that file, from those steps of devices
 * with that host whose time depends on it. SS_CSV_ERROR_INPUT: there is no such step.
 * (transfer full) */
GPtrArray *ss_calibrate_host (const char *path, const SsStepTable *table, GError **error);

void ss_calibration_free (gpointer calibration);

/* The row is of that device: its name, or the beginning of it up to a '-'. */
gboolean ss_calibrate_is_of (const char *row_device, const char *device_id);

G_END_DECLS
