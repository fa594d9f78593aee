/* SPDX-License-Identifier: MIT
 *
 * Step time against peak memory.
 */
#include <math.h>
#include <string.h>

#include "output/finding.h"
#include "output/sweep-figure-private.h"
#include "output/sweep-report.h"
#include "output/text-width.h"

/* A limit this many times above what is used would press the points into a corner. */
#define FAR_LIMIT 2.0
#define SAME_PX 3                /* points nearer than this are one */
#define MAX_LABELS 48
#define SMALL_PX 13              /* of the numbers along a line */
#define MAX_NAMES 3              /* of runs at one point that its label says */

/* Runs that are drawn as one point. */
typedef struct
{
  SsPoint at;
  gboolean fits;
  GArray *rows;                  /* guint: indices */
  guint rank;                    /* the lower, the sooner it is labelled */
} Cluster;

typedef struct
{
  SsSweepFigure *figure;
  SsSweepPlot plot;
  GArray *clusters;              /* Cluster */
  double per_tick;               /* cost of one of the axis: ns of a ms, or of a ms for 1000 */
} CostPlot;

static void
clear_cluster (gpointer data)
{
  g_array_unref (((Cluster *) data)->rows);
}

static double
cost_of (const CostPlot *self, const SsSweepRow *row, gboolean is_by_token)
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
set_ranges (CostPlot *self, gboolean is_by_token)
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
      include ((double) ss_sweep_row_used_bytes (row) / figure->scale.bytes, &plot->x_min,
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
draw_capacity (CostPlot *self)
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

/* "does not fit: OOM in step 2, at the loss" of the fastest that does not, where there is room. */
static void
draw_verdict (CostPlot *self)
{
  SsSweepPlot *plot = &self->plot;
  const SsSweepFigure *figure = self->figure;
  const SsSweepRow *row = NULL;
  double left, width = 0;
  g_autofree char *second = NULL;
  const char *lines[3] = { "does not fit:" };
  SsTextLook look = { .size_px = SS_SWEEP_TEXT_PX, .colour = SS_SWEEP_LIMIT,
                      .align = SS_ALIGN_CENTRE };
  SsRect place;

  for (guint i = 0; i < figure->table->rows->len && row == NULL; i++)
    if (ss_sweep_table_row (figure->table, i)->verdict == SS_ROW_OUT_OF_MEMORY)
      row = ss_sweep_table_row (figure->table, i);
  if (row == NULL || figure->capacity_bytes == 0)
    return;
  left = ss_sweep_plot_at (plot, (double) figure->capacity_bytes / figure->scale.bytes, 0).x + 5;
  second = row->oom_step > 0 ? g_strdup_printf ("OOM in step %u,", row->oom_step)
                             : g_strdup ("OOM");
  lines[1] = second;
  lines[2] = ss_phase_phrase (row->oom_phase);
  for (guint i = 0; i < 3; i++)
    width = MAX (width, ss_text_width (lines[i], SS_SWEEP_TEXT_PX, FALSE));
  for (double y = plot->area.top + 8; y + 62 < plot->area.bottom; y += 8)
    {
      double middle = (left + plot->area.right) / 2;

      place = (SsRect) { middle - width / 2, y, middle + width / 2, y + 62 };
      if (place.left < left || ss_obstacles_touch_rect (plot->obstacles, &place))
        continue;
      for (guint i = 0; i < 3; i++)
        ss_canvas_text (figure->canvas, (SsPoint) { middle, y + 10 + 20.0 * i }, &look, lines[i]);
      ss_sweep_plot_add_mark (plot, &place);
      return;
    }
}

/* ---- points ---- */

static void
add_point (CostPlot *self, guint index, SsPoint at, gboolean fits)
{
  Cluster cluster = { .at = at, .fits = fits, .rank = 3 };

  for (guint i = 0; i < self->clusters->len; i++)
    {
      Cluster *other = &g_array_index (self->clusters, Cluster, i);

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
point_of (const CostPlot *self, const SsSweepRow *row, gboolean is_by_token)
{
  return ss_sweep_plot_at (&self->plot,
                           (double) ss_sweep_row_used_bytes (row) / self->figure->scale.bytes,
                           cost_of (self, row, is_by_token));
}

/* Points of one series, one after the other. */
static void
draw_trails (CostPlot *self, gboolean is_by_token)
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
draw_points (CostPlot *self, gboolean is_by_token)
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
      const Cluster *cluster = &g_array_index (self->clusters, Cluster, i);

      ss_sweep_plot_draw_dot (&self->plot, cluster->at, cluster->fits);
    }
}

/* *middle: where its name belongs. FALSE: there is none. */
static gboolean
draw_curve (CostPlot *self, SsPoint *middle)
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

/* ---- labels ---- */

static gboolean
has_row (const Cluster *cluster, guint index)
{
  for (guint i = 0; i < cluster->rows->len; i++)
    if (g_array_index (cluster->rows, guint, i) == index)
      return TRUE;
  return FALSE;
}

/* "layers 28 and layers 32": no name twice, and no more than a label can take. */
static char *
cluster_name (const CostPlot *self, const Cluster *cluster)
{
  GString *text = g_string_new (NULL);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < cluster->rows->len; i++)
    {
      guint index = g_array_index (cluster->rows, guint, i);
      char *name = ss_sweep_figure_name (self->figure,
                                         ss_sweep_table_row (self->figure->table, index),
                                         cluster->rank == 3);

      if (g_ptr_array_find_with_equal_func (names, name, g_str_equal, NULL))
        g_free (name);
      else
        g_ptr_array_add (names, name);
    }
  for (guint i = 0; i < MIN (names->len, MAX_NAMES); i++)
    g_string_append_printf (text, "%s%s", i == 0 ? "" : i + 1 == names->len ? " and " : ", ",
                            (char *) g_ptr_array_index (names, i));
  if (names->len > MAX_NAMES)
    g_string_append_printf (text, " and %u more", names->len - MAX_NAMES);
  return g_string_free (text, FALSE);
}

static gint
by_rank (gconstpointer a, gconstpointer b)
{
  const Cluster *const *x = a, *const *y = b;

  if ((*x)->rank != (*y)->rank)
    return (*x)->rank < (*y)->rank ? -1 : 1;
  return *x < *y ? -1 : *x > *y;
}

/* A label in the fullest words that find a place. */
static gboolean
try_words (CostPlot *self, const Cluster *cluster, const SsTextLook *look,
           const char *const *firsts, const char *const *seconds, guint n)
{
  for (guint i = 0; i < n; i++)
    if (ss_sweep_plot_label (&self->plot, cluster->at, firsts[i], seconds[i], look, SS_NEAR))
      return TRUE;
  return FALSE;
}

static void
label_fastest (CostPlot *self, const Cluster *cluster, const char *name)
{
  const SsSweepRow *row = ss_sweep_table_row (self->figure->table, self->figure->fastest);
  SsTextLook look = { .size_px = SS_SWEEP_TEXT_PX, .colour = SS_SWEEP_FITS, .is_bold = TRUE };
  g_autofree char *whole = g_strdup_printf ("%s: fastest that fits", name);
  g_autofree char *number = ss_sweep_figure_name (self->figure, row, TRUE);
  g_autofree char *brief = g_strdup_printf ("%s: fastest that fits", number);
  const char *firsts[] = { whole, name, brief };
  const char *seconds[] = { NULL, "fastest that fits", NULL };

  /* this one is there at any rate, if need be over a line, and then in the fewest words */
  if (!try_words (self, cluster, &look, firsts, seconds, G_N_ELEMENTS (firsts)))
    ss_sweep_plot_label (&self->plot, cluster->at, brief, NULL, &look, SS_ANYWHERE);
}

static void
label_lowest (CostPlot *self, const Cluster *cluster, const char *name, const SsTextLook *look)
{
  const SsSweepRow *row = ss_sweep_table_row (self->figure->table, self->figure->lowest);
  SsPeakPart part = ss_sweep_row_peak_part (row);
  g_autofree char *where = g_strdup_printf ("lowest peak: %s, %s", ss_peak_part_name (part),
                                            ss_phase_phrase (row->peak_phase));
  g_autofree char *what = g_strdup_printf ("lowest peak: %s", ss_peak_part_name (part));
  const char *firsts[] = { name, name, name, name };
  const char *seconds[] = { where, what, "lowest peak", NULL };

  if (part == SS_PEAK_OPTIMIZER)
    seconds[0] = "the peak is in the optimizer, more checkpoints buy nothing";
  try_words (self, cluster, look, firsts, seconds, G_N_ELEMENTS (firsts));
}

static void
label_cluster (CostPlot *self, const Cluster *cluster)
{
  g_autofree char *name = cluster_name (self, cluster);
  SsTextLook look = { .size_px = cluster->rank == 3 ? SMALL_PX : SS_SWEEP_TEXT_PX,
                      .colour = cluster->fits ? SS_SWEEP_INK : SS_SWEEP_LIMIT };

  if (has_row (cluster, self->figure->fastest))
    label_fastest (self, cluster, name);
  else if (has_row (cluster, self->figure->lowest))
    label_lowest (self, cluster, name, &look);
  else
    ss_sweep_plot_label (&self->plot, cluster->at, name, NULL, &look,
                         cluster->rank < 3 ? SS_NEAR : SS_BESIDE);
}

/* The fastest first, then the lowest, then what ends a series or stands alone. */
static void
rank_clusters (CostPlot *self)
{
  for (guint i = 0; i < self->clusters->len; i++)
    {
      Cluster *cluster = &g_array_index (self->clusters, Cluster, i);
      gint along = self->figure->along;

      if (has_row (cluster, self->figure->fastest))
        cluster->rank = 0;
      else if (has_row (cluster, self->figure->lowest))
        cluster->rank = 1;
      else if (i == 0 || i + 1 == self->clusters->len || along < 0
               || g_str_equal (ss_sweep_table_row (self->figure->table,
                                                   g_array_index (cluster->rows, guint, 0))
                                 ->values[along], SS_SWEEP_LEFT_OUT))
        cluster->rank = 2;
    }
}

static void
draw_labels (CostPlot *self)
{
  g_autoptr (GPtrArray) order = g_ptr_array_new ();

  rank_clusters (self);
  for (guint i = 0; i < self->clusters->len; i++)
    g_ptr_array_add (order, &g_array_index (self->clusters, Cluster, i));
  qsort (order->pdata, order->len, sizeof *order->pdata, by_rank);
  for (guint i = 0; i < MIN (order->len, MAX_LABELS); i++)
    label_cluster (self, g_ptr_array_index (order, i));
}

void
ss_sweep_figure_draw_cost (SsSweepFigure *self)
{
  gboolean is_by_token = ss_sweep_table_is_by_token (self->table);
  CostPlot cost = {
    .figure = self,
    .clusters = g_array_new (FALSE, FALSE, sizeof (Cluster)),
    .per_tick = is_by_token ? 1e3 : 1e6,
  };
  g_autofree char *x_title
    = g_strdup_printf ("peak GPU memory, context included (%s)", self->scale.name);
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
  draw_labels (&cost);
  if (has_curve)
    ss_sweep_plot_label (&cost.plot, middle, self->curve_name, NULL, &curve_look, SS_NEAR);
  draw_verdict (&cost);
  g_array_unref (cost.clusters);
  ss_sweep_plot_clear (&cost.plot);
}
