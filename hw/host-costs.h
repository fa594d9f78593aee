/* SPDX-License-Identifier: MIT
 *
 * SsHostCosts: what the host thread pays to issue work, as a file of hw/hosts has it.  It knows no
 * device.  A plain value.
 */
#pragma once

#include <glib.h>

#include "hw/problems.h"

G_BEGIN_DECLS

/* How the kernels of forward and backward are issued; the optimizer's are always eager. */
typedef enum
{
  SS_HOST_EAGER,                 /* each op by Python and the dispatcher */
  SS_HOST_COMPILED,              /* each kernel by Inductor's wrapper */
  SS_HOST_CUDA_GRAPH             /* recorded once, replayed */
} SsHostMode;

typedef struct
{
  double forward_s;              /* an op that autograd records */
  double inference_s;            /* one that it does not */
  double backward_s;             /* an op of autograd's engine */
  double optimizer_s;            /* an op of the optimizer's Python */
  double further_launch_s;       /* each kernel of an op but the first */
  double compiled_s;             /* a kernel of a compiled graph */
  double graph_kernel_s;         /* a kernel of a replayed graph */
  double launch_latency_s;       /* from issue to the earliest start */
  double segment_call_s;         /* cudaMalloc or cudaFree of a segment */
  guint queue_depth;             /* launches ahead of the device */
} SsHostCosts;

/* A file of hw/hosts by name, or a path ending in .xml. SS_HW_ERROR_INPUT, SS_HW_ERROR_UNKNOWN. */
gboolean ss_host_costs_load (const char *name, SsHostCosts *costs, GError **error);

typedef struct
{
  const char *name;              /* attribute of the host's file */
  gsize offset;                  /* of a double in SsHostCosts, seconds */
} SsHostParameter;

const SsHostParameter *ss_host_parameters (guint *n);
/* "eager", "compiled", "cuda-graph", NULL-terminated, by SsHostMode. */
const char *const *ss_host_mode_names (void);

G_END_DECLS
