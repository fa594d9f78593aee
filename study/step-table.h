/* SPDX-License-Identifier: MIT
 *
 * SsStepTable: training steps that somebody measured, each said as settings of a scenario, and the
 * same steps simulated.  The one who read it owns it.
 */
#pragma once

#include "sim/simulate.h"

G_BEGIN_DECLS

/* What a published peak is a peak of. */
typedef enum
{
  SS_PEAK_NONE,
  SS_PEAK_ALLOCATED,
  SS_PEAK_RESERVED,
  SS_PEAK_SMI,                   /* reserved and context */
  SS_PEAK_UNSAID,                /* shown beside the reserved one, not counted */
  SS_PEAK_OOM                    /* published as out of memory */
} SsPeakKind;

typedef struct
{
  char *id, *device, *near;      /* device: as the settings name it; near: "" where it is exact */
  char confidence;               /* 'A', 'B'; 'C' is not counted */
  char **overrides;              /* NULL-terminated "element/attribute=value", hrefs resolved */
  double measured_s;             /* 0: none */
  guint64 measured_bytes;        /* 0: none */
  SsPeakKind peak_kind;
  double tokens;                 /* of the step; 0: not said */
  char *not_expressible;         /* the table's reason, or stepsim's, or NULL */
  gboolean is_refused;           /* stepsim's */
  /* simulated, where it is expressible */
  double simulated_s;            /* of the last step */
  guint64 simulated_bytes;       /* of the same kind of peak */
  gboolean is_oom;               /* stepsim runs out of memory; its time is then without a limit */
} SsStepRow;

typedef struct
{
  GPtrArray *rows;               /* SsStepRow, owned */
} SsStepTable;

/* steps.csv: id, settings, step_time_s, tokens_per_step, peak_bytes, peak_kind, confidence, near,
 * not_expressible. SS_CSV_ERROR_INPUT. (transfer full) */
SsStepTable *ss_step_table_read (const char *path, GError **error);
void ss_step_table_free (SsStepTable *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsStepTable, ss_step_table_free)

/* Runs every row that is expressible, over that many threads. */
void ss_step_table_run (SsStepTable *self, guint n_threads);
/* The row's scenario. SS_SCENARIO_ERROR_*. (transfer full) */
SsScenario *ss_step_row_scenario (const SsStepRow *row, GError **error);

/* Seconds of a run's last step; 0: it did not end. */
double ss_step_last_s (const SsRecording *recording);

G_END_DECLS
