/* SPDX-License-Identifier: MIT
 *
 * SsSweepRow and SsSweepTable: what is kept of each run of a sweep: its settings and its numbers.
 * They know no run that is still going on.  The table owns its rows.
 */
#pragma once

#include "output/output.h"

G_BEGIN_DECLS

/* A value that stands for none: the run has no such setting. */
#define SS_SWEEP_LEFT_OUT "-"

typedef enum
{
  SS_ROW_FITS,
  SS_ROW_OUT_OF_MEMORY,
  SS_ROW_REFUSED                 /* no such run: `problem` says why */
} SsRowVerdict;

/* What the peak is made of, apart from what is always there. */
typedef enum
{
  SS_PEAK_ACTIVATIONS,
  SS_PEAK_LOGITS,
  SS_PEAK_GRADIENTS,
  SS_PEAK_OPTIMIZER,             /* it is in the update, or no run comes nearer to one */
  SS_PEAK_TEMPORARIES,
  SS_PEAK_LOADING,
  SS_N_PEAKS
} SsPeakPart;

/* Of a run that is out of memory, memory and time are those of the same run without a limit: what
 * it needs. */
typedef struct
{
  char **values;                 /* one for each path of the table */
  SsRowVerdict verdict;
  char *problem;                 /* or NULL */
  char *found;                   /* what a search for the largest that fits came to, or NULL */
  guint64 capacity_bytes, context_bytes, tokens_per_step;   /* capacity G_MAXINT64: unlimited */
  gint64 headroom_bytes;         /* as ss_recording_headroom_bytes */
  guint64 peak_allocated_bytes, peak_reserved_bytes;
  guint64 floor_bytes;           /* no checkpoints can bring the peak below it */
  guint64 by_category[SS_N_CATEGORIES];
  guint peak_step;
  char peak_phase[16];
  gint64 step_ns;                /* of the last step */
  double tokens_per_s, mfu, hfu; /* of the last step; negative: not known */
  guint oom_step;                /* where the run within the capacity ended */
  gint oom_layer;                /* -1 outside layers */
  char oom_phase[16];
  char *json;                    /* the run as `--json` prints it, or NULL */
} SsSweepRow;

/* From a run, and the same without a limit; they are one if it fits. (transfer full) */
SsSweepRow *ss_sweep_row_new (const char *const *values, const SsRecording *recording,
                              const SsRecording *unlimited);
/* (transfer full) */
SsSweepRow *ss_sweep_row_new_refused (const char *const *values, const char *problem);
void ss_sweep_row_free (SsSweepRow *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsSweepRow, ss_sweep_row_free)

SsPeakPart ss_sweep_row_peak_part (const SsSweepRow *self);
/* "activations" (transfer none) */
const char *ss_peak_part_name (SsPeakPart part);

/* Context and reserved at most: what the device would show. */
guint64 ss_sweep_row_need_bytes (const SsSweepRow *self);
/* Memory enough for all that is asked for at one moment, but in pieces. */
gboolean ss_sweep_row_is_in_pieces (const SsSweepRow *self);

/* All of it as a serialized value, and back; NULL for what is no row of so many values.
 * (transfer full) */
GBytes *ss_sweep_row_to_bytes (const SsSweepRow *self);
SsSweepRow *ss_sweep_row_from_bytes (GBytes *bytes, guint n_values);

typedef struct
{
  char *scenario_name, *summary; /* summary: "Llama 3 8B on NVIDIA H100 SXM 80GB" */
  GPtrArray *paths;              /* char * */
  GArray *is_varied;             /* gboolean by path: it takes several values, or a searched one */
  GArray *is_numeric;            /* gboolean by path */
  GPtrArray *rows;               /* SsSweepRow, in the order of points */
} SsSweepTable;

SsSweepTable *ss_sweep_table_new (void);
void ss_sweep_table_free (SsSweepTable *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsSweepTable, ss_sweep_table_free)
void ss_sweep_table_add_path (SsSweepTable *self, const char *path, gboolean is_varied,
                              gboolean is_numeric);

const SsSweepRow *ss_sweep_table_row (const SsSweepTable *self, guint i);
/* "every": the path's last word, or all of it where two would be alike. (transfer none) */
const char *ss_sweep_table_label (const SsSweepTable *self, guint path);
/* Steps of different sizes are compared by time for each token. */
gboolean ss_sweep_table_is_by_token (const SsSweepTable *self);
/* What is compared: ns of a step, or of a token. */
double ss_sweep_table_cost (const SsSweepTable *self, const SsSweepRow *row);
/* The least time, then the least peak, then the first; G_MAXUINT: nothing fits. */
guint ss_sweep_table_fastest (const SsSweepTable *self);

G_END_DECLS
