/* SPDX-License-Identifier: MIT */
#include "output/figures/compare.h"

#define NAME_WIDTH 26            /* of a side's column in the table */

/* ---- what a side comes to ---- */

static const SsStepRecord *
step_record (const SsRecording *recording, guint step)
{
  for (guint i = 0; i < recording->steps->len; i++)
    if (g_array_index (recording->steps, SsStepRecord, i).step == step)
      return &g_array_index (recording->steps, SsStepRecord, i);
  return NULL;
}

static guint
step_of_event (const SsRecording *recording, const SsMemoryEvent *event)
{
  return event->phase < recording->phases->len
           ? g_array_index (recording->phases, SsPhaseRecord, event->phase).step
           : 0;
}

/* The largest state of the side, by band, first occurrence, and where it was. */
static void
find_peak (SsCompareSide *self)
{
  const SsRecording *recording = self->recording;
  SsTimelineState state = { 0 };
  const SsPhaseRecord *phase = NULL;

  state.bands[SS_BAND_CONTEXT] = state.total_bytes = recording->context_bytes;
  self->at_peak = state;
  for (guint i = 0; i < recording->memory->len; i++)
    {
      const SsMemoryEvent *event = &g_array_index (recording->memory, SsMemoryEvent, i);
      guint step = step_of_event (recording, event);

      if (event->action == SS_EVENT_OOM || (self->step > 0 && step > self->step))
        break;
      /* a step begins with what the ones before left */
      ss_timeline_state_apply (&state, recording, event);
      if (self->step > 0 && step < self->step)
        self->at_peak = state;
      else if (state.total_bytes > self->at_peak.total_bytes)
        {
          self->at_peak = state;
          phase = &g_array_index (recording->phases, SsPhaseRecord, event->phase);
        }
      if (step >= self->step)
        self->peak_reserved_bytes = MAX (self->peak_reserved_bytes, state.reserved_bytes);
    }
  self->peak_bytes = self->at_peak.total_bytes;
  if (phase == NULL)
    self->peak_words = g_strdup ("its start");
  else if (phase->step == 0 || self->step > 0)
    self->peak_words = g_strdup (phase->name);
  else
    self->peak_words = g_strdup_printf ("%s of step %u", phase->name, phase->step);
}

static void
find_verdict (SsCompareSide *self)
{
  const SsRecording *recording = self->recording;

  self->is_oom = recording->is_oom && (self->step == 0 || recording->oom.at.step == self->step);
  if (!self->is_oom)
    self->verdict = g_strdup ("fits");
  else if (self->step > 0 || recording->oom.at.step == 0)
    self->verdict = g_strdup ("out of memory");
  else
    self->verdict = g_strdup_printf ("out of memory in step %u", recording->oom.at.step);
}

static void
find_times (SsCompareSide *self, const SsStepRecord *step)
{
  GArray *steps = self->recording->steps;

  self->end_ns = ss_recording_end_ns (self->recording);
  if (step != NULL)
    {
      self->start_ns = step->start_ns;
      self->end_ns = step->end_ns;
      self->step_ns = step->is_complete ? step->end_ns - step->start_ns : 0;
      return;
    }
  for (guint i = 0; i < steps->len; i++)
    {
      const SsStepRecord *record = &g_array_index (steps, SsStepRecord, i);

      if (record->is_complete)
        self->step_ns = record->end_ns - record->start_ns;
    }
}

SsCompareSide *
ss_compare_side_new (const SsRecording *recording, guint step, const char *name)
{
  const SsStepRecord *record = step > 0 ? step_record (recording, step) : NULL;
  SsCompareSide *self;

  if (step > 0 && record == NULL)
    return NULL;
  self = g_new0 (SsCompareSide, 1);
  self->recording = recording;
  self->step = step;
  self->name = ss_clean_text (name);
  find_times (self, record);
  find_peak (self);
  find_verdict (self);
  return self;
}

void
ss_compare_side_free (SsCompareSide *self)
{
  if (self == NULL)
    return;
  g_free (self->name);
  g_free (self->peak_words);
  g_free (self->verdict);
  g_free (self);
}

/* ---- words ---- */

static guint64
distance (guint64 a, guint64 b)
{
  return a > b ? a - b : b - a;
}

char *
ss_compare_headline (const SsCompareSide *a, const SsCompareSide *b, SsMemoryUnits units)
{
  g_autofree char *bytes = ss_format_bytes (distance (a->peak_bytes, b->peak_bytes), units, 1);
  gint64 more_ns = b->step_ns - a->step_ns;
  g_autofree char *time = ss_format_time (ABS (more_ns));
  GString *text = g_string_new (NULL);

  /* how far a run came before it failed is no peak to compare */
  if (a->is_oom != b->is_oom)
    g_string_append_printf (text, "Only the %s fits", a->is_oom ? "second" : "first");
  else if (a->peak_bytes == b->peak_bytes)
    g_string_append (text, "The same peak");
  else
    g_string_append_printf (text, "Peak %s %s", bytes,
                            b->peak_bytes < a->peak_bytes ? "lower" : "higher");
  if (a->step_ns > 0 && b->step_ns > 0 && more_ns == 0)
    g_string_append (text, ", the same step time");
  else if (a->step_ns > 0 && b->step_ns > 0)
    g_string_append_printf (text, ", step %s %s (%+.1f %%)", time,
                            more_ns < 0 ? "faster" : "slower",
                            100.0 * (double) more_ns / (double) a->step_ns);
  if (a->is_oom && b->is_oom)
    g_string_append (text, "; both run out of memory");
  return g_string_free (text, FALSE);
}

/* ---- the table ---- */

/* In the column's width.  Of longer names the end is shown: what tells two runs apart is there. */
static void
put_cell (GString *out, const char *text)
{
  glong length = g_utf8_strlen (text, -1);
  g_autofree char *end
    = length < NAME_WIDTH ? NULL : g_utf8_substring (text, length - (NAME_WIDTH - 5), length);
  g_autofree char *shown = end != NULL ? g_strconcat ("...", end, NULL) : g_strdup (text);
  glong width = g_utf8_strlen (shown, -1);

  g_string_append_printf (out, "%*s%s", (int) (NAME_WIDTH - width), "", shown);
}

static void
put_words (GString *out, const char *what, const char *a, const char *b)
{
  g_string_append_printf (out, "  %-18s", what);
  put_cell (out, a);
  put_cell (out, b);
  g_string_append_c (out, '\n');
}

static void
put_bytes (GString *out, const char *what, guint64 a, guint64 b, SsByteScale scale)
{
  g_autofree char *left = ss_format_scaled (a, scale, 2);
  g_autofree char *right = ss_format_scaled (b, scale, 2);
  g_autofree char *more = ss_format_scaled (distance (a, b), scale, 2);

  g_string_append_printf (out, "  %-18s", what);
  put_cell (out, left);
  put_cell (out, right);
  if (a != b)
    g_string_append_printf (out, "  %s%s", b > a ? "+" : "-", more);
  g_string_append_c (out, '\n');
}

static void
put_times (GString *out, const SsCompareSide *a, const SsCompareSide *b)
{
  g_autofree char *left = a->step_ns > 0 ? ss_format_time (a->step_ns) : g_strdup ("-");
  g_autofree char *right = b->step_ns > 0 ? ss_format_time (b->step_ns) : g_strdup ("-");

  g_string_append_printf (out, "  %-18s", "step time");
  put_cell (out, left);
  put_cell (out, right);
  if (a->step_ns > 0 && b->step_ns > 0 && a->step_ns != b->step_ns)
    g_string_append_printf (out, "  %+.1f %%",
                            100.0 * (double) (b->step_ns - a->step_ns) / (double) a->step_ns);
  g_string_append_c (out, '\n');
}

char *
ss_compare_table (const SsCompareSide *a, const SsCompareSide *b, SsMemoryUnits units)
{
  SsByteScale scale = ss_byte_scale (units, MAX (a->peak_bytes, b->peak_bytes));
  g_autofree char *headline = ss_compare_headline (a, b, units);
  GString *out = g_string_new (headline);

  g_string_append (out, ".\n\n");
  put_words (out, "", a->name, b->name);
  put_words (out, "verdict", a->verdict, b->verdict);
  put_times (out, a, b);
  put_words (out, "where the peak is", a->peak_words, b->peak_words);
  g_string_append_printf (out, "  in %s at the peak\n", scale.name);
  for (guint i = 0; i < SS_N_BANDS; i++)
    if (a->at_peak.bands[i] > 0 || b->at_peak.bands[i] > 0)
      put_bytes (out, ss_band_look ((SsBand) i)->label, a->at_peak.bands[i], b->at_peak.bands[i],
                 scale);
  put_bytes (out, "all", a->peak_bytes, b->peak_bytes, scale);
  put_bytes (out, "most reserved", a->peak_reserved_bytes, b->peak_reserved_bytes, scale);
  return g_string_free (out, FALSE);
}
