/* SPDX-License-Identifier: MIT
 *
 * Peak memory against the numbers that are swept, a line for each series.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/figures/sweep-figure-private.h"
#include "output/figures/text-width.h"

#define FAR_LIMIT 2.0
/* Numbers that grow by at least this factor each are spread by their logarithms. */
#define LOG_FACTOR 1.6
#define MAX_SERIES 12

/* In the order of the table; the rows of a series stand in the order of its numbers. */
typedef struct
{
  char *name;
  GArray *rows;                  /* guint */
} Series;

static void
clear_series (gpointer data)
{
  g_free (((Series *) data)->name);
  g_array_unref (((Series *) data)->rows);
}

static double
number_of (const SsSweepFigure *self, const SsSweepRow *row)
{
  return g_ascii_strtod (row->values[self->along], NULL);
}

static double
used_of (const SsSweepFigure *self, const SsSweepRow *row)
{
  return (double) ss_sweep_row_need_bytes (row) / self->scale.bytes;
}

/* The row after those with smaller numbers. */
static void
insert_row (const SsSweepFigure *self, Series *series, guint index)
{
  double number = number_of (self, ss_sweep_table_row (self->table, index));
  guint place = series->rows->len;

  while (place > 0
         && number_of (self, ss_sweep_table_row (self->table, g_array_index (series->rows, guint,
                                                                             place - 1)))
              > number)
    place--;
  g_array_insert_val (series->rows, place, index);
}

static GArray *
collect_series (const SsSweepFigure *self)
{
  GArray *all = g_array_new (FALSE, FALSE, sizeof (Series));

  g_array_set_clear_func (all, clear_series);
  for (guint i = 0; i < self->table->rows->len; i++)
    {
      const SsSweepRow *row = ss_sweep_table_row (self->table, i);
      g_autofree char *name = NULL;
      guint s = 0;

      if (row->verdict == SS_ROW_REFUSED
          || g_str_equal (row->values[self->along], SS_SWEEP_LEFT_OUT))
        continue;
      name = ss_sweep_figure_series (self, row);
      while (s < all->len && !g_str_equal (g_array_index (all, Series, s).name, name))
        s++;
      if (s == all->len)
        {
          Series series = { g_steal_pointer (&name), g_array_new (FALSE, FALSE, sizeof (guint)) };

          g_array_append_val (all, series);
        }
      insert_row (self, &g_array_index (all, Series, s), i);
    }
  return all;
}

/* ---- ranges ---- */

static gboolean
grows_by_factors (const SsSweepFigure *self, const Series *series)
{
  double before = 0;

  for (guint i = 0; i < series->rows->len; i++)
    {
      double number = number_of (self, ss_sweep_table_row (
        self->table, g_array_index (series->rows, guint, i)));

      if (number <= 0 || (before > 0 && number < LOG_FACTOR * before))
        return FALSE;
      before = number;
    }
  return series->rows->len > 3;
}

static void
set_ranges (SsSweepPlot *plot, const GArray *all)
{
  const SsSweepFigure *self = plot->figure;
  double capacity = (double) self->capacity_bytes / self->scale.bytes, span;

  plot->x_min = plot->y_min = HUGE_VAL;
  plot->x_max = plot->y_max = 0;
  plot->is_log_x = all->len > 0;
  plot->is_whole_x = TRUE;
  for (guint s = 0; s < all->len; s++)
    {
      const Series *series = &g_array_index (all, Series, s);

      plot->is_log_x = plot->is_log_x && grows_by_factors (self, series);
      for (guint i = 0; i < series->rows->len; i++)
        {
          const SsSweepRow *row
            = ss_sweep_table_row (self->table, g_array_index (series->rows, guint, i));

          plot->is_whole_x = plot->is_whole_x
                             && fabs (number_of (self, row) - rint (number_of (self, row))) < 1e-9;
          plot->x_min = MIN (plot->x_min, number_of (self, row));
          plot->x_max = MAX (plot->x_max, number_of (self, row));
          plot->y_min = MIN (plot->y_min, used_of (self, row));
          plot->y_max = MAX (plot->y_max, used_of (self, row));
        }
    }
  if (capacity > 0 && capacity <= FAR_LIMIT * plot->y_max)
    {
      plot->y_min = MIN (plot->y_min, capacity);
      plot->y_max = MAX (plot->y_max, capacity);
    }
  span = plot->y_max > plot->y_min ? plot->y_max - plot->y_min : MAX (plot->y_max, 1) * 0.2;
  plot->y_min = MAX (0, plot->y_min - 0.14 * span);
  plot->y_max += 0.14 * span;
  span = plot->x_max > plot->x_min ? plot->x_max - plot->x_min : MAX (plot->x_max, 1) * 0.2;
  if (plot->is_log_x)
    {
      double edge = pow (plot->x_max / plot->x_min, 0.05);

      plot->x_min /= edge;
      plot->x_max *= pow (edge, 3);
      return;
    }
  plot->x_min = MAX (0, plot->x_min - 0.05 * span);
  plot->x_max += 0.14 * span;
}

/* ---- what is drawn ---- */

static void
draw_capacity (SsSweepPlot *plot)
{
  const SsSweepFigure *self = plot->figure;
  g_autofree char *number = ss_sweep_figure_number (self, (double) self->capacity_bytes);
  g_autofree char *text = g_strdup_printf ("capacity %s", number);
  SsLineLook line = { .colour = SS_SWEEP_LIMIT, .width_px = 2.5 };
  SsTextLook look = { .size_px = SS_SWEEP_TEXT_PX, .colour = SS_SWEEP_LIMIT,
                      .align = SS_ALIGN_RIGHT };
  double width = ss_text_width (text, SS_SWEEP_TEXT_PX, FALSE), right = plot->area.right;
  double y = ss_sweep_plot_at (plot, plot->x_min,
                               (double) self->capacity_bytes / self->scale.bytes).y;
  SsRect shade = { plot->area.left, plot->area.top, right, y };

  if (self->capacity_bytes == 0 || y < plot->area.top)
    return;
  ss_canvas_box (self->canvas, SS_LAYER_BEHIND, &shade, SS_SWEEP_SHADE);
  ss_canvas_line (self->canvas, SS_LAYER_FRONT, (SsPoint) { plot->area.left, y },
                  (SsPoint) { right, y }, &line);
  ss_obstacles_add_rect (plot->obstacles, &(SsRect) { plot->area.left, y - 3, right, y + 3 });
  ss_canvas_text (self->canvas, (SsPoint) { right - 4, y - 14 }, &look, text);
  ss_sweep_plot_add_mark (plot, &(SsRect) { right - width - 4, y - 24, right, y - 4 });
}

static SsPoint
point_of (const SsSweepPlot *plot, guint index)
{
  const SsSweepRow *row = ss_sweep_table_row (plot->figure->table, index);

  return ss_sweep_plot_at (plot, number_of (plot->figure, row), used_of (plot->figure, row));
}

static void
draw_series (SsSweepPlot *plot, const Series *series)
{
  for (guint i = 1; i < series->rows->len; i++)
    ss_sweep_plot_draw_trail (plot, point_of (plot, g_array_index (series->rows, guint, i - 1)),
                              point_of (plot, g_array_index (series->rows, guint, i)));
  for (guint i = 0; i < series->rows->len; i++)
    {
      guint index = g_array_index (series->rows, guint, i);

      ss_sweep_plot_draw_dot (plot, point_of (plot, index),
                              ss_sweep_table_row (plot->figure->table, index)->verdict
                                == SS_ROW_FITS);
    }
}

/* The series by its name at its end, its lowest point by its number: where that is an end, there is
 * no U. */
static void
label_series (SsSweepPlot *plot, const Series *series)
{
  const SsSweepFigure *self = plot->figure;
  guint lowest = 0, last = series->rows->len - 1;
  SsTextLook look = { .size_px = SS_SWEEP_TEXT_PX, .colour = SS_SWEEP_INK };
  g_autofree char *number = NULL, *text = NULL;
  const SsSweepRow *row;

  for (guint i = 1; i <= last; i++)
    if (ss_sweep_row_need_bytes (
          ss_sweep_table_row (self->table, g_array_index (series->rows, guint, i)))
        < ss_sweep_row_need_bytes (
          ss_sweep_table_row (self->table, g_array_index (series->rows, guint, lowest))))
      lowest = i;
  row = ss_sweep_table_row (self->table, g_array_index (series->rows, guint, lowest));
  number = ss_sweep_figure_number (self, (double) ss_sweep_row_need_bytes (row));
  text = g_strdup_printf ("lowest %s at %s", number, row->values[self->along]);
  ss_sweep_plot_label (plot, point_of (plot, g_array_index (series->rows, guint, lowest)), text,
                       NULL, &look, SS_NEAR);
  if (*series->name != '\0')
    ss_sweep_plot_label (plot, point_of (plot, g_array_index (series->rows, guint, last)),
                         series->name, NULL, &look, SS_NEAR);
}

void
ss_sweep_figure_draw_values (SsSweepFigure *self)
{
  SsSweepPlot plot;
  g_autoptr (GArray) all = collect_series (self);
  g_autofree char *y_title
    = g_strdup_printf ("GPU memory needed (%s)", self->scale.name);
  const char *label = ss_sweep_table_label (self->table, (guint) self->along);
  g_autofree char *head = g_strdup_printf ("Memory needed against %s", label);
  SsTextLook look = { .size_px = 20, .colour = SS_SWEEP_INK, .is_bold = TRUE };

  if (all->len == 0)
    return;
  ss_sweep_plot_init (&plot, self, SS_SWEEP_DOWN);
  set_ranges (&plot, all);
  ss_canvas_text (self->canvas, (SsPoint) { SS_SWEEP_LEFT, plot.area.top - 24 }, &look, head);
  ss_sweep_plot_draw_axes (&plot, label, y_title);
  draw_capacity (&plot);
  for (guint s = 0; s < all->len; s++)
    draw_series (&plot, &g_array_index (all, Series, s));
  for (guint s = 0; s < MIN (all->len, MAX_SERIES); s++)
    label_series (&plot, &g_array_index (all, Series, s));
  ss_sweep_plot_clear (&plot);
}
