/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "output/figures/band.h"
#include "output/verdict.h"
#include "output/tables/report-private.h"

#define LABEL_COLUMNS 22         /* "gradient accumulation" */
#define NUMBER_COLUMNS 10
#define REMARK_COLUMNS 24

typedef struct
{
  char label[32];
  guint64 bytes;
  guint colour;
  SsCategory category;           /* SS_N_CATEGORIES: of none */
} Row;

/* `filled` eighths of a column, so that small amounts show too. */
static void
append_bar (SsReport *report, guint64 bytes, guint64 full_bytes, guint columns, guint colour)
{
  static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
  guint n_parts = report->style.is_utf8 ? 8 : 1;
  double exact = (double) bytes / (double) full_bytes * columns * n_parts;
  guint filled = MAX ((guint) (exact + 0.5), 1), n_glyphs = (filled + n_parts - 1) / n_parts;

  if (report->style.has_colour)
    g_string_append_printf (report->text, "\x1b[38;5;%um", colour);
  for (guint i = 0; i < filled / n_parts; i++)
    g_string_append (report->text, report->style.is_utf8 ? "█" : "#");
  if (filled % n_parts != 0)
    g_string_append (report->text, eighths[filled % n_parts]);
  if (report->style.has_colour)
    g_string_append (report->text, "\x1b[0m");
  for (guint i = n_glyphs; i < columns; i++)
    g_string_append_c (report->text, ' ');
}

/* Whose activations are there: forward has come to a layer, backward is back at it; between them
 * all are.  Outside of layers forward may not have begun with them, or backward be done. */
static void
append_layers (GString *text, const SsRecording *recording, const SsPeakRecord *state)
{
  gboolean is_forward = g_strcmp0 (state->phase, "forward") == 0;
  gboolean is_loss = g_strcmp0 (state->phase, "loss") == 0;
  gboolean keeps_all = g_strcmp0 (recording->policy, "none") == 0;
  const char *plural = recording->n_layers == 1 ? "" : "s";

  if (!is_forward && !is_loss && g_strcmp0 (state->phase, "backward") != 0)
    return;
  keeps_all = keeps_all && (is_loss || state->layer >= 0);
  g_string_append (text, keeps_all ? "  " : "  of ");
  if (is_loss || state->layer < 0)
    g_string_append_printf (text, "%u layer%s", recording->n_layers, plural);
  else if (state->layer == 0)
    g_string_append (text, "layer 0");
  else
    g_string_append_printf (text, "layers 0-%d", state->layer);
  if (keeps_all)
    g_string_append (text, ", all kept");
}

static void
append_remark (SsReport *report, const SsPeakRecord *state, const Row *row)
{
  const SsRecording *recording = report->recording;
  gboolean is_after_update = recording->is_oom && recording->oom.at.step > 1;

  if (row->category == SS_CATEGORY_OPTIMIZER_STATES && is_after_update
      && recording->state_bytes_new > 0)
    g_string_append (report->text, "  new since step 1");
  else if (row->category == SS_CATEGORY_ACTIVATIONS)
    append_layers (report->text, recording, state);
}

static gint
by_size (gconstpointer a, gconstpointer b)
{
  const Row *x = a, *y = b;

  if (x->bytes != y->bytes)
    return x->bytes < y->bytes ? 1 : -1;
  return (gint) x->category - (gint) y->category;
}

static void
add_row (GArray *rows, const char *label, guint64 bytes, guint colour, SsCategory category)
{
  Row row = { .bytes = bytes, .colour = colour, .category = category };

  if (bytes == 0)
    return;
  g_strlcpy (row.label, label, sizeof row.label);
  g_strdelimit (row.label, "_", ' ');
  g_array_append_val (rows, row);
}

/* The categories by size, then what belongs to none. */
static GArray *
rows_of (const SsRecording *recording, const SsPeakRecord *state)
{
  GArray *rows = g_array_new (FALSE, TRUE, sizeof (Row));

  for (guint i = 0; i < SS_N_CATEGORIES; i++)
    add_row (rows, ss_category_name ((SsCategory) i), state->by_category[i],
             ss_band_look (ss_band_of ((SsCategory) i))->terminal_colour, (SsCategory) i);
  g_array_sort (rows, by_size);
  if (recording->is_oom)
    add_row (rows, "cached, not in use", state->reserved_bytes - state->allocated_bytes, 250,
             SS_N_CATEGORIES);
  add_row (rows, "CUDA context", recording->context_bytes - recording->other_processes_bytes, 250,
           SS_N_CATEGORIES);
  add_row (rows, "other processes", recording->other_processes_bytes, 250, SS_N_CATEGORIES);
  return rows;
}

static void
append_sum (SsReport *report, guint64 sum_bytes, SsByteScale scale)
{
  const SsRecording *recording = report->recording;
  guint before = report->style.width - REMARK_COLUMNS - NUMBER_COLUMNS;
  g_autofree char *sum = ss_format_scaled (sum_bytes, scale, 2), *limit = NULL, *lacking = NULL;

  g_string_append_printf (report->text, "%*s%*s", (int) before, "in use", NUMBER_COLUMNS, sum);
  if (recording->capacity_bytes < G_MAXINT64)
    {
      limit = ss_format_scaled (recording->capacity_bytes, scale, 2);
      g_string_append_printf (report->text, "  of %s", limit);
    }
  g_string_append_c (report->text, '\n');
  if (!recording->is_oom)
    return;
  lacking = ss_format_scaled (ss_verdict_short_bytes (recording), scale, 2);
  g_string_append_printf (report->text, "%*s%*s\n", (int)before, "short of", NUMBER_COLUMNS,
                          lacking);
}

void
ss_report_breakdown (SsReport *report, const char *title, const SsPeakRecord *state)
{
  const SsRecording *recording = report->recording;
  g_autoptr (GArray) rows = rows_of (recording, state);
  guint bar_columns = report->style.width - 3 - LABEL_COLUMNS - NUMBER_COLUMNS - REMARK_COLUMNS;
  guint64 sum_bytes = 0, largest_bytes = 1;
  SsByteScale scale;

  for (guint i = 0; i < rows->len; i++)
    {
      sum_bytes += g_array_index (rows, Row, i).bytes;
      largest_bytes = MAX (largest_bytes, g_array_index (rows, Row, i).bytes);
    }
  scale = ss_byte_scale (report->style.units, sum_bytes);
  g_string_append_printf (report->text, "%-*s%*s\n",
                          (int) (report->style.width - REMARK_COLUMNS - NUMBER_COLUMNS), title,
                          NUMBER_COLUMNS, scale.name);
  for (guint i = 0; i < rows->len; i++)
    {
      const Row *row = &g_array_index (rows, Row, i);
      g_autofree char *number = ss_format_scaled (row->bytes, scale, 2);

      /* it counts in the sum, but a line would say 0.00 */
      if ((double) row->bytes < 0.005 * scale.bytes)
        continue;
      g_string_append_printf (report->text, "  %-*s", LABEL_COLUMNS, row->label);
      append_bar (report, row->bytes, largest_bytes, bar_columns, row->colour);
      g_string_append_printf (report->text, " %*s", NUMBER_COLUMNS, number);
      append_remark (report, state, row);
      g_string_append_c (report->text, '\n');
    }
  append_sum (report, sum_bytes, scale);
}
