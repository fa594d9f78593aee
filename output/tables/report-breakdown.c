/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "output/figures/band.h"
#include "output/verdict.h"
#include "output/tables/report-private.h"

#define LABEL_COLUMNS 24         /* "reserved at other times" */
#define NUMBER_COLUMNS 10
#define REMARK_COLUMNS 28

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

/* What is less than this part of the sum is told as one, where a screen must hold all. */
#define SMALL_PART 100

/* The last rows, all those that are small, as one that names the two largest. */
static void
join_small (GArray *rows, guint64 sum_bytes)
{
  Row other = { .label = "other", .colour = 250, .category = SS_N_CATEGORIES };
  guint n = 0;

  for (guint i = 0; i < rows->len; i++)
    n += g_array_index (rows, Row, i).bytes < sum_bytes / SMALL_PART ? 1 : 0;
  if (n < 2)
    return;
  for (guint i = rows->len; i-- > 0;)
    {
      if (g_array_index (rows, Row, i).bytes >= sum_bytes / SMALL_PART)
        continue;
      other.bytes += g_array_index (rows, Row, i).bytes;
      g_array_remove_index (rows, i);
    }
  g_array_append_val (rows, other);
}

/* The categories by size, then what belongs to none.  Together they are what the device shows: of a
 * run that fits, at its peak. */
static GArray *
rows_of (const SsReport *report, const SsPeakRecord *state, guint64 *sum_bytes)
{
  const SsRecording *recording = report->recording;
  GArray *rows = g_array_new (FALSE, TRUE, sizeof (Row));
  guint64 cached_bytes = state->reserved_bytes - state->allocated_bytes;
  guint64 peak_bytes = recording->is_oom ? state->reserved_bytes : recording->peak_reserved_bytes;

  for (guint i = 0; i < SS_N_CATEGORIES; i++)
    add_row (rows, ss_category_name ((SsCategory) i), state->by_category[i],
             ss_band_look (ss_band_of ((SsCategory) i))->terminal_colour, (SsCategory) i);
  g_array_sort (rows, by_size);
  add_row (rows, "cached, not in use", cached_bytes, 250, SS_N_CATEGORIES);
  add_row (rows, "reserved at other times", peak_bytes - state->reserved_bytes, 250,
           SS_N_CATEGORIES);
  add_row (rows, "CUDA context", recording->context_bytes - recording->other_processes_bytes, 250,
           SS_N_CATEGORIES);
  add_row (rows, "other processes", recording->other_processes_bytes, 250, SS_N_CATEGORIES);
  *sum_bytes = recording->context_bytes + peak_bytes;
  if (!report->style.is_verbose)
    join_small (rows, *sum_bytes);
  return rows;
}

/* The numbers of the rows such that they add up to the sum as it is printed: each is rounded, and
 * what is left over goes to those that rounding has changed most. In units of the last decimal. */
static gint64 *
printed_numbers (const GArray *rows, guint64 sum_bytes, SsByteScale scale)
{
  double unit = scale.bytes / 100;
  gint64 *numbers = g_new (gint64, rows->len + 1);
  gint64 left = (gint64) ((double) sum_bytes / unit + 0.5);

  for (guint i = 0; i < rows->len; i++)
    {
      numbers[i] = (gint64) ((double) g_array_index (rows, Row, i).bytes / unit + 0.5);
      left -= numbers[i];
    }
  while (left != 0 && rows->len > 0)
    {
      gint64 step = left > 0 ? 1 : -1;
      double most = -HUGE_VAL;
      guint chosen = 0;

      for (guint i = 0; i < rows->len; i++)
        {
          double exact = (double) g_array_index (rows, Row, i).bytes / unit;
          double gain = (double) step * (exact - (double) numbers[i]);

          if (gain > most)
            {
              most = gain;
              chosen = i;
            }
        }
      numbers[chosen] += step;
      left -= step;
    }
  return numbers;
}

static void
append_sum (SsReport *report, guint64 sum_bytes, SsByteScale scale)
{
  const SsRecording *recording = report->recording;
  guint before = report->style.width - REMARK_COLUMNS - NUMBER_COLUMNS;
  g_autofree char *sum = ss_format_scaled (sum_bytes, scale, 2);
  g_autofree char *limit = ss_format_scaled (recording->usable_bytes, scale, 2);
  g_autofree char *rest = ss_format_rest_scaled (recording->usable_bytes, sum_bytes, scale, 2);

  g_string_append_printf (report->text, "%*s%*s", (int) before, recording->is_oom ? "in use" :
                          "peak", NUMBER_COLUMNS, sum);
  if (recording->capacity_bytes < G_MAXINT64)
    g_string_append_printf (report->text, "  of %s, %s%s", limit,
                            recording->is_oom ? "free " : "headroom ", rest);
  g_string_append_c (report->text, '\n');
}

char *
ss_report_where (const SsPeakRecord *state)
{
  return state->step > 0 ? g_strdup_printf ("At its fullest, step %u, %s", state->step,
                                            state->phase)
                         : g_strdup ("At its fullest, while loading");
}

static void
append_row (SsReport *report, const SsPeakRecord *state, const Row *row, gint64 number,
            guint64 largest_bytes)
{
  guint bar_columns = report->style.width - 3 - LABEL_COLUMNS - NUMBER_COLUMNS - REMARK_COLUMNS;
  g_autoptr (GString) text = g_string_new (NULL);

  ss_append_fixed (text, (double) number / 100, 2);
  g_string_append_printf (report->text, "  %-*s", LABEL_COLUMNS, row->label);
  append_bar (report, row->bytes, largest_bytes, bar_columns, row->colour);
  g_string_append_printf (report->text, " %*s", NUMBER_COLUMNS, text->str);
  append_remark (report, state, row);
  g_string_append_c (report->text, '\n');
}

void
ss_report_breakdown (SsReport *report, const char *title, const SsPeakRecord *state)
{
  guint64 sum_bytes = 0, largest_bytes = 1;
  g_autoptr (GArray) rows = rows_of (report, state, &sum_bytes);
  g_autofree gint64 *numbers = NULL;
  SsByteScale scale = ss_byte_scale (report->style.units, sum_bytes);

  for (guint i = 0; i < rows->len; i++)
    largest_bytes = MAX (largest_bytes, g_array_index (rows, Row, i).bytes);
  numbers = printed_numbers (rows, sum_bytes, scale);
  g_string_append_printf (report->text, "%-*s%*s\n",
                          (int) (report->style.width - REMARK_COLUMNS - NUMBER_COLUMNS), title,
                          NUMBER_COLUMNS, scale.name);
  for (guint i = 0; i < rows->len; i++)
    if (numbers[i] > 0)
      append_row (report, state, &g_array_index (rows, Row, i), numbers[i], largest_bytes);
  append_sum (report, sum_bytes, scale);
}
