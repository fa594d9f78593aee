/* SPDX-License-Identifier: MIT
 *
 * The picture of a sweep: step time against peak memory, a labelled point for each run, with the
 * capacity and the fastest that fits; under it peak memory against the value, where numbers are
 * swept.
 */
#pragma once

#include "output/figures/canvas.h"
#include "output/tables/sweep-row.h"

G_BEGIN_DECLS

/* A point of a curve drawn under the runs, as the optimum's. */
typedef struct
{
  double used_bytes;             /* context included */
  double cost;                   /* as ss_sweep_table_cost */
} SsSweepCurvePoint;

/* `curve` (SsSweepCurvePoint, in the order of bytes) with its name, or both NULL. (transfer
 * full) */
SsCanvas *ss_sweep_figure (const SsSweepTable *table, SsMemoryUnits units, const GArray *curve,
                           const char *curve_name);

G_END_DECLS
