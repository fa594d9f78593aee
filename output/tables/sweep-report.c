/* SPDX-License-Identifier: MIT */
#include "output/tables/sweep-report.h"

#include <math.h>
#include <string.h>

#include "output/verdict.h"
#include "output/tables/report-private.h"

#define MARK "<- fastest that fits"
#define MIN_WIDTH 72
#define BOLD_RED "\x1b[1;31m"
#define BOLD_GREEN "\x1b[1;32m"
#define PLAIN "\x1b[0m"

/* ---- words ---- */

char *
ss_sweep_where (const SsSweepRow *row)
{
  SsPeakPart part = ss_sweep_row_peak_part (row);

  if (row->verdict == SS_ROW_REFUSED)
    return g_strdup ("");
  if (part == SS_PEAK_LOADING)
    return g_strdup ("loading");
  if (part == SS_PEAK_OPTIMIZER)
    return g_strdup_printf ("step %u, optimizer", row->peak_step);
  return g_strdup_printf ("step %u, %s: %s", row->peak_step, row->peak_phase,
                          ss_peak_part_name (part));
}

char *
ss_sweep_end (const SsSweepRow *row)
{
  GString *text = g_string_new (NULL);

  if (row->oom_step > 0)
    g_string_append_printf (text, "step %u, ", row->oom_step);
  g_string_append (text, ss_phase_phrase (row->oom_phase));
  if (row->oom_layer >= 0)
    g_string_append_printf (text, " of layer %d", row->oom_layer);
  return g_string_free (text, FALSE);
}

char *
ss_sweep_row_name (const SsSweepTable *table, const SsSweepRow *row)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < table->paths->len; i++)
    if (g_array_index (table->is_varied, gboolean, i)
        && !g_str_equal (row->values[i], SS_SWEEP_LEFT_OUT))
      g_string_append_printf (text, "%s%s=%s", text->len > 0 ? ", " : "",
                              ss_sweep_table_label (table, i), row->values[i]);
  if (text->len == 0)
    g_string_append_printf (text, "%s=%s", ss_sweep_table_label (table, 0), row->values[0]);
  return g_string_free (text, FALSE);
}

/* ---- the floor ---- */

static gboolean
sweeps_checkpointing (const SsSweepTable *table)
{
  for (guint i = 0; i < table->paths->len; i++)
    if (!g_array_index (table->is_varied, gboolean, i))
      continue;
    else if (!g_str_has_prefix (g_ptr_array_index (table->paths, i), "checkpointing/"))
      return FALSE;
  return TRUE;
}

/* With which least is allocated, and of those the fastest. */
static const SsSweepRow *
lowest_row (const SsSweepTable *table, guint *n_at_lowest, guint *n_runs)
{
  const SsSweepRow *lowest = NULL;

  *n_at_lowest = *n_runs = 0;
  for (guint i = 0; i < table->rows->len; i++)
    {
      const SsSweepRow *row = ss_sweep_table_row (table, i);

      if (row->verdict == SS_ROW_REFUSED)
        continue;
      ++*n_runs;
      if (lowest == NULL || row->peak_allocated_bytes < lowest->peak_allocated_bytes)
        *n_at_lowest = 0;
      if (*n_at_lowest == 0
          || (row->peak_allocated_bytes == lowest->peak_allocated_bytes
              && row->step_ns < lowest->step_ns))
        lowest = row;
      if (row->peak_allocated_bytes == lowest->peak_allocated_bytes)
        ++*n_at_lowest;
    }
  return lowest;
}

char *
ss_sweep_floor (const SsSweepTable *table, SsMemoryUnits units)
{
  guint n_at_lowest, n_runs;
  const SsSweepRow *row = lowest_row (table, &n_at_lowest, &n_runs);
  g_autofree char *name = NULL, *peak = NULL, *bytes = NULL, *gain = NULL;
  SsPeakPart part;
  guint64 gain_bytes;

  if (row == NULL || n_runs < 2 || !sweeps_checkpointing (table))
    return NULL;
  name = ss_sweep_row_name (table, row);
  peak = ss_format_bytes (row->peak_allocated_bytes, units, 1);
  part = ss_sweep_row_peak_part (row);
  bytes = ss_format_bytes (row->by_category[SS_CATEGORY_ACTIVATIONS], units, 1);
  gain_bytes = row->peak_allocated_bytes - row->floor_bytes;
  gain = ss_format_bytes (gain_bytes, units, 1);
  if (part == SS_PEAK_OPTIMIZER || part == SS_PEAK_LOADING)
    return g_strdup_printf ("Least is allocated with %s: at most %s, %s, where no layer's "
                            "activations are held. More checkpoints cannot lower it.",
                            name, peak, ss_phase_phrase (row->peak_phase));
  if (part != SS_PEAK_ACTIVATIONS)
    {
      GString *text = g_string_new (NULL);

      g_string_printf (text, "Least is allocated with %s: at most %s, %s of step %u", name, peak,
                       ss_phase_phrase (row->peak_phase), row->peak_step);
      if (gain_bytes > 0)
        g_string_append_printf (text, ". Other checkpoints could lower it by %s at most.", gain);
      else
        g_string_append (text, ". More checkpoints cannot lower it.");
      return g_string_free (text, FALSE);
    }
  if (n_at_lowest > 1)
    return g_strdup_printf ("Least is allocated with %s and %u other%s: at most %s. Checkpoints "
                            "that cost more time did not lower it.",
                            name, n_at_lowest - 1, n_at_lowest == 2 ? "" : "s", peak);
  return g_strdup_printf ("Least is allocated with %s: at most %s, %s of it activations.", name,
                          peak, bytes);
}

/* ---- the table ---- */

typedef struct
{
  const SsSweepTable *table;
  SsReport report;
  SsByteScale scale;
  guint fastest;
  gboolean is_by_token;
  guint where_width;
  GArray *columns;               /* guint: index of each path that has a column */
  GArray *widths;                /* guint, of those */
} Printing;

static guint
width_of (const char *text)
{
  return (guint) g_utf8_strlen (text, -1);
}

static void
pad (GString *text, guint n)
{
  for (; n > 0; n--)
    g_string_append_c (text, ' ');
}

static void
append_cell (GString *text, const char *cell, guint width, gboolean is_right)
{
  guint length = width_of (cell), room = width > length ? width - length : 0;

  if (is_right)
    pad (text, room);
  g_string_append (text, cell);
  if (!is_right)
    pad (text, room);
}

static void
choose_columns (Printing *p)
{
  const SsSweepTable *table = p->table;

  for (guint i = 0; i < table->paths->len; i++)
    {
      guint width = width_of (ss_sweep_table_label (table, i));

      if (!g_array_index (table->is_varied, gboolean, i)
          && !(i + 1 == table->paths->len && p->columns->len == 0))
        continue;
      for (guint r = 0; r < table->rows->len; r++)
        width = MAX (width, width_of (ss_sweep_table_row (table, r)->values[i]));
      g_array_append_val (p->columns, i);
      g_array_append_val (p->widths, width);
    }
}

static void
append_values (Printing *p, char *const *values)
{
  GString *text = p->report.text;

  for (guint c = 0; c < p->columns->len; c++)
    {
      guint path = g_array_index (p->columns, guint, c);
      const char *cell = values != NULL ? values[path] : ss_sweep_table_label (p->table, path);
      g_autofree char *clean = ss_clean_text (cell);

      append_cell (text, clean, g_array_index (p->widths, guint, c),
                   g_array_index (p->table->is_numeric, gboolean, path));
      g_string_append (text, "  ");
    }
}

static void
append_fixed_cell (GString *text, double value, guint decimals, guint width)
{
  g_autoptr (GString) cell = g_string_new (NULL);

  if (isfinite (value))
    ss_append_fixed (cell, value, decimals);
  else
    g_string_append_c (cell, '-');
  append_cell (text, cell->str, width, TRUE);
}

static guint
time_decimals (const SsSweepTable *table)
{
  double most = 0;

  for (guint i = 0; i < table->rows->len; i++)
    most = MAX (most, (double) ss_sweep_table_row (table, i)->step_ns / 1e6);
  return most < 10 ? 3 : most < 100 ? 2 : most < 1000 ? 1 : 0;
}

static void
append_where (Printing *p, guint index)
{
  const SsSweepRow *row = ss_sweep_table_row (p->table, index);
  GString *text = p->report.text;
  gboolean has_colour = p->report.style.has_colour;
  g_autofree char *where = ss_sweep_where (row);

  if (row->verdict == SS_ROW_OUT_OF_MEMORY)
    {
      g_string_append_printf (text, "%sOUT OF MEMORY%s, ", has_colour ? BOLD_RED : "",
                              has_colour ? PLAIN : "");
      if (row->oom_step > 0)
        g_string_append_printf (text, "step %u, ", row->oom_step);
      g_string_append (text, row->oom_phase);
      if (ss_sweep_row_is_in_pieces (row))
        g_string_append (text, ", in pieces");
    }
  else if (index == p->fastest)
    {
      append_cell (text, where, p->where_width, FALSE);
      g_string_append_printf (text, "  %s" MARK "%s", has_colour ? BOLD_GREEN : "",
                              has_colour ? PLAIN : "");
    }
  else
    g_string_append (text, where);
}

/* "--set PATH=VALUE: why" without what the row says anyway. */
static const char *
short_problem (const char *problem)
{
  const char *colon = strstr (problem, ": ");

  return g_str_has_prefix (problem, "--set ") && colon != NULL ? colon + 2 : problem;
}

static void
append_row (Printing *p, guint index)
{
  const SsSweepRow *row = ss_sweep_table_row (p->table, index);
  GString *text = p->report.text;
  gboolean fits = row->verdict == SS_ROW_FITS;
  guint64 need_bytes = ss_sweep_row_need_bytes (row);
  g_autofree char *headroom = NULL;

  append_values (p, row->values);
  if (row->verdict == SS_ROW_REFUSED)
    {
      g_autofree char *clean = ss_clean_text (short_problem (row->problem));

      g_string_append_printf (text, "refused: %s\n", clean);
      return;
    }
  append_fixed_cell (text, (double) ss_sweep_row_need_bytes (row) / p->scale.bytes, 1, 7);
  headroom = ss_format_rest_scaled ((guint64) ((gint64) need_bytes + row->headroom_bytes),
                                    need_bytes, p->scale, 1);
  append_cell (text, headroom, 10, TRUE);
  append_fixed_cell (text, fits ? (double) row->step_ns / 1e6 : NAN, time_decimals (p->table), 8);
  if (p->is_by_token)
    append_fixed_cell (text, fits ? row->tokens_per_s : NAN, 0, 10);
  g_string_append (text, "  ");
  append_where (p, index);
  g_string_append_c (text, '\n');
}

static void
append_header (Printing *p)
{
  GString *text = p->report.text;

  append_values (p, NULL);
  append_cell (text, "needs", 7, TRUE);
  append_cell (text, "headroom", 10, TRUE);
  append_cell (text, "step", 8, TRUE);
  if (p->is_by_token)
    append_cell (text, "tokens/s", 10, TRUE);
  g_string_append (text, "  where most is allocated\n");
}

static void
append_units (Printing *p)
{
  GString *text = p->report.text;
  guint indent = 0;

  for (guint c = 0; c < p->columns->len; c++)
    indent += g_array_index (p->widths, guint, c) + 2;
  pad (text, indent);
  append_cell (text, p->scale.name, 7, TRUE);
  append_cell (text, p->scale.name, 10, TRUE);
  append_cell (text, "ms", 8, TRUE);
  g_string_append_c (text, '\n');
}

/* What searches for the largest came to, one sentence a row. */
static void
append_found (Printing *p)
{
  for (guint i = 0; i < p->table->rows->len; i++)
    {
      const SsSweepRow *row = ss_sweep_table_row (p->table, i);

      if (row->found == NULL)
        continue;
      g_string_append_c (p->report.text, '\n');
      ss_report_wrap (&p->report, "", row->found);
    }
}

static void
measure (Printing *p)
{
  guint64 largest = 0;

  p->fastest = ss_sweep_table_fastest (p->table);
  p->is_by_token = ss_sweep_table_is_by_token (p->table);
  for (guint i = 0; i < p->table->rows->len; i++)
    {
      const SsSweepRow *row = ss_sweep_table_row (p->table, i);
      g_autofree char *where = ss_sweep_where (row);

      largest = MAX (largest, ss_sweep_row_need_bytes (row));
      if (row->verdict == SS_ROW_FITS)
        p->where_width = MAX (p->where_width, width_of (where));
    }
  p->scale = ss_byte_scale (p->report.style.units, largest);
}

char *
ss_sweep_report (const SsSweepTable *table, const SsReportStyle *style)
{
  GString *text = g_string_new (NULL);
  g_autoptr (GArray) columns = g_array_new (FALSE, FALSE, sizeof (guint)),
                     widths = g_array_new (FALSE, FALSE, sizeof (guint));
  Printing p = { .table = table, .report = { .style = *style, .text = text }, .columns = columns,
                 .widths = widths };
  g_autofree char *floor_words = NULL;

  g_return_val_if_fail (table != NULL && style != NULL, NULL);
  p.report.style.width = MAX (style->width, MIN_WIDTH);
  measure (&p);
  choose_columns (&p);
  append_header (&p);
  for (guint i = 0; i < table->rows->len; i++)
    append_row (&p, i);
  append_units (&p);
  append_found (&p);
  floor_words = ss_sweep_floor (table, style->units);
  if (floor_words != NULL)
    {
      g_string_append_c (text, '\n');
      ss_report_wrap (&p.report, "", floor_words);
    }
  return g_string_free (text, FALSE);
}
