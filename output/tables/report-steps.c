/* SPDX-License-Identifier: MIT */
#include "output/tables/report-private.h"

#define LABEL_COLUMNS 20
#define STEP_COLUMNS 12
#define MAX_STEPS 4

/* What a column shows of its step. (transfer full) */
typedef char *(*CellFunc) (const SsReport *report, const SsStepRecord *step);

static SsByteScale
scale_of (const SsReport *report)
{
  return ss_byte_scale (report->style.units, ss_recording_peak_bytes (report->recording));
}

static char *
fixed_cell (double value, guint decimals)
{
  GString *text;

  if (value < 0)
    return g_strdup ("-");
  text = g_string_new (NULL);
  ss_append_fixed (text, value, decimals);
  return g_string_free (text, FALSE);
}

static char *
step_cell (const SsReport *report G_GNUC_UNUSED, const SsStepRecord *step)
{
  return g_strdup_printf ("step %u", step->step);
}

static char *
peak_cell (const SsReport *report, const SsStepRecord *step)
{
  return ss_format_scaled (report->recording->context_bytes + step->peak_reserved_bytes,
                           scale_of (report), 2);
}

static char *
allocated_cell (const SsReport *report, const SsStepRecord *step)
{
  return ss_format_scaled (step->peak_allocated_bytes, scale_of (report), 2);
}

static char *
reserved_cell (const SsReport *report, const SsStepRecord *step)
{
  return ss_format_scaled (step->peak_reserved_bytes, scale_of (report), 2);
}

static char *
phase_cell (const SsReport *report, const SsStepRecord *step)
{
  GArray *phases = report->recording->phases;

  if (step->peak_phase >= phases->len)
    return g_strdup ("-");
  return g_strdup (g_array_index (phases, SsPhaseRecord, step->peak_phase).name);
}

static char *
time_cell (const SsReport *report G_GNUC_UNUSED, const SsStepRecord *step)
{
  double ms = (double) (step->end_ns - step->start_ns) / 1e6;

  return fixed_cell (ms, ms < 10 ? 2 : ms < 100 ? 1 : 0);
}

static char *
tokens_cell (const SsReport *report G_GNUC_UNUSED, const SsStepRecord *step)
{
  return fixed_cell (step->tokens_per_s, 0);
}

/* Mean over the step's whole time, gaps included. */
static char *
matmul_cell (const SsReport *report, const SsStepRecord *step)
{
  GArray *ops = report->recording->ops, *phases = report->recording->phases;
  double busy_ns = 0;

  for (guint i = 0; i < ops->len; i++)
    {
      const SsOpEvent *op = &g_array_index (ops, SsOpEvent, i);

      if (op->phase < phases->len
          && g_array_index (phases, SsPhaseRecord, op->phase).step == step->step)
        busy_ns += (double) op->matmul_utilization * (double) (op->end_ns - op->start_ns);
    }
  if (step->end_ns <= step->start_ns)
    return g_strdup ("-");
  return fixed_cell (100 * busy_ns / (double) (step->end_ns - step->start_ns), 0);
}

static char *
mfu_cell (const SsReport *report G_GNUC_UNUSED, const SsStepRecord *step)
{
  return fixed_cell (step->mfu < 0 ? -1 : 100 * step->mfu, 1);
}

static char *
hfu_cell (const SsReport *report G_GNUC_UNUSED, const SsStepRecord *step)
{
  return fixed_cell (step->hfu < 0 ? -1 : 100 * step->hfu, 1);
}

/* The first ones, and the last in place of what has no room. */
static guint
pick_steps (const SsRecording *recording, const SsStepRecord **picked)
{
  guint n = 0;

  for (guint i = 0; i < recording->steps->len; i++)
    {
      const SsStepRecord *step = &g_array_index (recording->steps, SsStepRecord, i);

      if (!step->is_complete)
        continue;
      if (n == MAX_STEPS)
        picked[MAX_STEPS - 1] = step;
      else
        picked[n++] = step;
    }
  return n;
}

void
ss_report_steps (SsReport *report)
{
  const char *unit = scale_of (report).name;
  g_autofree char *peak_label = g_strdup_printf ("peak %s", unit);
  g_autofree char *allocated_label = g_strdup_printf ("allocated %s", unit);
  g_autofree char *reserved_label = g_strdup_printf ("reserved %s", unit);
  const struct
  {
    const char *label;
    CellFunc cell;
    gboolean is_always;          /* else only where all there is is told */
  } rows[] = {
    { "", step_cell, TRUE },
    { peak_label, peak_cell, TRUE },
    { reserved_label, reserved_cell, FALSE },
    { allocated_label, allocated_cell, FALSE },
    { "most of it in", phase_cell, FALSE },
    { "time ms", time_cell, TRUE },
    { "tokens per second", tokens_cell, TRUE },
    { "matrix units %", matmul_cell, FALSE },
    { "MFU %", mfu_cell, TRUE },
    { "HFU %", hfu_cell, FALSE },
  };
  const SsStepRecord *picked[MAX_STEPS];
  guint n = pick_steps (report->recording, picked);

  if (n == 0)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      if (!rows[i].is_always && !report->style.is_verbose)
        continue;
      g_string_append_printf (report->text, "  %-*s", LABEL_COLUMNS, rows[i].label);
      for (guint s = 0; s < n; s++)
        {
          g_autofree char *cell = rows[i].cell (report, picked[s]);

          g_string_append_printf (report->text, "%*s", STEP_COLUMNS, cell);
        }
      g_string_append_c (report->text, '\n');
    }
}
