/* SPDX-License-Identifier: MIT */
#include "output/film/animation.h"

#include <math.h>

#include "output/verdict.h"
#include "output/figures/memory-figure-page.h"

SsAnimation *
ss_animation_new (const SsRecording *recording, SsMemoryUnits units, guint n_columns, guint n_bins)
{
  SsAnimation *self = g_new0 (SsAnimation, 1);

  self->recording = recording;
  self->units = units;
  self->keyframes = ss_keyframes_new (recording, units);
  self->timeline = ss_memory_timeline_new (recording, n_columns);
  self->axis = ss_byte_axis (ss_memory_timeline_used_bytes (self->timeline),
                             recording->capacity_bytes, ss_verdict_short_bytes (recording), units);
  self->n_bins = n_bins;
  self->matmul = g_new0 (double, n_bins);
  self->bandwidth = g_new0 (double, n_bins);
  if (!self->timeline->is_by_event)
    ss_utilization (recording, self->timeline->end_ns, n_bins, self->matmul, self->bandwidth);
  return self;
}

void
ss_animation_free (SsAnimation *self)
{
  if (self == NULL)
    return;
  ss_keyframes_free (self->keyframes);
  ss_memory_timeline_free (self->timeline);
  g_free (self->matmul);
  g_free (self->bandwidth);
  g_free (self);
}

const SsKeyframe *
ss_animation_moment (const SsAnimation *self, guint i)
{
  return &g_array_index (self->keyframes->items, SsKeyframe, i);
}

char *
ss_animation_subject (const SsRecording *recording)
{
  g_autofree char *text
    = g_strdup_printf ("%s on %s: %s", recording->model_name, recording->device_name,
                       recording->summary != NULL ? recording->summary : "");

  return ss_clean_text (text);
}

SsTimeTicks
ss_time_ticks (gint64 end_ns, guint n_most)
{
  static const struct
  {
    double ns;
    const char *name;
  } units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" } };
  guint unit = end_ns >= 10000000000 ? 0 : end_ns >= 1000000 ? 1 : 2;
  SsTimeTicks ticks = { .unit_ns = units[unit].ns, .unit = units[unit].name };
  double end = (double) end_ns / ticks.unit_ns, step;

  if (end_ns <= 0)
    return ticks;
  step = ss_nice_step (end, n_most);
  ticks.step_ns = step * ticks.unit_ns;
  ticks.n_ticks = (guint) (end / step + 1e-9) + 1;
  ticks.decimals = step >= 1 ? 0 : (guint) ceil (-log10 (step) - 1e-9);
  return ticks;
}

char *
ss_time_tick (const SsTimeTicks *self, guint i)
{
  GString *text = g_string_new (NULL);

  ss_append_fixed (text, i * self->step_ns / self->unit_ns, self->decimals);
  return g_string_free (text, FALSE);
}
