/* SPDX-License-Identifier: MIT
 *
 * SsMemoryTimeline: a recording's memory cut into columns of equal time, for curves of any number
 * of events: in each column the moment at which most was allocated, so that no peak is lost and
 * every column is a state that was.  It knows no pixels.  The creator owns it.
 */
#pragma once

#include "output/figures/band.h"
#include "sim/recording.h"

G_BEGIN_DECLS

typedef struct
{
  guint64 bands[SS_N_BANDS];     /* the context among them */
  guint64 total_bytes;           /* of the bands */
  guint64 reserved_bytes;        /* the largest of the column, with the context */
} SsTimelineState;

/* The state after one more event; the context is in the first. */
void ss_timeline_state_apply (SsTimelineState *state, const SsRecording *recording,
                              const SsMemoryEvent *event);

typedef struct
{
  gint64 end_ns;                 /* the columns divide 0 to this */
  gboolean is_by_event; /* it never got beyond load: the columns divide the events, not time */
  guint n_columns;
  SsTimelineState *columns;
  guint64 most_bytes[SS_N_BANDS]; /* of each band at any moment, also one that no column shows */
} SsMemoryTimeline;

SsMemoryTimeline *ss_memory_timeline_new (const SsRecording *recording, guint n_columns);
void ss_memory_timeline_free (SsMemoryTimeline *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsMemoryTimeline, ss_memory_timeline_free)

/* Makes groups of `n` neighbours equal, to the state of the largest of them: a coarser curve with
 * every peak. */
void ss_memory_timeline_coarsen (SsMemoryTimeline *self, guint n);

/* When the last thing of a recording happened, device time. */
gint64 ss_recording_end_ns (const SsRecording *recording);

/* Mean utilization of matrix units and of memory bandwidth in each of n_bins parts of 0 to end_ns,
 * 0 to 1. */
void ss_utilization (const SsRecording *recording,
                     gint64             end_ns,
                     guint              n_bins,
                     double            *matmul,
                     double            *bandwidth);

G_END_DECLS
