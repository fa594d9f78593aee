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
append_subject (SsReport *report)
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
  if (recording->attention_note != NULL && report->style.is_verbose)
    ss_report_wrap (report, "Assumed: ", recording->attention_note);
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

/* "; step 1 fits": what came before the one that failed. */
static char *
steps_before (const SsRecording *recording)
{
  guint n = 0;

  for (guint i = 0; i < recording->steps->len; i++)
    if (g_array_index (recording->steps, SsStepRecord, i).is_complete)
      n++;
  if (n == 0)
    return g_strdup ("");
  return n == 1 ? g_strdup ("; step 1 fits") : g_strdup_printf ("; steps 1 to %u fit", n);
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
append_failure_verdict (SsReport *report)
{
  const SsRecording *recording = report->recording;
  const SsPeakRecord *at = &recording->oom.at;
  g_autofree char *when = ss_format_time (at->device_ns), *before = steps_before (recording);
  g_autofree char *headline = ss_verdict_headline (recording, report->style.units);
  g_autofree char *need = ss_verdict_need (recording, report->style.units);
  g_autofree char *rest
    = report->style.is_verbose && at->step > 0
        ? g_strdup_printf ("%s, %s in%s.", headline + strlen ("Out of memory"), when, before)
        : g_strdup_printf ("%s%s.", headline + strlen ("Out of memory"), before);

  append_verdict (report, "OUT OF MEMORY", BOLD_RED, rest);
  if (need != NULL)
    ss_report_wrap (report, "", need);
  append_request (report);
}

/* One sentence where the screen is short, all of them where it is not. */
static void
append_reasons (SsReport *report)
{
  const SsRecording *recording = report->recording;
  g_autofree char *cause = ss_report_cause (recording, report->style.units);
  g_autofree char *growth = ss_verdict_growth (recording, report->style.units);
  g_autofree char *fragments = ss_verdict_fragments (recording, report->style.units);
  const char *const sentences[] = { cause, growth, fragments };

  for (guint i = 0; i < G_N_ELEMENTS (sentences); i++)
    {
      if (sentences[i] == NULL)
        continue;
      ss_report_wrap (report, "", sentences[i]);
      if (!report->style.is_verbose)
        break;
    }
}

static void
append_failure (SsReport *report)
{
  append_failure_verdict (report);
  append_subject (report);
  ss_report_breakdown (report, "In use when it fails", &report->recording->oom.at);
  append_reasons (report);
  if (report->recording->oom.message != NULL
      && (report->style.has_message || report->style.is_verbose))
    g_string_append_printf (report->text, "\nPyTorch's own words:\n%s\n",
                            report->recording->oom.message);
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

static void
append_reserved (SsReport *report)
{
  const SsRecording *recording = report->recording;
  SsMemoryUnits units = report->style.units;
  guint64 cached_bytes = recording->peak.reserved_bytes - recording->peak.allocated_bytes;
  g_autofree char *allocated = ss_verdict_allocated (recording, units);
  g_autofree char *reserved = ss_format_bytes (recording->peak_reserved_bytes, units, 1);
  g_autofree char *cached = ss_format_bytes (cached_bytes, units, 1);
  g_autofree char *line
    = g_strdup_printf ("%s, with %s cached beside it. Reserved at most %s; the peak is that and "
                       "the CUDA context.",
                       allocated, cached, reserved);

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
  const char *more = g_strcmp0 (recording->policy, "none") != 0 ? "more checkpoints"
                                                                : "checkpoints";
  g_autofree char *floor = ss_format_bytes (recording->floor.allocated_bytes, units, 1);
  g_autofree char *gain = ss_format_bytes (gain_bytes, units, 1);
  g_autofree char *line = NULL;

  if (gain_bytes == 0 || is_beyond_layers (&recording->peak))
    line = g_strdup_printf ("No layer's activations are held where most is allocated: %s cannot "
                            "lower it.", more);
  else if (recording->floor.step == 0)
    line = g_strdup_printf ("Without any activations at most %s would be allocated, %s: %s can "
                            "lower it by %s at most.",
                            floor, ss_phase_phrase (recording->floor.phase), more, gain);
  else
    line = g_strdup_printf ("Without any activations at most %s would be allocated, %s of step "
                            "%u: %s can lower it by %s at most.",
                            floor, ss_phase_phrase (recording->floor.phase), recording->floor.step,
                            more, gain);
  ss_report_wrap (report, "", line);
}

/* "; step 2 takes 1085 ms", of the last. */
static void
append_pace (GString *words, const SsRecording *recording)
{
  const SsStepRecord *step = NULL;
  g_autofree char *time = NULL;

  if (recording->steps->len > 0)
    step = &g_array_index (recording->steps, SsStepRecord, recording->steps->len - 1);
  if (step == NULL || !step->is_complete)
    return;
  time = ss_format_time (step->end_ns - step->start_ns);
  g_string_append_printf (words, "; step %u takes %s", step->step, time);
}

static void
append_success_verdict (SsReport *report)
{
  const SsRecording *recording = report->recording;
  gboolean is_limited = recording->capacity_bytes < G_MAXINT64;
  g_autofree char *peak = ss_verdict_peak (recording, report->style.units);
  GString *words = g_string_new (NULL);

  g_string_append_printf (words, "Peak %s", peak);
  append_pace (words, recording);
  g_string_append_c (words, '.');
  append_verdict (report, is_limited ? "FITS." : "WITHOUT LIMIT.", BOLD_GREEN, words->str);
  g_string_free (words, TRUE);
}

static void
append_success (SsReport *report)
{
  g_autofree char *where = ss_report_where (&report->recording->peak);

  append_success_verdict (report);
  append_subject (report);
  ss_report_breakdown (report, where, &report->recording->peak);
  g_string_append_c (report->text, '\n');
  ss_report_steps (report);
  if (!report->style.is_verbose)
    return;
  g_string_append_c (report->text, '\n');
  append_reserved (report);
  append_floor (report);
  append_convention (report);
}

char *
ss_report (const SsRecording *recording, const SsReportStyle *style)
{
  SsReport report = { .recording = recording, .style = *style, .text = g_string_new (NULL) };

  report.style.width = MAX (style->width, SS_REPORT_MIN_WIDTH);
  if (recording->is_oom)
    append_failure (&report);
  else
    append_success (&report);
  return g_string_free (report.text, FALSE);
}
