/* SPDX-License-Identifier: MIT
 *
 * SsSweep: one scenario at every combination of some settings' values, run over a pool of threads.
 * It knows no output: each finished point is handed to a reader and forgotten.  The creator owns
 * it.
 */
#pragma once

#include "sim/recording.h"
#include "study/sweep-axis.h"

G_BEGIN_DECLS

typedef struct _SsSweep SsSweep;

/* The value of a setting that a point does without: its policy of checkpointing has no use for it,
 * or its optimizer is coded in none of those ways.
 * Of the points that would differ in it alone there is one. */
#define SS_SWEEP_NO_VALUE "-"

/* What the search for the largest value that fits came to. */
typedef struct
{
  gboolean has_fit;              /* FALSE: nothing fits, and `value` is the smallest that was run */
  gint64 value;                  /* the largest that fits */
  gboolean is_limit;             /* nothing larger was to be tried */
  gboolean is_long;              /* and that for the length of the run, not the attribute's limit */
  gboolean next_is_refused;      /* value + 1, unless is_limit: refused, else out of memory */
  char *next_problem;            /* why it is refused, or NULL */
  guint n_runs;                  /* that it took, verification included */
  guint n_above;                 /* larger values tried, up to `above`, none of which fits */
  gint64 above;
  guint n_below;                 /* smaller values tried, down to `below` */
  gint64 below;
  guint n_holes;                 /* of those, that do not fit */
  gint64 hole;                   /* the largest such */
} SsSweepSearch;

/* One combination, while its reader is called. */
typedef struct
{
  guint index;                   /* the last axis changes fastest */
  const char *const *values;     /* one for each axis, as the scenario has them */
  const char *problem;           /* it cannot be run: why; then the rest is NULL */
  const SsRecording *recording;  /* the run */
  const SsRecording *unlimited;  /* the same with as much memory as it asks for; `recording` itself
                                  * if it fits */
  const SsSweepSearch *search;   /* where an axis is max, else NULL */
} SsSweepPoint;

/* Called in the threads of the pool, several at a time, in any order. */
typedef void (*SsSweepReader) (const SsSweepPoint *point, gpointer user_data);

/* Takes the axes, SsSweepAxis, which own themselves by then.  At most one may be max, at most two
 * have several values, and none a path that another has. SS_SWEEP_ERROR_POINTS. (transfer
 * full) */
SsSweep *ss_sweep_new (const SsScenario *base, GPtrArray *axes, GError **error);
void ss_sweep_free (SsSweep *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsSweep, ss_sweep_free)

guint ss_sweep_n_axes (const SsSweep *self);
const SsSweepAxis *ss_sweep_axis (const SsSweep *self, guint i);
guint ss_sweep_n_points (const SsSweep *self);
/* The value of an axis at a point; NULL where it is to be searched for. (transfer none) */
const char *ss_sweep_value (const SsSweep *self, guint index, guint axis);

typedef struct
{
  guint n_threads;               /* at least 1 */
  gboolean is_full;              /* whole recordings, else outcomes */
  const gboolean *is_done;       /* by index: points to leave out; NULL for none */
  SsSweepReader reader;
  /* optional: a search has tried a value; called as the reader is */
  void (*on_trial) (gpointer user_data);
  gpointer user_data;
} SsSweepRun;

/* Returns when every point has been read. What a point is does not depend on the threads. */
void ss_sweep_run (SsSweep *self, const SsSweepRun *run);

G_END_DECLS
