/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "output/figures/memory-figure-page.h"
#include "output/figures/text-width.h"

#define AXIS "#777777"
#define GRID "#dddddd"
#define TICKS_TOP 152

/* ---- bytes and time ---- */

static char *
tick_text (double value, double step)
{
  GString *text = g_string_new (NULL);

  ss_append_fixed (text, value, step >= 1 ? 0 : (guint) ceil (-log10 (step) - 1e-9));
  return g_string_free (text, FALSE);
}

static void
draw_byte_axis (SsFigure *self)
{
  SsLineLook axis = { .colour = AXIS, .width_px = 1 }, grid = { .colour = GRID, .width_px = 1 };
  SsTextLook look = { .size_px = 18, .colour = SS_INK, .align = SS_ALIGN_RIGHT };
  SsTextLook title = { .size_px = 18, .colour = SS_INK };
  g_autofree char *name = g_strdup_printf ("GPU memory (%s)", self->scale.name);
  double top = self->axis_bytes / self->scale.bytes, step = ss_nice_step (top, 7),
         highest = top * (1 + 1e-9);

  /* a tick just above the limit helps to read it */
  if (!self->is_broken)
    highest = self->bytes_at_top / self->scale.bytes * (SS_PLOT_BOTTOM - TICKS_TOP)
              / (SS_PLOT_BOTTOM - SS_PLOT_TOP);
  ss_canvas_line (self->canvas, SS_LAYER_FRONT, (SsPoint) { SS_PLOT_LEFT, SS_PLOT_TOP },
                  (SsPoint) { SS_PLOT_LEFT, SS_PLOT_BOTTOM }, &axis);
  for (guint i = 0; i * step <= highest; i++)
    {
      double y = ss_figure_y (self, i * step * self->scale.bytes);
      g_autofree char *text = tick_text (i * step, step);

      if (i > 0)
        ss_canvas_line (self->canvas, SS_LAYER_BEHIND, (SsPoint) { SS_PLOT_LEFT, y },
                        (SsPoint) { SS_PLOT_RIGHT, y }, &grid);
      ss_canvas_line (self->canvas, SS_LAYER_FRONT, (SsPoint) { SS_PLOT_LEFT - 8, y },
                      (SsPoint) { SS_PLOT_LEFT, y }, &axis);
      ss_canvas_text (self->canvas, (SsPoint) { SS_PLOT_LEFT - 13, y }, &look, text);
    }
  title.align = SS_ALIGN_CENTRE;
  ss_canvas_text_upwards (self->canvas, (SsPoint){ 20, (SS_PLOT_HEAD + SS_PLOT_BOTTOM) / 2 },
                          &title, name);
}

static void
draw_time_axis (SsFigure *self)
{
  static const struct
  {
    double ns;
    const char *title;
  } units[] = { { 1e9, "time (s)" }, { 1e6, "time (ms)" }, { 1e3, "time (us)" } };
  SsLineLook axis = { .colour = AXIS, .width_px = 1 };
  SsTextLook look = { .size_px = 18, .colour = SS_INK, .align = SS_ALIGN_CENTRE };
  double end_ns = (double)self->timeline->end_ns, bottom = SS_STRIP_2_TOP + SS_STRIP_HEIGHT, end,
         step;
  SsPoint title_at = { (SS_PLOT_LEFT + SS_PLOT_RIGHT) / 2.0, bottom + 45 };
  guint unit = end_ns >= 1e10 ? 0 : end_ns >= 1e6 ? 1 : 2;

  if (self->timeline->is_by_event)
    {
      title_at.y = SS_PLOT_BOTTOM + 30;
      ss_canvas_text (self->canvas, title_at, &look,
                      "allocations while the model is loaded, one after the other");
      return;
    }
  end = end_ns / units[unit].ns;
  step = ss_nice_step (end, 10);
  for (guint i = 0; i * step <= end * (1 + 1e-9); i++)
    {
      double x = SS_PLOT_LEFT + (self->right - SS_PLOT_LEFT) * i * step / end;
      g_autofree char *text = tick_text (i * step, step);

      ss_canvas_line (self->canvas, SS_LAYER_FRONT, (SsPoint){ x, bottom },
                      (SsPoint){ x, bottom + 6 }, &axis);
      ss_canvas_text (self->canvas, (SsPoint) { x, bottom + 19 }, &look, text);
    }
  ss_canvas_text (self->canvas, title_at, &look, units[unit].title);
}

static void
draw_limit (SsFigure *self)
{
  SsLineLook line = { .colour = SS_COLOUR_LIMIT, .width_px = 2.5 };
  SsLineLook stroke = { .colour = AXIS, .width_px = 1.5 };
  double y = self->limit_y, middle = SS_PLOT_HEAD + 14;

  if (y < 0)
    return;
  ss_canvas_line (self->canvas, SS_LAYER_FRONT, (SsPoint){ SS_PLOT_LEFT, y },
                  (SsPoint){ SS_PLOT_RIGHT, y }, &line);
  ss_obstacles_add_rect (self->obstacles, &(SsRect) { SS_PLOT_LEFT, y - 4, SS_PLOT_RIGHT, y + 4 });
  if (!self->is_broken)
    return;
  ss_canvas_box (self->canvas, SS_LAYER_FRONT,
                 &(SsRect){ SS_PLOT_LEFT - 3, middle - 3, SS_PLOT_LEFT + 3, middle + 3 },
                 "#ffffff");
  for (gint i = -1; i <= 1; i += 2)
    ss_canvas_line (self->canvas, SS_LAYER_FRONT, (SsPoint){ SS_PLOT_LEFT - 8, middle + 3 * i + 3 },
                    (SsPoint){ SS_PLOT_LEFT + 8, middle + 3 * i - 3 }, &stroke);
}

void
ss_figure_draw_axes (SsFigure *self)
{
  draw_byte_axis (self);
  draw_time_axis (self);
  draw_limit (self);
}
