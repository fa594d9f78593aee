/* SPDX-License-Identifier: MIT
 *
 * Step time against peak memory.
 */
#include <math.h>
#include <string.h>

#include "output/verdict.h"
#include "output/figures/sweep-figure-private.h"
#include "output/figures/text-width.h"

/* A limit this many times above what is used would press the points into a corner. */
#define FAR_LIMIT 2.0
#define SAME_PX 3                /* points nearer than this are one */
#define MAX_LABELS 48
#define SMALL_PX 15              /* of the numbers along a line */
#define MAX_NAMES 3              /* of runs at one point that its label says */

static void
clear_cluster (gpointer data)
{
  g_array_unref (((SsSweepCluster *) data)->rows);
}

static double
cost_of (const SsSweepCost *self, const SsSweepRow *row, gboolean is_by_token)
{
  return (double) row->step_ns / (is_by_token ? (double) MAX (row->tokens_per_step, 1) : 1)
         / self->per_tick;
}

/* ---- ranges ---- */

static void
include (double value, double *min, double *max)
{
  *min = MIN (*min, value);
  *max = MAX (*max, value);
}

static void
widen (double *min, double *max, double share)
{
  double span = *max - *min;

  if (!(span > 0))
    span = *max > 0 ? *max * 0.2 : 1;
  *min = MAX (0, *min - share * span);
  *max += share * span;
}

static void
set_ranges (SsSweepCost *self, gboolean is_by_token)
{
  SsSweepPlot *plot = &self->plot;
  const SsSweepFigure *figure = self->figure;
  double capacity = (double) figure->capacity_bytes / figure->scale.bytes;

  plot->x_min = plot->y_min = HUGE_VAL;
  plot->x_max = plot->y_max = 0;
  for (guint i = 0; i < figure->table->rows->len; i++)
    {
      const SsSweepRow *row = ss_sweep_table_row (figure->table, i);

      if (row->verdict == SS_ROW_REFUSED)
        continue;
      include ((double) ss_sweep_row_need_bytes (row) / figure->scale.bytes, &plot->x_min,
               &plot->x_max);
      include (cost_of (self, row, is_by_token), &plot->y_min, &plot->y_max);
    }
  for (guint i = 0; figure->curve != NULL && i < figure->curve->len; i++)
    {
      const SsSweepCurvePoint *point = &g_array_index (figure->curve, SsSweepCurvePoint, i);

      include (point->used_bytes / figure->scale.bytes, &plot->x_min, &plot->x_max);
      include (point->cost / self->per_tick, &plot->y_min, &plot->y_max);
    }
  if (capacity > 0 && capacity <= FAR_LIMIT * plot->x_max)
    include (capacity, &plot->x_min, &plot->x_max);
  widen (&plot->x_min, &plot->x_max, 0.12);
  widen (&plot->y_min, &plot->y_max, 0.14);
}

/* ---- the capacity ---- */

static void
draw_capacity (SsSweepCost *self)
{
  SsSweepPlot *plot = &self->plot;
  const SsSweepFigure *figure = self->figure;
  g_autofree char *number = ss_sweep_figure_number (figure, (double) figure->capacity_bytes);
  g_autofree char *text = g_strdup_printf ("capacity %s", number);
  SsLineLook line = { .colour = SS_SWEEP_LIMIT, .width_px = 2.5 };
  SsTextLook look = { .size_px = SS_SWEEP_TEXT_PX, .colour = SS_SWEEP_LIMIT,
                      .align = SS_ALIGN_RIGHT };
  double width = ss_text_width (text, SS_SWEEP_TEXT_PX, FALSE), y = plot->area.bottom - 20;
  double x = ss_sweep_plot_at (plot, (double) figure->capacity_bytes / figure->scale.bytes,
                               plot->y_min).x;
  SsRect shade = { x, plot->area.top, plot->area.right, plot->area.bottom };

  if (figure->capacity_bytes == 0)
    return;
  if (x > plot->area.right)
    {
      g_autofree char *far = g_strdup_printf ("%s, far to the right", text);

      x = plot->area.right;
      width = ss_text_width (far, SS_SWEEP_TEXT_PX, FALSE);
      ss_canvas_text (figure->canvas, (SsPoint) { x - 6, y }, &look, far);
    }
  else
    {
      ss_canvas_box (figure->canvas, SS_LAYER_BEHIND, &shade, SS_SWEEP_SHADE);
      ss_canvas_line (figure->canvas, SS_LAYER_FRONT, (SsPoint) { x, plot->area.top },
                      (SsPoint) { x, plot->area.bottom }, &line);
      ss_obstacles_add_rect (plot->obstacles,
                             &(SsRect) { x - 3, plot->area.top, x + 3, plot->area.bottom });
      ss_canvas_text (figure->canvas, (SsPoint) { x - 6, y }, &look, text);
    }
  ss_sweep_plot_add_mark (plot, &(SsRect) { x - 8 - width, y - 10, x - 4, y + 10 });
}

/* What all rows that are out of memory have in common; phase "" and step 0 where they differ.
 * FALSE: none is. */
static gboolean
common_verdict (const SsSweepTable *table, guint *step, const char **phase)
{
  gboolean has_any = FALSE;

  for (guint i = 0; i < table->rows->len; i++)
    {
      const SsSweepRow *row = ss_sweep_table_row (table, i);

      if (row->verdict != SS_ROW_OUT_OF_MEMORY)
        continue;
      if (!has_any || row->oom_step != *step)
        *step = has_any ? 0 : row->oom_step;
      if (!has_any || g_strcmp0 (row->oom_phase, *phase) != 0)
        *phase = has_any ? "" : row->oom_phase;
      has_any = TRUE;
    }
  return has_any;
}

/* "does not fit: OOM in step 2, at the loss": as much as holds for all, where there is room. */
static void
draw_verdict (SsSweepCost *self)
{
  SsSweepPlot *plot = &self->plot;
  const SsSweepFigure *figure = self->figure;
  double left, width = 0;
  g_autofree char *second = NULL;
  guint step = 0, n_lines;
  const char *phase = NULL, *lines[3] = { "does not fit:" };
  SsTextLook look = { .size_px = SS_SWEEP_TEXT_PX, .colour = SS_SWEEP_LIMIT,
                      .align = SS_ALIGN_CENTRE };

  if (figure->capacity_bytes == 0 || !common_verdict (figure->table, &step, &phase))
    return;
  left = ss_sweep_plot_at (plot, (double) figure->capacity_bytes / figure->scale.bytes, 0).x + 5;
  lines[2] = ss_phase_phrase (phase);
  n_lines = *lines[2] != '\0' ? 3 : 2;
  second = step > 0 ? g_strdup_printf ("OOM in step %u%s", step, n_lines > 2 ? "," : "")
                    : g_strdup ("OOM");
  lines[1] = second;
  for (guint i = 0; i < n_lines; i++)
    width = MAX (width, ss_text_width (lines[i], SS_SWEEP_TEXT_PX, FALSE));
  for (double y = plot->area.top + 8; y + 2 + 20 * n_lines < plot->area.bottom; y += 8)
    {
      double middle = (left + plot->area.right) / 2;
      SsRect place = { middle - width / 2, y, middle + width / 2, y + 2 + 20 * n_lines };

      if (place.left < left || ss_obstacles_touch_rect (plot->obstacles, &place))
        continue;
      for (guint i = 0; i < n_lines; i++)
        ss_canvas_text (figure->canvas, (SsPoint) { middle, y + 10 + 20.0 * i }, &look, lines[i]);
      ss_sweep_plot_add_mark (plot, &place);
      return;
    }
}

/* ---- points ---- */

static void
add_point (SsSweepCost *self, guint index, SsPoint at, gboolean fits)
{
  SsSweepCluster cluster = { .at = at, .fits = fits, .rank = 3 };

  for (guint i = 0; i < self->clusters->len; i++)
    {
      SsSweepCluster *other = &g_array_index (self->clusters, SsSweepCluster, i);

      if (other->fits == fits && hypot (other->at.x - at.x, other->at.y - at.y) < SAME_PX)
        {
          g_array_append_val (other->rows, index);
          return;
        }
    }
  cluster.rows = g_array_new (FALSE, FALSE, sizeof (guint));
  g_array_append_val (cluster.rows, index);
  g_array_append_val (self->clusters, cluster);
}

static SsPoint
point_of (const SsSweepCost *self, const SsSweepRow *row, gboolean is_by_token)
{
  return ss_sweep_plot_at (&self->plot,
                           (double) ss_sweep_row_need_bytes (row) / self->figure->scale.bytes,
                           cost_of (self, row, is_by_token));
}

/* Points of one series, one after the other. */
static void
draw_trails (SsSweepCost *self, gboolean is_by_token)
{
  const SsSweepTable *table = self->figure->table;
  g_autoptr (GHashTable) last = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; self->figure->along >= 0 && i < table->rows->len; i++)
    {
      const SsSweepRow *row = ss_sweep_table_row (table, i), *before;
      char *series;

      if (row->verdict == SS_ROW_REFUSED
          || g_str_equal (row->values[self->figure->along], SS_SWEEP_LEFT_OUT))
        continue;
      series = ss_sweep_figure_series (self->figure, row);
      before = g_hash_table_lookup (last, series);
      if (before != NULL)
        ss_sweep_plot_draw_trail (&self->plot, point_of (self, before, is_by_token),
                                  point_of (self, row, is_by_token));
      g_hash_table_insert (last, series, (gpointer) row);
    }
}

static void
draw_points (SsSweepCost *self, gboolean is_by_token)
{
  const SsSweepTable *table = self->figure->table;

  for (guint i = 0; i < table->rows->len; i++)
    {
      const SsSweepRow *row = ss_sweep_table_row (table, i);

      if (row->verdict != SS_ROW_REFUSED)
        add_point (self, i, point_of (self, row, is_by_token), row->verdict == SS_ROW_FITS);
    }
  for (guint i = 0; i < self->clusters->len; i++)
    {
      const SsSweepCluster *cluster = &g_array_index (self->clusters, SsSweepCluster, i);

      ss_sweep_plot_draw_dot (&self->plot, cluster->at, cluster->fits);
    }
}

/* *middle: where its name belongs. FALSE: there is none. */
static gboolean
draw_curve (SsSweepCost *self, SsPoint *middle)
{
  const SsSweepFigure *figure = self->figure;
  g_autoptr (GArray) points = g_array_new (FALSE, FALSE, sizeof (SsPoint));
  SsLineLook look = { .colour = "#009E73", .width_px = 2 };
  SsPoint at;

  for (guint i = 0; figure->curve != NULL && i < figure->curve->len; i++)
    {
      const SsSweepCurvePoint *point = &g_array_index (figure->curve, SsSweepCurvePoint, i);

      at = ss_sweep_plot_at (&self->plot, point->used_bytes / figure->scale.bytes,
                             point->cost / self->per_tick);
      if (points->len > 0)
        ss_obstacles_add_line (self->plot.obstacles,
                               g_array_index (points, SsPoint, points->len - 1), at);
      g_array_append_val (points, at);
    }
  if (points->len < 2)
    return FALSE;
  ss_canvas_curve (figure->canvas, points, &look);
  *middle = g_array_index (points, SsPoint, points->len / 2);
  return TRUE;
}

void
ss_sweep_figure_draw_cost (SsSweepFigure *self)
{
  gboolean is_by_token = ss_sweep_table_is_by_token (self->table);
  SsSweepCost cost = {
    .figure = self,
    .clusters = g_array_new (FALSE, FALSE, sizeof (SsSweepCluster)),
    .per_tick = is_by_token ? 1e3 : 1e6,
  };
  g_autofree char *x_title
    = g_strdup_printf ("GPU memory needed (%s)", self->scale.name);
  SsTextLook curve_look = { .size_px = SS_SWEEP_TEXT_PX, .colour = "#00704f" };
  gboolean has_curve;
  SsPoint middle;

  ss_sweep_plot_init (&cost.plot, self, 0);
  g_array_set_clear_func (cost.clusters, clear_cluster);
  set_ranges (&cost, is_by_token);
  ss_sweep_plot_draw_axes (&cost.plot, x_title,
                           is_by_token ? "time for 1000 tokens (ms)" : "step time (ms)");
  draw_trails (&cost, is_by_token);
  draw_points (&cost, is_by_token);
  draw_capacity (&cost);
  has_curve = draw_curve (&cost, &middle);
  ss_sweep_cost_draw_labels (&cost);
  if (has_curve)
    ss_sweep_plot_label (&cost.plot, middle, self->curve_name, NULL, &curve_look, SS_NEAR);
  draw_verdict (&cost);
  g_array_unref (cost.clusters);
  ss_sweep_plot_clear (&cost.plot);
}
