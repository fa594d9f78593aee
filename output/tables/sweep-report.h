/* SPDX-License-Identifier: MIT
 *
 * The answer of a sweep at the terminal: a row for each point, the fastest that fits, where each
 * peak is, and when checkpoints cannot lower it any more.  It knows no terminal.
 */
#pragma once

#include "output/tables/report.h"
#include "output/tables/sweep-row.h"

G_BEGIN_DECLS

/* Lines, each ended. (transfer full) */
char *ss_sweep_report (const SsSweepTable *table, const SsReportStyle *style);

/* "step 2, backward: gradients" (transfer full) */
char *ss_sweep_where (const SsSweepRow *row);
/* "step 2, in the forward pass of layer 19": where a run within the capacity ended. (transfer
 * full) */
char *ss_sweep_end (const SsSweepRow *row);
/* One sentence on what the lowest peak is bound by, or NULL: too few points, or no checkpointing is
 * swept. (transfer full) */
char *ss_sweep_floor (const SsSweepTable *table, SsMemoryUnits units);
/* "every=4", "policy=sqrt, layers=8": what tells the row from the others. (transfer full) */
char *ss_sweep_row_name (const SsSweepTable *table, const SsSweepRow *row);

G_END_DECLS
