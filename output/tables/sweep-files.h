/* SPDX-License-Identifier: MIT
 *
 * A sweep as files: CSV with a row for each point, and JSON with the object of each run.
 */
#pragma once

#include "output/tables/sweep-row.h"

G_BEGIN_DECLS

/* Every such file begins with the paths, then with this column. */
#define SS_SWEEP_CSV_MARK "verdict,capacity_bytes,context_bytes,need_bytes,"

/* (transfer full) */
char *ss_sweep_to_csv (const SsSweepTable *table);
/* An array; every row must have its json. (transfer full) */
char *ss_sweep_to_json (const SsSweepTable *table);
/* The object of one row: the run's own with "set", "need" and, if it is not NULL, `search`,
 * which is JSON, as members; `run_json` is NULL for a refused row. (transfer full) */
char *ss_sweep_row_to_json (const SsSweepTable *table, const SsSweepRow *row, const char *run_json,
                            const char *search);

G_END_DECLS
