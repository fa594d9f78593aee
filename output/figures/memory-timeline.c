/* SPDX-License-Identifier: MIT */
#include "output/figures/memory-timeline.h"

gint64
ss_recording_end_ns (const SsRecording *recording)
{
  gint64 end_ns = 0;

  for (guint i = 0; i < recording->phases->len; i++)
    end_ns = MAX (end_ns, g_array_index (recording->phases, SsPhaseRecord, i).end_ns);
  for (guint i = 0; i < recording->ops->len; i++)
    end_ns = MAX (end_ns, g_array_index (recording->ops, SsOpEvent, i).end_ns);
  for (guint i = 0; i < recording->memory->len; i++)
    end_ns = MAX (end_ns, g_array_index (recording->memory, SsMemoryEvent, i).device_ns);
  return end_ns;
}

static gboolean
is_of_load (const SsRecording *recording, const SsMemoryEvent *event)
{
  return event->phase < recording->phases->len
         && g_array_index (recording->phases, SsPhaseRecord, event->phase).step == 0;
}

void
ss_timeline_state_apply (SsTimelineState *state, const SsRecording *recording,
                         const SsMemoryEvent *event)
{
  SsBand band = ss_band_of ((SsCategory) event->category);

  if (event->action == SS_EVENT_ALLOC)
    {
      state->bands[band] += event->block_bytes;
      state->total_bytes += event->block_bytes;
    }
  else if (event->action == SS_EVENT_FREE)
    {
      state->bands[band] -= event->block_bytes;
      state->total_bytes -= event->block_bytes;
    }
  state->reserved_bytes = recording->context_bytes + event->reserved_bytes;
}

/* Of two states of one column the larger stays, and of the reserved bytes the larger too. */
static void
keep_larger (SsTimelineState *column, const SsTimelineState *state)
{
  guint64 reserved_bytes = MAX (column->reserved_bytes, state->reserved_bytes);

  if (state->total_bytes > column->total_bytes)
    *column = *state;
  column->reserved_bytes = reserved_bytes;
}

/* Walks the columns while events come in order. */
typedef struct
{
  SsMemoryTimeline *timeline;
  SsTimelineState state;
  guint column;                  /* the one under way */
} Walk;

/* The state after an event, at the column under way. */
static void
walk_note (Walk *walk)
{
  SsMemoryTimeline *timeline = walk->timeline;

  keep_larger (&timeline->columns[walk->column], &walk->state);
  for (guint b = 0; b < SS_N_BANDS; b++)
    timeline->most_bytes[b] = MAX (timeline->most_bytes[b], walk->state.bands[b]);
}

/* On to position x, in columns.  The state stands in every column between, and in the last if any
 * of it has passed. */
static void
walk_to (Walk *walk, double x)
{
  SsMemoryTimeline *timeline = walk->timeline;
  guint column = MIN ((guint) x, timeline->n_columns - 1);

  while (walk->column < column)
    {
      walk->column++;
      if (walk->column < column || x - column > 1e-9)
        keep_larger (&timeline->columns[walk->column], &walk->state);
    }
}

static void
fill_by_time (const SsMemoryTimeline *timeline, const SsRecording *recording, Walk *walk)
{
  double columns_per_ns = (double) timeline->n_columns / (double) timeline->end_ns;
  guint i = 0;

  for (; i < recording->memory->len; i++)
    {
      const SsMemoryEvent *event = &g_array_index (recording->memory, SsMemoryEvent, i);

      if (!is_of_load (recording, event))
        break;
      ss_timeline_state_apply (&walk->state, recording, event);
    }
  walk_note (walk);
  for (; i < recording->memory->len; i++)
    {
      const SsMemoryEvent *event = &g_array_index (recording->memory, SsMemoryEvent, i);

      walk_to (walk, (double) MAX (event->device_ns, 0) * columns_per_ns);
      ss_timeline_state_apply (&walk->state, recording, event);
      walk_note (walk);
    }
}

static void
fill_by_event (const SsMemoryTimeline *timeline, const SsRecording *recording, Walk *walk)
{
  double columns_per_event = (double) timeline->n_columns / MAX (recording->memory->len, 1);

  for (guint i = 0; i < recording->memory->len; i++)
    {
      walk_to (walk, i * columns_per_event);
      ss_timeline_state_apply (&walk->state, recording,
                               &g_array_index (recording->memory, SsMemoryEvent, i));
      walk_note (walk);
    }
}

SsMemoryTimeline *
ss_memory_timeline_new (const SsRecording *recording, guint n_columns)
{
  SsMemoryTimeline *self = g_new0 (SsMemoryTimeline, 1);
  Walk walk = { .timeline = self };

  g_assert (n_columns > 0);
  self->end_ns = ss_recording_end_ns (recording);
  self->is_by_event = self->end_ns <= 0;
  self->n_columns = n_columns;
  self->columns = g_new0 (SsTimelineState, n_columns);
  walk.state.bands[SS_BAND_CONTEXT] = walk.state.total_bytes = recording->context_bytes;
  walk.state.reserved_bytes = recording->context_bytes;
  if (self->is_by_event)
    fill_by_event (self, recording, &walk);
  else
    fill_by_time (self, recording, &walk);
  walk_to (&walk, n_columns);
  return self;
}

void
ss_memory_timeline_free (SsMemoryTimeline *self)
{
  if (self == NULL)
    return;
  g_free (self->columns);
  g_free (self);
}

void
ss_memory_timeline_coarsen (SsMemoryTimeline *self, guint n)
{
  for (guint first = 0; first < self->n_columns; first += n)
    {
      guint end = MIN (first + n, self->n_columns);
      SsTimelineState state = self->columns[first];

      for (guint i = first + 1; i < end; i++)
        keep_larger (&state, &self->columns[i]);
      for (guint i = first; i < end; i++)
        self->columns[i] = state;
    }
}

/* Spreads one op over the bins it overlaps. */
static void
spread (const SsOpEvent *op, double bins_per_ns, guint n_bins, double *matmul, double *bandwidth)
{
  double from = (double) op->start_ns * bins_per_ns, to = (double) op->end_ns * bins_per_ns;

  for (guint bin = (guint) MAX (from, 0); bin < n_bins && bin < to; bin++)
    {
      double share = MIN (to, bin + 1.0) - MAX (from, bin);

      matmul[bin] += share * (double) op->matmul_utilization;
      bandwidth[bin] += share * (double) op->bandwidth_utilization;
    }
}

void
ss_utilization (const SsRecording *recording, gint64 end_ns, guint n_bins, double *matmul,
                double *bandwidth)
{
  for (guint i = 0; i < n_bins; i++)
    matmul[i] = bandwidth[i] = 0;
  if (end_ns <= 0)
    return;
  for (guint i = 0; i < recording->ops->len; i++)
    spread (&g_array_index (recording->ops, SsOpEvent, i), (double)n_bins / (double)end_ns, n_bins,
            matmul, bandwidth);
}
