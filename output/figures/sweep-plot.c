/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "output/figures/memory-figure-page.h"
#include "output/figures/sweep-figure-private.h"
#include "output/figures/text-width.h"

#define AXIS "#777777"
#define GRID "#eeeeee"
#define TICK_INK "#444444"
#define LINE_PX 20
#define GAP_PX 5
#define REACH_PX 190
#define MANY_POINTS 60
#define CLEAR_PX 12              /* between a label with a pointer and the points it is not of */
#define BETWEEN_PX 6             /* between two labels of one line */

/* A plot that begins `top` pixels down. */
void
ss_sweep_plot_init (SsSweepPlot *self, SsSweepFigure *figure, double top)
{
  *self = (SsSweepPlot) {
    .figure = figure,
    .area = { SS_SWEEP_LEFT, SS_SWEEP_TOP + top, SS_SWEEP_RIGHT, SS_SWEEP_BOTTOM + top },
    .dots = g_array_new (FALSE, FALSE, sizeof (SsPoint)),
    .obstacles = ss_obstacles_new (),
    .marks = ss_obstacles_new (),
  };
}

void
ss_sweep_plot_clear (SsSweepPlot *self)
{
  g_clear_pointer (&self->dots, g_array_unref);
  g_clear_pointer (&self->obstacles, ss_obstacles_free);
  g_clear_pointer (&self->marks, ss_obstacles_free);
}

void
ss_sweep_plot_add_mark (SsSweepPlot *self, const SsRect *rect)
{
  ss_obstacles_add_rect (self->obstacles, rect);
  ss_obstacles_add_rect (self->marks, rect);
}

static double
part_of (double value, double min, double max, gboolean is_log)
{
  if (is_log)
    return log (value / min) / log (max / min);
  return (value - min) / (max - min);
}

SsPoint
ss_sweep_plot_at (const SsSweepPlot *self, double x, double y)
{
  const SsRect *area = &self->area;

  return (SsPoint) {
    area->left
      + part_of (x, self->x_min, self->x_max, self->is_log_x) * (area->right - area->left),
    area->bottom - part_of (y, self->y_min, self->y_max, FALSE) * (area->bottom - area->top),
  };
}

double
ss_sweep_plot_dot_px (const SsSweepPlot *self)
{
  return self->figure->table->rows->len > MANY_POINTS ? 4 : 7.5;
}

/* ---- axes ---- */

static char *
tick_text (double value, double step)
{
  GString *text = g_string_new (NULL);

  ss_append_fixed (text, value, step >= 1 ? 0 : (guint) ceil (-log10 (step) - 1e-9));
  return g_string_free (text, FALSE);
}

static void
draw_x_tick (SsSweepPlot *self, double value, const char *text)
{
  SsLineLook axis = { .colour = AXIS, .width_px = 1 }, grid = { .colour = GRID, .width_px = 1 };
  SsTextLook look = { .size_px = SS_SWEEP_TEXT_PX, .colour = TICK_INK, .align = SS_ALIGN_CENTRE };
  double x = ss_sweep_plot_at (self, value, self->y_min).x, bottom = self->area.bottom;

  ss_canvas_line (self->figure->canvas, SS_LAYER_BEHIND, (SsPoint) { x, self->area.top },
                  (SsPoint) { x, bottom }, &grid);
  ss_canvas_line (self->figure->canvas, SS_LAYER_FRONT, (SsPoint) { x, bottom },
                  (SsPoint) { x, bottom + 6 }, &axis);
  ss_canvas_text (self->figure->canvas, (SsPoint) { x, bottom + 20 }, &look, text);
}

static void
draw_y_tick (SsSweepPlot *self, double value, const char *text)
{
  SsLineLook axis = { .colour = AXIS, .width_px = 1 }, grid = { .colour = GRID, .width_px = 1 };
  SsTextLook look = { .size_px = SS_SWEEP_TEXT_PX, .colour = TICK_INK, .align = SS_ALIGN_RIGHT };
  double y = ss_sweep_plot_at (self, self->x_min, value).y, left = self->area.left;

  ss_canvas_line (self->figure->canvas, SS_LAYER_BEHIND, (SsPoint) { left, y },
                  (SsPoint) { self->area.right, y }, &grid);
  ss_canvas_line (self->figure->canvas, SS_LAYER_FRONT, (SsPoint) { left - 6, y },
                  (SsPoint) { left, y }, &axis);
  ss_canvas_text (self->figure->canvas, (SsPoint) { left - 11, y }, &look, text);
}

static void
draw_linear_ticks (SsSweepPlot *self, gboolean is_x)
{
  double min = is_x ? self->x_min : self->y_min, max = is_x ? self->x_max : self->y_max;
  double step = ss_nice_step (max - min, is_x ? 9 : 8);

  if (is_x && self->is_whole_x)
    step = MAX (step, 1);
  for (double i = ceil (min / step - 1e-9); i * step <= max + step * 1e-9; i += 1)
    {
      /* without the sign of a zero that was rounded up to */
      g_autofree char *text = tick_text (i * step + 0.0, step);

      if (is_x)
        draw_x_tick (self, i * step, text);
      else
        draw_y_tick (self, i * step, text);
    }
}

static void
draw_log_ticks (SsSweepPlot *self)
{
  for (double tick = exp2 (ceil (log2 (self->x_min))); tick <= self->x_max; tick *= 2)
    {
      g_autofree char *text = tick_text (tick, tick >= 1 ? 1 : tick);

      draw_x_tick (self, tick, text);
    }
}

void
ss_sweep_plot_draw_axes (SsSweepPlot *self, const char *x_title, const char *y_title)
{
  SsLineLook axis = { .colour = AXIS, .width_px = 1 };
  SsTextLook look = { .size_px = SS_SWEEP_TEXT_PX + 1, .colour = SS_SWEEP_INK,
                      .align = SS_ALIGN_CENTRE };
  const SsRect *a = &self->area;
  SsCanvas *canvas = self->figure->canvas;

  ss_canvas_line (canvas, SS_LAYER_FRONT, (SsPoint) { a->left, a->top },
                  (SsPoint) { a->left, a->bottom }, &axis);
  ss_canvas_line (canvas, SS_LAYER_FRONT, (SsPoint) { a->left, a->bottom },
                  (SsPoint) { a->right, a->bottom }, &axis);
  if (self->is_log_x)
    draw_log_ticks (self);
  else
    draw_linear_ticks (self, TRUE);
  draw_linear_ticks (self, FALSE);
  ss_canvas_text (canvas, (SsPoint) { (a->left + a->right) / 2, a->bottom + 48 }, &look, x_title);
  ss_canvas_text_upwards (canvas, (SsPoint) { 26, (a->top + a->bottom) / 2 }, &look, y_title);
}

/* ---- points ---- */

void
ss_sweep_plot_draw_dot (SsSweepPlot *self, SsPoint at, gboolean fits)
{
  double r = ss_sweep_plot_dot_px (self) + 2;
  SsRect rect = { at.x - r, at.y - r, at.x + r, at.y + r };

  ss_canvas_dot (self->figure->canvas, at, ss_sweep_plot_dot_px (self),
                 fits ? SS_SWEEP_FITS : SS_SWEEP_LIMIT, fits);
  ss_sweep_plot_add_mark (self, &rect);
  g_array_append_val (self->dots, at);
}

void
ss_sweep_plot_draw_trail (SsSweepPlot *self, SsPoint from, SsPoint to)
{
  SsLineLook look = { .colour = SS_SWEEP_TRAIL, .width_px = 2, .is_dashed = TRUE };

  ss_canvas_line (self->figure->canvas, SS_LAYER_BEHIND, from, to, &look);
  ss_obstacles_add_line (self->obstacles, from, to);
}

/* ---- labels ---- */

static gboolean
is_free (const SsSweepPlot *self, const SsObstacles *obstacles, const SsRect *place)
{
  const SsRect *a = &self->area;

  return place->left >= a->left + 2 && place->right <= a->right + 24 && place->top >= a->top + 2
         && place->bottom <= a->bottom - 2 && !ss_obstacles_touch_rect (obstacles, place);
}

static double
distance (const SsRect *place, SsPoint at)
{
  return hypot (MAX (MAX (place->left - at.x, at.x - place->right), 0),
                MAX (MAX (place->top - at.y, at.y - place->bottom), 0));
}

/* Without a pointer a label is read as that of the nearest point. */
static gboolean
is_nearest (const SsSweepPlot *self, const SsRect *place, SsPoint at)
{
  for (guint i = 0; i < self->dots->len; i++)
    if (distance (place, g_array_index (self->dots, SsPoint, i)) < distance (place, at) - 0.5)
      return FALSE;
  return TRUE;
}

/* Right of the point, left, then obliquely, then above and below. */
static gboolean
place_beside (const SsSweepPlot *self, const SsObstacles *obstacles, SsPoint at, double width,
              double height, SsRect *place)
{
  static const struct { double x, y; } sides[] = {
    { 1, 0 }, { -1, 0 }, { 1, -0.7 }, { 1, 0.7 }, { -1, 0.7 }, { -1, -0.7 }, { 0, -1 }, { 0, 1 },
  };
  double off = ss_sweep_plot_dot_px (self) + GAP_PX;

  for (guint i = 0; i < G_N_ELEMENTS (sides); i++)
    {
      double x = at.x + sides[i].x * (off + width / 2);
      double y = at.y + sides[i].y * (off + height / 2);

      *place = (SsRect) { x - width / 2, y - height / 2, x + width / 2, y + height / 2 };
      if (is_free (self, obstacles, place) && is_nearest (self, place, at))
        return TRUE;
    }
  return FALSE;
}

/* The obstacles, and more room around the points but the one at `at`. */
static SsObstacles *
widen_dots (const SsSweepPlot *self, const SsObstacles *obstacles, SsPoint at)
{
  SsObstacles *wide = ss_obstacles_new ();
  double r = ss_sweep_plot_dot_px (self) + CLEAR_PX;

  g_array_append_vals (wide->rects, obstacles->rects->data, obstacles->rects->len);
  g_array_append_vals (wide->lines, obstacles->lines->data, obstacles->lines->len);
  for (guint i = 0; i < self->dots->len; i++)
    {
      SsPoint dot = g_array_index (self->dots, SsPoint, i);

      if (hypot (dot.x - at.x, dot.y - at.y) > 2 * r)
        ss_obstacles_add_rect (wide, &(SsRect) { dot.x - r, dot.y - r, dot.x + r, dot.y + r });
    }
  return wide;
}

/* The nearest free place, and a pointer from it that ends at the point's edge. */
static gboolean
place_apart (SsSweepPlot *self, const SsObstacles *others, SsPoint at, double width, double height,
             const char *colour, SsRect *place)
{
  g_autoptr (SsObstacles) obstacles = widen_dots (self, others, at);
  guint n = (guint) (self->area.right - self->area.left);
  g_autofree double *upper = g_new (double, n), *lower = g_new (double, n);
  SsOutline space = { self->area.left + 2, n - 2, upper, lower };
  SsLineLook look = { .colour = colour, .width_px = 1.2, .has_head = TRUE };
  double r = ss_sweep_plot_dot_px (self) + 3, length;
  SsPoint start, end;

  for (guint i = 0; i < n; i++)
    {
      upper[i] = self->area.top + 2;
      lower[i] = self->area.bottom - 2;
    }
  /* the pointer may enter the point's own surroundings: ask for a place that sees its edge */
  for (guint side = 0; side < 4; side++)
    {
      static const SsPoint ways[] = { { 0, -1 }, { 1, 0 }, { 0, 1 }, { -1, 0 } };

      end = (SsPoint) { at.x + ways[side].x * r, at.y + ways[side].y * r };
      if (!ss_label_place_near (&space, end, width, height, REACH_PX, 0, obstacles, place))
        continue;
      start = ss_label_pointer_start (place, end);
      length = hypot (start.x - end.x, start.y - end.y);
      if (length <= 3 * GAP_PX && !is_nearest (self, place, at))
        continue;
      if (length > 3 * GAP_PX)
        {
          ss_canvas_line (self->figure->canvas, SS_LAYER_FRONT, start, end, &look);
          ss_obstacles_add_line (self->obstacles, start, end);
          ss_obstacles_add_line (self->marks, start, end);
        }
      return TRUE;
    }
  return FALSE;
}

gboolean
ss_sweep_plot_label (SsSweepPlot *self, SsPoint target, const char *first, const char *second,
                     const SsTextLook *look, SsLabelPlace where)
{
  double size = look->size_px, width = ss_text_width (first, size, look->is_bold) + 2;
  double height = second != NULL ? 2 * LINE_PX : LINE_PX;
  SsTextLook own = *look;
  SsRect place;
  double x;

  if (second != NULL)
    width = MAX (width, ss_text_width (second, size, FALSE) + 2);
  if (!place_beside (self, self->obstacles, target, width, height, &place)
      && !(where >= SS_NEAR
           && place_apart (self, self->obstacles, target, width, height, look->colour, &place))
      && !(where >= SS_ANYWHERE
           && (place_beside (self, self->marks, target, width, height, &place)
               || place_apart (self, self->marks, target, width, height, look->colour, &place))))
    return FALSE;
  ss_sweep_plot_add_mark (self, &(SsRect) { place.left - BETWEEN_PX, place.top,
                                            place.right + BETWEEN_PX, place.bottom });
  own.align = place.right <= target.x ? SS_ALIGN_RIGHT : SS_ALIGN_LEFT;
  x = own.align == SS_ALIGN_RIGHT ? place.right - 1 : place.left + 1;
  ss_canvas_text (self->figure->canvas, (SsPoint) { x, place.top + LINE_PX / 2.0 }, &own, first);
  own.is_bold = FALSE;
  if (second != NULL)
    ss_canvas_text (self->figure->canvas, (SsPoint) { x, place.top + 1.5 * LINE_PX }, &own,
                    second);
  return TRUE;
}
