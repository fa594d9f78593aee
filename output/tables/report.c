/* SPDX-License-Identifier: MIT */
#include "output/tables/report.h"

#include <string.h>

#include "output/verdict.h"
#include "output/tables/report-private.h"

#define BOLD_RED "\x1b[1;31m"
#define BOLD_GREEN "\x1b[1;32m"
#define PLAIN "\x1b[0m"

/* Empty words are runs of spaces: one is enough. */
static void
append_words (SsReport *report, const char *paragraph, guint column, guint indent)
{
  g_autofree char *clean = ss_clean_text (paragraph);
  g_auto (GStrv) words = g_strsplit (clean, " ", -1);
  gboolean needs_space = column > indent;

  for (guint i = 0; words[i] != NULL; i++)
    {
      guint length = (guint) g_utf8_strlen (words[i], -1);

      if (length == 0)
        continue;
      if (column > indent && column + (needs_space ? 1 : 0) + length > report->style.width)
        {
          g_string_append_printf (report->text, "\n%*s", (int) indent, "");
          column = indent;
          needs_space = FALSE;
        }
      g_string_append_printf (report->text, "%s%s", needs_space ? " " : "", words[i]);
      column += length + (needs_space ? 1 : 0);
      needs_space = TRUE;
    }
  g_string_append_c (report->text, '\n');
}

void
ss_report_wrap (SsReport *report, const char *first, const char *paragraph)
{
  guint indent = (guint) g_utf8_strlen (first, -1);

  g_string_append (report->text, first);
  append_words (report, paragraph, indent, indent);
}

static void
append_question (SsReport *report)
{
  const SsRecording *recording = report->recording;
  g_autofree char *count = ss_format_count (recording->n_parameters);
  g_autofree char *trained = ss_format_count (recording->n_trainable_parameters);
  GString *line = g_string_new (recording->model_name);
  g_autofree char *allocator = NULL;

  g_string_append_printf (line, ", %s parameters", count);
  if (recording->n_trainable_parameters != recording->n_parameters)
    g_string_append_printf (line, " (%s trained)", trained);
  g_string_append_printf (line, ", on %s", recording->device_name);
  ss_report_wrap (report, "", line->str);
  g_string_free (line, TRUE);
  if (recording->summary != NULL)
    ss_report_wrap (report, "", recording->summary);
  if (recording->assumption != NULL)
    ss_report_wrap (report, "Assumed: ", recording->assumption);
  if (g_strcmp0 (recording->allocator_type, recording->allocator_asked) != 0)
    {
      allocator = g_strdup_printf ("%s, where %s was asked for", recording->allocator_type,
                                   recording->allocator_asked);
      ss_report_wrap (report, "Allocator: ", allocator);
    }
  g_string_append_c (report->text, '\n');
}

/* The verdict's words carry the meaning; colour only helps to find them. */
static void
append_verdict (SsReport *report, const char *words, const char *colour, const char *rest)
{
  if (report->style.has_colour)
    g_string_append_printf (report->text, "%s%s" PLAIN, colour, words);
  else
    g_string_append (report->text, words);
  append_words (report, rest, (guint) strlen (words), 0);
}

/* "Step 1 fits, with a peak of 67.2 GiB.": what came before the one that failed. */
static char *
steps_before (const SsReport *report)
{
  guint n = 0;
  guint64 peak_bytes = 0;
  g_autofree char *peak = NULL;

  for (guint i = 0; i < report->recording->steps->len; i++)
    {
      const SsStepRecord *step = &g_array_index (report->recording->steps, SsStepRecord, i);

      if (!step->is_complete)
        continue;
      n = step->step;
      peak_bytes = MAX (peak_bytes, step->peak_allocated_bytes);
    }
  if (n == 0)
    return g_strdup ("");
  peak = ss_format_bytes (peak_bytes, report->style.units, 1);
  if (n == 1)
    return g_strdup_printf (" Step 1 fits, with a peak of %s.", peak);
  return g_strdup_printf (" Steps 1 to %u fit, with a peak of %s.", n, peak);
}

static void
append_request (SsReport *report)
{
  const SsOomRecord *oom = &report->recording->oom;
  g_autofree char *wanted = ss_format_bytes (oom->tensor_bytes, report->style.units, 2);
  g_autofree char *requested = ss_format_bytes (oom->requested_bytes, report->style.units, 2);
  g_autofree char *free_text = oom->free_bytes == 0
                                 ? g_strdup ("nothing")
                                 : ss_format_bytes (oom->free_bytes, report->style.units, 2);
  gboolean has_op = oom->op_name != NULL && oom->at.step > 0,
           has_tensor = oom->tensor != NULL && *oom->tensor != '\0';
  GString *line = g_string_new (has_op ? oom->op_name : has_tensor ? "" : "The framework");

  if (has_tensor)
    g_string_append_printf (line, has_op ? " in %s" : "%s", oom->tensor);
  g_string_append_printf (line, " asks for %s", wanted);
  if (!g_str_equal (requested, wanted))
    g_string_append_printf (line, ", a segment of %s", requested);
  g_string_append_printf (line, "; %s is free.", free_text);
  ss_report_wrap (report, "  ", line->str);
  g_string_free (line, TRUE);
}

static void
append_failure (SsReport *report)
{
  const SsRecording *recording = report->recording;
  const SsPeakRecord *at = &recording->oom.at;
  g_autofree char *when = ss_format_time (at->device_ns), *before = steps_before (report);
  g_autofree char *headline = ss_verdict_headline (recording, report->style.units), *rest = NULL;
  g_autofree char *growth = ss_verdict_growth (recording, report->style.units);
  g_autofree char *fragments = ss_verdict_fragments (recording, report->style.units);

  if (at->step > 0)
    rest = g_strdup_printf ("%s, %s in.%s", headline + strlen ("Out of memory"), when, before);
  else
    rest = g_strdup_printf ("%s.", headline + strlen ("Out of memory"));
  append_verdict (report, "OUT OF MEMORY", BOLD_RED, rest);
  append_request (report);
  g_string_append_c (report->text, '\n');
  ss_report_breakdown (report, "In use when it fails", at);
  if (growth != NULL || fragments != NULL)
    g_string_append_c (report->text, '\n');
  if (growth != NULL)
    ss_report_wrap (report, "", growth);
  if (fragments != NULL)
    ss_report_wrap (report, "", fragments);
  if (recording->oom.message != NULL)
    g_string_append_printf (report->text, "\nPyTorch's own words:\n%s\n", recording->oom.message);
  ss_report_cause (report);
}

static void
append_convention (SsReport *report)
{
  const SsRecording *recording = report->recording;
  GString *line;

  if (recording->flop_convention == NULL || recording->peak_flop_per_s <= 0)
    return;
  line = g_string_new ("MFU and HFU are of ");
  ss_append_fixed (line, recording->peak_flop_per_s / 1e12, 1);
  /* what comes after the first clause is for the JSON */
  g_string_append_printf (line, " TFLOP/s; model flops: %.*s.",
                          (int)strcspn (recording->flop_convention, ";"),
                          recording->flop_convention);
  ss_report_wrap (report, "", line->str);
  g_string_free (line, TRUE);
}

/* The words after the verdict of a run that came to its end. */
/* "the backward pass of step 2" */
static char *
where_words (const SsPeakRecord *peak)
{
  const char *phase = ss_phase_phrase (peak->phase);

  return peak->step == 0 ? g_strdup (phase) : g_strdup_printf ("%s of step %u", phase, peak->step);
}

static char *
peak_words (const SsReport *report)
{
  const SsRecording *recording = report->recording;
  SsMemoryUnits units = report->style.units;
  guint64 need_bytes = recording->context_bytes + recording->peak_reserved_bytes;
  guint64 device_bytes = report->style.device_capacity_bytes;
  g_autofree char *peak = ss_format_bytes (recording->peak.allocated_bytes, units, 1);
  g_autofree char *limit = ss_format_bytes (recording->capacity_bytes, units, 1);
  g_autofree char *unused = ss_format_bytes (ss_verdict_unused_bytes (recording), units, 1);
  g_autofree char *need = ss_format_bytes (need_bytes, units, 1), *device = NULL, *distance = NULL;
  g_autofree char *where = where_words (&recording->peak);

  if (recording->capacity_bytes < G_MAXINT64)
    return g_strdup_printf ("Peak %s of %s, %s. %s unused.", peak, limit, where, unused);
  if (device_bytes == 0)
    return g_strdup_printf ("Peak %s, %s. With reserve and context %s.", peak, where, need);
  device = ss_format_bytes (device_bytes, units, 1);
  distance = ss_format_bytes (
      need_bytes > device_bytes ? need_bytes - device_bytes : device_bytes - need_bytes, units, 1);
  return g_strdup_printf ("Peak %s, %s. With reserve and context %s, %s %s the device's %s.", peak,
                          where, need, distance, need_bytes > device_bytes ? "over" : "below",
                          device);
}

static void
append_reserved (SsReport *report)
{
  const SsRecording *recording = report->recording;
  SsMemoryUnits units = report->style.units;
  guint64 cached_bytes = recording->peak.reserved_bytes - recording->peak.allocated_bytes;
  g_autofree char *reserved = ss_format_bytes (recording->peak_reserved_bytes, units, 1);
  g_autofree char *cached = ss_format_bytes (cached_bytes, units, 1);
  g_autofree char *line = g_strdup_printf (
      "Reserved by the allocator at most %s (%s cached at the peak).", reserved, cached);

  ss_report_wrap (report, "", line);
}

/* At a peak there no layer's activations are held; what is left of their category is the inputs. */
static gboolean
is_beyond_layers (const SsPeakRecord *peak)
{
  return g_strcmp0 (peak->phase, "optimizer") == 0 || g_strcmp0 (peak->phase, "zero_grad") == 0
         || g_strcmp0 (peak->phase, "load") == 0;
}

/* What checkpointing could still win. */
static void
append_floor (SsReport *report)
{
  const SsRecording *recording = report->recording;
  SsMemoryUnits units = report->style.units;
  guint64 gain_bytes = recording->peak.allocated_bytes - recording->floor.allocated_bytes;
  gboolean has_policy = g_strcmp0 (recording->policy, "none") != 0;
  g_autofree char *floor = ss_format_bytes (recording->floor.allocated_bytes, units, 1);
  g_autofree char *gain = ss_format_bytes (gain_bytes, units, 1);
  g_autofree char *where = where_words (&recording->floor);
  g_autofree char *line = NULL;

  if (gain_bytes == 0 || is_beyond_layers (&recording->peak))
    line = g_strdup_printf ("The peak holds no layer's activations: %scheckpoints cannot lower it.",
                            has_policy ? "more " : "");
  else
    line = g_strdup_printf ("Without any activations the peak would be %s, %s: %scheckpoints can "
                            "lower it by %s at most.",
                            floor, where, has_policy ? "more " : "", gain);
  ss_report_wrap (report, "", line);
}

static void
append_success (SsReport *report)
{
  gboolean is_limited = report->recording->capacity_bytes < G_MAXINT64;
  g_autofree char *words = peak_words (report);

  append_verdict (report, is_limited ? "FITS." : "WITHOUT LIMIT.", BOLD_GREEN, words);
  g_string_append_c (report->text, '\n');
  ss_report_steps (report);
  g_string_append_c (report->text, '\n');
  append_reserved (report);
  append_floor (report);
  append_convention (report);
  g_string_append_c (report->text, '\n');
  ss_report_breakdown (report, "In use at the peak", &report->recording->peak);
}

char *
ss_report (const SsRecording *recording, const SsReportStyle *style)
{
  SsReport report = { .recording = recording, .style = *style, .text = g_string_new (NULL) };

  report.style.width = MAX (style->width, SS_REPORT_MIN_WIDTH);
  append_question (&report);
  if (recording->is_oom)
    append_failure (&report);
  else
    append_success (&report);
  return g_string_free (report.text, FALSE);
}
