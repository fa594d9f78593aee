/* SPDX-License-Identifier: MIT */
#include "output/figures/memory-figure.h"

#include <math.h>

#include "output/verdict.h"
#include "output/figures/memory-figure-page.h"
#include "output/figures/text-width.h"

/* A limit this many times above what is ever used would flatten the curve: the axis is broken below
 * it. */
#define FAR_LIMIT 2.5
#define BREAK_PX 32
#define OOM_TAIL_PX 30
#define MAX_POINTS 14000

double
ss_figure_x (const SsFigure *self, gint64 ns)
{
  if (self->timeline->is_by_event)
    return SS_PLOT_LEFT;
  return SS_PLOT_LEFT
         + (self->right - SS_PLOT_LEFT) * (double) ns / (double) self->timeline->end_ns;
}

double
ss_figure_y (const SsFigure *self, double bytes)
{
  return SS_PLOT_BOTTOM - bytes / self->bytes_at_top * (SS_PLOT_BOTTOM - SS_PLOT_TOP);
}

char *
ss_figure_number (const SsFigure *self, guint64 bytes)
{
  double top = self->axis_bytes / self->scale.bytes;

  return ss_format_scaled (bytes, self->scale, top < 10 ? 2 : top < 1000 ? 1 : 0);
}

double
ss_nice_step (double range, guint n_most)
{
  static const double factors[] = { 1, 2, 5, 10 };
  double power = pow (10, floor (log10 (range / n_most)));

  for (guint i = 0; i < G_N_ELEMENTS (factors); i++)
    if (range / (factors[i] * power) <= n_most)
      return factors[i] * power;
  return 10 * power;
}

/* The most that is ever used, cache and context included. */
static double
used_bytes (const SsMemoryTimeline *timeline)
{
  guint64 most = 1;

  for (guint i = 0; i < timeline->n_columns; i++)
    most = MAX (most, MAX (timeline->columns[i].reserved_bytes, timeline->columns[i].total_bytes));
  return (double) most;
}

static void
set_axis (SsFigure *self)
{
  const SsRecording *recording = self->recording;
  gboolean has_limit = recording->capacity_bytes < G_MAXINT64;
  double used = used_bytes (self->timeline),
         limit = has_limit ? (double)recording->capacity_bytes : 0;
  double head = SS_PLOT_HEAD, asked = limit + (double) ss_verdict_short_bytes (recording);

  self->is_broken = has_limit && !recording->is_oom && limit > FAR_LIMIT * used;
  /* a request many times what is there is cut off, its number says it */
  self->axis_bytes = MAX (MAX (used * (self->is_broken || !has_limit ? 1.12 : 1), limit),
                          MIN (asked, 1.2 * limit));
  if (self->is_broken)
    {
      self->axis_bytes = used * 1.12;
      head += BREAK_PX;
    }
  self->bytes_at_top = self->axis_bytes * (SS_PLOT_BOTTOM - SS_PLOT_TOP) / (SS_PLOT_BOTTOM - head);
  self->limit_y = !has_limit ? -1 : self->is_broken ? SS_PLOT_HEAD : ss_figure_y (self, limit);
  self->scale = ss_byte_scale (self->units, (guint64) (self->is_broken ? used : self->axis_bytes));
}

static void
set_edges (SsFigure *self)
{
  guint n_columns = self->timeline->n_columns;

  for (guint i = 0; i < n_columns; i++)
    {
      const SsTimelineState *state = &self->timeline->columns[i];
      double sum = 0;

      for (guint b = 0; b <= SS_N_BANDS; b++)
        {
          self->edges[b][i] = ss_figure_y (self, sum);
          sum += b < SS_N_BANDS ? (double) state->bands[b] : 0;
        }
      self->reserved_y[i] = ss_figure_y (self, (double) state->reserved_bytes);
    }
}

/* A curve of many points is coarsened to what a drawing of 300 kB can hold, at 15 bytes a point. */
static void
set_curves (SsFigure *self)
{
  guint n_columns = self->timeline->n_columns;

  for (guint b = 0; b <= SS_N_BANDS; b++)
    self->edges[b] = g_new (double, n_columns);
  self->reserved_y = g_new (double, n_columns);
  set_edges (self);
  for (guint n = 2; n <= 8 && ss_figure_n_points (self) > MAX_POINTS; n *= 2)
    {
      ss_memory_timeline_coarsen (self->timeline, n);
      set_edges (self);
    }
}

static void
draw_words (SsFigure *self)
{
  const SsRecording *recording = self->recording;
  double width = SS_PAGE_WIDTH - SS_PLOT_LEFT - 16;
  g_autofree char *headline = ss_verdict_headline (recording, self->units);
  g_autofree char *reason = ss_verdict_reason (recording, self->units);
  g_autofree char *subject = g_strdup_printf ("%s on %s: %s", recording->model_name,
                                              recording->device_name,
                                              recording->summary != NULL ? recording->summary : "");
  g_autofree char *clean = ss_clean_text (subject);
  g_autofree char *head = ss_text_fit (headline, 27, TRUE, width);
  g_autofree char *sub = ss_text_fit (reason, SS_TEXT_PX, FALSE, width);
  g_autofree char *foot = ss_text_fit (clean, 14, FALSE, width);
  SsTextLook head_look = { .size_px = 27, .colour = SS_INK, .is_bold = TRUE };
  SsTextLook sub_look = { .size_px = SS_TEXT_PX, .colour = "#555555" };
  SsTextLook foot_look = { .size_px = 14, .colour = SS_SOFT, .align = SS_ALIGN_RIGHT };

  ss_canvas_text (self->canvas, (SsPoint) { SS_PLOT_LEFT, 34 }, &head_look, head);
  ss_canvas_text (self->canvas, (SsPoint) { SS_PLOT_LEFT, 67 }, &sub_look, sub);
  ss_canvas_text (self->canvas, (SsPoint){ SS_PAGE_WIDTH - 16, SS_PAGE_HEIGHT - 14 }, &foot_look,
                  foot);
}

static void
figure_clear (SsFigure *self)
{
  for (guint b = 0; b <= SS_N_BANDS; b++)
    g_free (self->edges[b]);
  g_free (self->reserved_y);
  ss_memory_timeline_free (self->timeline);
  ss_obstacles_free (self->obstacles);
}

SsCanvas *
ss_memory_figure (const SsRecording *recording, const SsOutputSettings *settings)
{
  guint right = recording->is_oom ? SS_PLOT_RIGHT - OOM_TAIL_PX : SS_PLOT_RIGHT;
  SsFigure figure = {
    .recording = recording, .units = settings->units,
    .canvas = ss_canvas_new (SS_PAGE_WIDTH, SS_PAGE_HEIGHT),
    .timeline = ss_memory_timeline_new (recording, right - SS_PLOT_LEFT),
    .obstacles = ss_obstacles_new (), .right = right,
  };

  set_axis (&figure);
  set_curves (&figure);
  draw_words (&figure);
  ss_figure_draw_axes (&figure);
  ss_figure_draw_phases (&figure);
  ss_figure_draw_areas (&figure);
  ss_figure_draw_strips (&figure);
  ss_figure_draw_labels (&figure);
  figure_clear (&figure);
  return figure.canvas;
}

static GBytes *
render (const SsRecording *recording, const SsOutputSettings *settings, SsCanvasFormat format,
        GError **error)
{
  g_autoptr (SsCanvas) canvas = ss_memory_figure (recording, settings);

  return ss_canvas_draw (canvas, format, error);
}

static GBytes *
render_png (const SsRecording *recording, const SsOutputSettings *settings, GError **error)
{
  return render (recording, settings, SS_CANVAS_PNG, error);
}

static GBytes *
render_svg (const SsRecording *recording, const SsOutputSettings *settings, GError **error)
{
  return render (recording, settings, SS_CANVAS_SVG, error);
}

const SsOutput ss_output_memory_png = {
  .name = "memory.png",
  .description = "memory over time, as an image",
  .render = render_png,
};

const SsOutput ss_output_memory_svg = {
  .name = "memory.svg",
  .description = "memory over time, as a drawing",
  .render = render_svg,
};
