/* SPDX-License-Identifier: MIT */
#include "output/figures/byte-axis.h"

#include <math.h>

#include "output/figures/memory-figure-page.h"

#define FAR_LIMIT 2.5
#define HEAD_ROOM 1.07
#define HEIGHT_BELOW_BREAK 0.86
#define HEIGHT_OF_FAR_LIMIT 0.96
#define MOST_SHORT 0.2           /* a request many times what is there is cut off */
#define MAX_TICKS 6

guint64
ss_memory_timeline_used_bytes (const SsMemoryTimeline *timeline)
{
  guint64 most = 1;

  for (guint i = 0; i < timeline->n_columns; i++)
    most = MAX (most, MAX (timeline->columns[i].reserved_bytes, timeline->columns[i].total_bytes));
  return most;
}

SsByteAxis
ss_byte_axis (guint64 used_bytes, guint64 limit_bytes, guint64 short_bytes, SsMemoryUnits units)
{
  gboolean has_limit = limit_bytes < G_MAXINT64;
  double used = (double) MAX (used_bytes, 1), limit = has_limit ? (double) limit_bytes : 0, top;
  SsByteAxis self = { .limit_height = -1 };

  self.is_broken = has_limit && limit > FAR_LIMIT * used;
  top = self.is_broken ? used
                       : MAX (used, limit + MIN ((double) short_bytes, MOST_SHORT * limit));
  self.top_bytes = self.is_broken ? used / HEIGHT_BELOW_BREAK : top * HEAD_ROOM;
  if (has_limit)
    self.limit_height = self.is_broken ? HEIGHT_OF_FAR_LIMIT : limit / self.top_bytes;
  self.scale = ss_byte_scale (units, (guint64) top);
  self.tick_bytes = ss_nice_step (top / self.scale.bytes, MAX_TICKS) * self.scale.bytes;
  self.n_ticks = (guint) ((self.is_broken ? used : self.top_bytes) / self.tick_bytes + 1e-9) + 1;
  if (self.tick_bytes < self.scale.bytes)
    self.decimals = (guint) ceil (-log10 (self.tick_bytes / self.scale.bytes) - 1e-9);
  return self;
}

double
ss_byte_axis_height (const SsByteAxis *self, double bytes)
{
  return bytes / self->top_bytes;
}

char *
ss_byte_axis_tick (const SsByteAxis *self, guint i)
{
  GString *text = g_string_new (NULL);

  ss_append_fixed (text, i * self->tick_bytes / self->scale.bytes, self->decimals);
  return g_string_free (text, FALSE);
}
