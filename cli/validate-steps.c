/* SPDX-License-Identifier: MIT */
#include "cli/validate-table.h"

#include "cli/console.h"
#include "cli/error-groups.h"
#include "output/formats/json-text.h"
#include "study/step-table.h"

#define ALL "all A and B"

typedef struct
{
  SsErrorGroups *time, *peak;    /* ALL, then by confidence and by device */
  guint n_oom_found, n_oom_missed, n_oom_false, n_not_expressible, n_refused;
} Tally;

static gboolean
has_time (const SsStepRow *row)
{
  return row->not_expressible == NULL && row->measured_s > 0 && row->simulated_s > 0;
}

static gboolean
has_peak (const SsStepRow *row)
{
  return row->not_expressible == NULL && row->measured_bytes > 0 && row->simulated_bytes > 0
         && row->peak_kind != SS_PEAK_NONE && row->peak_kind != SS_PEAK_OOM;
}

/* C rows are shown, not counted, and so is a peak of a kind that nobody said. */
static gboolean
is_counted (const SsStepRow *row)
{
  return row->confidence == 'A' || row->confidence == 'B';
}

static void
add_error (SsErrorGroups *groups, const SsStepRow *row, double error)
{
  g_autofree char *confidence = g_strdup_printf ("confidence %c", row->confidence);

  ss_error_groups_add (groups, ALL, error);
  ss_error_groups_add (groups, confidence, error);
  ss_error_groups_add (groups, row->device, error);
}

static void
count_row (Tally *tally, const SsStepRow *row)
{
  gboolean was_oom = row->peak_kind == SS_PEAK_OOM;

  tally->n_not_expressible += row->not_expressible != NULL;
  tally->n_refused += row->is_refused;
  if (row->not_expressible != NULL || !is_counted (row))
    return;
  if (has_time (row))
    add_error (tally->time, row, ss_relative_error (row->measured_s, row->simulated_s));
  if (has_peak (row) && row->peak_kind != SS_PEAK_UNSAID)
    add_error (tally->peak, row, ss_relative_error ((double) row->measured_bytes,
                                                    (double) row->simulated_bytes));
  tally->n_oom_found += was_oom && row->is_oom;
  tally->n_oom_missed += was_oom && !row->is_oom;
  tally->n_oom_false += !was_oom && row->is_oom;
}

/* ---- text ---- */

static void
append_cell (GString *text, const char *format, double value, const char *unit)
{
  g_autoptr (GString) cell = g_string_new (NULL);

  ss_append_number (cell, format, value);
  g_string_append_printf (text, " %8s %s", cell->str, unit);
}

static void
append_pair (GString *text, const char *format, double measured, double simulated,
             const char *unit)
{
  append_cell (text, format, measured, unit);
  append_cell (text, format, simulated, unit);
  append_cell (text, "%+.1f", ss_relative_error (measured, simulated), "% ");
}

static void
append_row (GString *text, const SsStepRow *row)
{
  g_string_append_printf (text, "%-7s %-18s %c", row->id, row->device, row->confidence);
  if (has_time (row))
    append_pair (text, "%.1f", row->measured_s * 1e3, row->simulated_s * 1e3, "ms");
  else
    g_string_append_printf (text, "%37s", "");
  if (has_peak (row))
    append_pair (text, "%.2f", (double) row->measured_bytes / 1073741824.0,
                 (double) row->simulated_bytes / 1073741824.0, "GiB");
  if (row->peak_kind == SS_PEAK_UNSAID && has_peak (row))
    g_string_append (text, " reserved?");
  if (row->is_oom)
    g_string_append (text, row->peak_kind == SS_PEAK_OOM ? "  out of memory, as published"
                                                         : "  out of memory here");
  else if (row->peak_kind == SS_PEAK_OOM)
    g_string_append (text, "  fits here; published as out of memory");
  if (*row->near != '\0')
    g_string_append_printf (text, "  near: %s", row->near);
  g_string_append_c (text, '\n');
}

static void
append_reasons (GString *text, const SsStepTable *table, const Tally *tally)
{
  g_string_append_printf (text, "\nnot expressible: %u rows, %u of them refused by stepsim\n",
                          tally->n_not_expressible, tally->n_refused);
  for (guint i = 0; i < table->rows->len; i++)
    {
      const SsStepRow *row = table->rows->pdata[i];

      if (row->not_expressible != NULL)
        g_string_append_printf (text, "  %-7s %s%s\n", row->id,
                                row->is_refused ? "refused: " : "", row->not_expressible);
    }
}

static char *
to_text (const SsStepTable *table, const Tally *tally)
{
  GString *text = g_string_new ("id      device               measured    simulated       error"
                                "    measured     simulated        error\n");

  for (guint i = 0; i < table->rows->len; i++)
    {
      const SsStepRow *row = table->rows->pdata[i];

      if (row->not_expressible == NULL)
        append_row (text, row);
    }
  append_reasons (text, table, tally);
  g_string_append (text, "\ntime of a step\n");
  ss_error_groups_append_text (tally->time, text);
  g_string_append (text, "\npeak of memory\n");
  ss_error_groups_append_text (tally->peak, text);
  g_string_append_printf (text, "\nout of memory: %u found, %u missed, %u false\n",
                          tally->n_oom_found, tally->n_oom_missed, tally->n_oom_false);
  return g_string_free (text, FALSE);
}

/* ---- JSON ---- */

static void
append_value (GString *json, const char *key, const char *format, double value, gboolean is_there)
{
  g_string_append_printf (json, ",\"%s\":", key);
  if (is_there)
    ss_append_number (json, format, value);
  else
    g_string_append (json, "null");
}

static void
append_row_json (GString *json, const SsStepRow *row)
{
  static const char *const kinds[] = { NULL, "allocated", "reserved", "smi", "unsaid", "oom" };
  double error = has_time (row) ? ss_relative_error (row->measured_s, row->simulated_s) : 0;

  g_string_append (json, "{\"id\":");
  ss_json_append_text (json, row->id);
  if (row->not_expressible != NULL)
    {
      g_string_append (json, ",\"not_expressible\":");
      ss_json_append_text (json, row->not_expressible);
      g_string_append_printf (json, ",\"refused\":%s}", row->is_refused ? "true" : "false");
      return;
    }
  g_string_append (json, ",\"device\":");
  ss_json_append_text (json, row->device);
  g_string_append_printf (json, ",\"confidence\":\"%c\"", row->confidence);
  append_value (json, "measured", "%.9g", row->measured_s, row->measured_s > 0);
  append_value (json, "simulated", "%.9g", row->simulated_s, row->simulated_s > 0);
  append_value (json, "error", "%.4f", error, has_time (row));
  g_string_append (json, ",\"peak\":{\"kind\":");
  if (kinds[row->peak_kind] != NULL)
    ss_json_append_text (json, kinds[row->peak_kind]);
  else
    g_string_append (json, "null");
  append_value (json, "measured_bytes", "%.0f", (double) row->measured_bytes,
                row->measured_bytes > 0);
  append_value (json, "simulated_bytes", "%.0f", (double) row->simulated_bytes,
                row->simulated_bytes > 0);
  g_string_append_printf (json, ",\"oom\":%s},\"near\":", row->is_oom ? "true" : "false");
  ss_json_append_text (json, row->near);
  g_string_append_c (json, '}');
}

static void
append_summary_json (GString *json, const SsErrorGroups *groups)
{
  ss_error_summary_append_json (ss_error_groups_summary (groups, ALL), json);
  g_string_append (json, ",\"by\":");
  ss_error_groups_append_json (groups, json);
}

static char *
to_json (const SsStepTable *table, const Tally *tally)
{
  GString *json = g_string_new ("{\"rows\":[\n");

  for (guint i = 0; i < table->rows->len; i++)
    {
      g_string_append (json, i > 0 ? ",\n" : "");
      append_row_json (json, table->rows->pdata[i]);
    }
  g_string_append (json, "\n],\"summary\":{\"time\":{");
  append_summary_json (json, tally->time);
  g_string_append (json, "},\n\"peak\":{");
  append_summary_json (json, tally->peak);
  g_string_append_printf (json,
                          "},\n\"oom\":{\"found\":%u,\"missed\":%u,\"false\":%u},"
                          "\"not_expressible\":%u}}\n",
                          tally->n_oom_found, tally->n_oom_missed, tally->n_oom_false,
                          tally->n_not_expressible);
  return g_string_free (json, FALSE);
}

SsExit
ss_validate_steps (const char *path, const SsValidateOptions *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SsStepTable) table = ss_step_table_read (path, &error);
  g_autoptr (SsErrorGroups) time = ss_error_groups_new (), peak = ss_error_groups_new ();
  Tally tally = { .time = time, .peak = peak };
  g_autofree char *text = NULL;

  if (table == NULL)
    {
      ss_console_error ("%s", error->message);
      return SS_EXIT_INPUT;
    }
  ss_step_table_run (table, g_get_num_processors ());
  for (guint i = 0; i < table->rows->len; i++)
    count_row (&tally, table->rows->pdata[i]);
  text = options->is_json ? to_json (table, &tally) : to_text (table, &tally);
  if (!ss_console_print (text))
    return SS_EXIT_OUTPUT;
  return ss_validate_exit (options, ss_error_groups_summary (time, ALL).median_abs);
}
