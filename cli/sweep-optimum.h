/* SPDX-License-Identifier: MIT
 *
 * The curve under the points of a sweep over checkpointing: what the optimal checkpoints take, at
 * several budgets, each of them simulated.  It owns nothing.
 */
#pragma once

#include "cli/progress.h"
#include "output/figures/sweep-figure.h"
#include "study/sweep.h"

G_BEGIN_DECLS

/* SsSweepCurvePoint in the order of bytes; NULL where something other than checkpointing is swept,
 * or there is none.  `progress` has begun, and is told of each budget. (transfer full) */
GArray *ss_sweep_optimum (const SsScenario *base, const SsSweepTable *table, guint n_threads,
                          SsProgress *progress);

G_END_DECLS
