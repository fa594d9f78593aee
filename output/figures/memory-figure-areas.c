/* SPDX-License-Identifier: MIT */
#include "output/figures/memory-figure-page.h"
#include "output/figures/stair.h"

#define BIN_PX 2

guint
ss_figure_n_points (const SsFigure *self)
{
  guint n_points = 0;

  for (guint b = 0; b <= SS_N_BANDS; b++)
    {
      g_autoptr (GArray) points
          = ss_stair (self->edges[b], self->timeline->n_columns, SS_PLOT_LEFT, 1);

      /* an area and the line on it */
      n_points += 2 * points->len;
    }
  return n_points;
}

/* From the top down, each filled to the axis: the lower ones cover.  The uppermost is edged by the
 * total. */
void
ss_figure_draw_areas (SsFigure *self)
{
  guint n_columns = self->timeline->n_columns;
  const double *total = self->edges[SS_N_BANDS];
  SsLineLook separator = { .colour = "#ffffff", .width_px = 1 },
             edge = { .colour = SS_INK, .width_px = 1.6 };
  g_autoptr (GArray) reserved = ss_stair (self->reserved_y, n_columns, SS_PLOT_LEFT, 1);
  g_autoptr (GArray) sum = ss_stair (total, n_columns, SS_PLOT_LEFT, 1);

  if (ss_stair_is_seen (self->reserved_y, total, n_columns))
    ss_canvas_area (self->canvas, reserved, SS_PLOT_BOTTOM, SS_COLOUR_CACHED, 1);
  for (guint b = SS_N_BANDS; b-- > 0;)
    {
      g_autoptr (GArray) points = NULL;

      if (!ss_stair_is_seen (self->edges[b + 1], self->edges[b], n_columns))
        continue;
      points = ss_stair (self->edges[b + 1], n_columns, SS_PLOT_LEFT, 1);
      ss_canvas_area (self->canvas, points, SS_PLOT_BOTTOM, ss_band_look ((SsBand)b)->area_colour,
                      1);
      if (ss_stair_is_seen (total, self->edges[b + 1], n_columns))
        ss_canvas_curve (self->canvas, points, &separator);
    }
  ss_canvas_curve (self->canvas, sum, &edge);
}

/* ---- how busy the device was ---- */

static void
draw_strip (SsFigure *self, const double *share, guint n_bins, double top, const char *name,
            const char *colour)
{
  double bottom = top + SS_STRIP_HEIGHT, sum = 0;
  g_autofree double *y = g_new (double, n_bins);
  g_autofree char *mean = NULL;
  g_autoptr (GArray) points = NULL;
  SsLineLook axis = { .colour = "#777777", .width_px = 1 };
  SsTextLook look = { .size_px = SS_TEXT_PX, .colour = colour },
             small = { .size_px = 14, .colour = SS_SOFT };

  for (guint i = 0; i < n_bins; i++)
    {
      y[i] = bottom - MIN (share[i], 1) * SS_STRIP_HEIGHT;
      sum += share[i];
    }
  points = ss_stair (y, n_bins, SS_PLOT_LEFT, (self->right - SS_PLOT_LEFT) / n_bins);
  mean = g_strdup_printf ("%.0f %% on average", 100 * sum / n_bins);
  ss_canvas_box (self->canvas, SS_LAYER_BEHIND,
                 &(SsRect){ SS_PLOT_LEFT, top, SS_PLOT_RIGHT, bottom }, "#f6f6f6");
  ss_canvas_area (self->canvas, points, bottom, colour, 0.75);
  ss_canvas_line (self->canvas, SS_LAYER_FRONT, (SsPoint) { SS_PLOT_LEFT, bottom },
                  (SsPoint) { SS_PLOT_RIGHT, bottom }, &axis);
  ss_canvas_text (self->canvas, (SsPoint) { SS_MARGIN_LEFT, top + 13 }, &look, name);
  ss_canvas_text (self->canvas, (SsPoint) { SS_MARGIN_LEFT, top + 33 }, &small, mean);
}

void
ss_figure_draw_strips (SsFigure *self)
{
  guint n_bins = self->timeline->n_columns / BIN_PX;
  g_autofree double *matmul = g_new (double, n_bins), *bandwidth = g_new (double, n_bins);

  if (self->timeline->is_by_event)
    return;
  ss_utilization (self->recording, self->timeline->end_ns, n_bins, matmul, bandwidth);
  draw_strip (self, matmul, n_bins, SS_STRIP_1_TOP, "matrix units", "#0072B2");
  draw_strip (self, bandwidth, n_bins, SS_STRIP_2_TOP, "memory bandwidth", "#007a5a");
}
