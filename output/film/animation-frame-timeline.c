/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "output/film/animation-frame-private.h"
#include "output/figures/stair.h"
#include "output/figures/text-width.h"

#define FUTURE "#e7e7e7"
#define STRIP_PX 22
#define STRIP_1_TOP 430
#define STRIP_2_TOP 458
#define TICK_Y 500
#define STEP_NAME_Y 114
#define LEFT SS_FRAME_COURSE_LEFT
#define RIGHT (SS_FRAME_COURSE_LEFT + SS_FRAME_COLUMNS)

static void
draw_bands (SsAnimationFrame *self, guint n_now)
{
  const SsMemoryTimeline *timeline = self->animation->timeline;
  guint n_columns = timeline->n_columns;
  g_autofree double *lower = g_new (double, n_columns + 1), *upper = g_new (double, n_columns + 1);
  g_autofree double *sums = g_new0 (double, n_columns + 1);
  SsLineLook edge = { .colour = SS_FRAME_INK, .width_px = 1.2 };
  g_autoptr (GPtrArray) stairs = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);

  for (guint i = 0; i < n_columns; i++)
    lower[i] = SS_FRAME_PLOT_BOTTOM;
  for (guint b = 0; b < SS_N_BANDS; b++)
    {
      for (guint i = 0; i < n_columns; i++)
        {
          sums[i] += (double) timeline->columns[i].bands[b];
          upper[i] = ss_frame_y (self, sums[i]);
        }
      g_ptr_array_add (stairs, n_now > 0 && ss_stair_is_seen (upper, lower, n_now)
                                 ? ss_stair (upper, n_now, LEFT, 1)
                                 : g_array_new (FALSE, FALSE, sizeof (SsPoint)));
      memcpy (lower, upper, n_columns * sizeof *lower);
    }
  if (n_now < n_columns)
    {
      g_autoptr (GArray) future = ss_stair (upper + n_now, n_columns - n_now, LEFT + n_now, 1);

      ss_canvas_area (self->canvas, future, SS_FRAME_PLOT_BOTTOM, FUTURE, 1);
    }
  for (guint b = SS_N_BANDS; b-- > 0;)
    ss_canvas_area (self->canvas, g_ptr_array_index (stairs, b), SS_FRAME_PLOT_BOTTOM,
                    ss_band_look ((SsBand) b)->area_colour, 1);
  if (n_now > 0)
    {
      g_autoptr (GArray) total = ss_stair (upper, n_now, LEFT, 1);

      ss_canvas_curve (self->canvas, total, &edge);
    }
}

static void
draw_strip (SsAnimationFrame *self, const double *share, double top, const char *name,
            const char *colour)
{
  guint n_bins = self->animation->n_bins, n_now;
  g_autofree double *y = g_new (double, n_bins);
  double bottom = top + STRIP_PX, width = (double) SS_FRAME_COLUMNS / n_bins;
  SsTextLook look = { .size_px = 14, .colour = colour, .align = SS_ALIGN_RIGHT };

  n_now = (guint) (self->keyframe->at * n_bins + 0.5);
  for (guint i = 0; i < n_bins; i++)
    y[i] = bottom - MIN (share[i], 1) * STRIP_PX;
  ss_canvas_box (self->canvas, SS_LAYER_BEHIND, &(SsRect) { LEFT, top, RIGHT, bottom }, "#f6f6f6");
  if (n_now < n_bins)
    {
      g_autoptr (GArray) future
        = ss_stair (y + n_now, n_bins - n_now, LEFT + n_now * width, width);

      ss_canvas_area (self->canvas, future, bottom, FUTURE, 1);
    }
  if (n_now > 0)
    {
      g_autoptr (GArray) past = ss_stair (y, n_now, LEFT, width);

      ss_canvas_area (self->canvas, past, bottom, colour, 1);
    }
  ss_canvas_text (self->canvas, (SsPoint) { LEFT - 8, top + STRIP_PX / 2.0 }, &look, name);
}

static void
draw_time (SsAnimationFrame *self)
{
  gint64 end_ns = self->animation->timeline->end_ns;
  SsTimeTicks ticks = ss_time_ticks (end_ns, 7);
  SsLineLook line = { .colour = SS_FRAME_AXIS, .width_px = 1 };
  SsTextLook look = { .size_px = 15, .colour = "#444444", .align = SS_ALIGN_CENTRE };
  double bottom = STRIP_2_TOP + STRIP_PX;

  for (guint i = 0; i < ticks.n_ticks; i++)
    {
      double x = LEFT + i * ticks.step_ns / (double) end_ns * SS_FRAME_COLUMNS;
      g_autofree char *text = ss_time_tick (&ticks, i);
      g_autofree char *words = g_strdup_printf ("%s %s", text, ticks.unit);

      ss_canvas_line (self->canvas, SS_LAYER_FRONT, (SsPoint) { x, bottom },
                      (SsPoint) { x, bottom + 5 }, &line);
      if (x + ss_text_width (words, 15, FALSE) / 2 < SS_FRAME_WIDTH)
        ss_canvas_text (self->canvas, (SsPoint) { x, TICK_Y - 4 }, &look, words);
    }
}

/* Lines where steps begin, and their names where there is room. */
static void
draw_steps (SsAnimationFrame *self)
{
  const SsRecording *recording = self->animation->recording;
  SsLineLook line = { .colour = "#888888", .width_px = 1 };
  SsTextLook look = { .size_px = 15, .colour = SS_FRAME_SOFT, .align = SS_ALIGN_CENTRE };
  double end_ns = (double) self->animation->timeline->end_ns, free_from = 0;

  for (guint i = 0; i < recording->steps->len; i++)
    {
      const SsStepRecord *step = &g_array_index (recording->steps, SsStepRecord, i);
      double left = LEFT + (double) step->start_ns / end_ns * SS_FRAME_COLUMNS,
             right = LEFT + (double) step->end_ns / end_ns * SS_FRAME_COLUMNS;
      g_autofree char *name = g_strdup_printf ("step %u", step->step);
      double width = ss_text_width (name, look.size_px, FALSE), middle = (left + right) / 2;

      if (i > 0 && right - left > 4)
        ss_canvas_line (self->canvas, SS_LAYER_FRONT, (SsPoint) { left, STEP_NAME_Y - 8 },
                        (SsPoint) { left, SS_FRAME_PLOT_BOTTOM }, &line);
      if (middle - width / 2 < free_from + 6 || middle + width / 2 > SS_FRAME_WIDTH - 4)
        continue;
      ss_canvas_text (self->canvas, (SsPoint) { middle, STEP_NAME_Y + 4 }, &look, name);
      free_from = middle + width / 2;
    }
}

/* Its name stands right of the cursor while that would cross it. */
static void
draw_limit (SsAnimationFrame *self, guint n_now)
{
  const SsAnimation *animation = self->animation;
  double y = SS_FRAME_PLOT_BOTTOM
             - animation->axis.limit_height * (SS_FRAME_PLOT_BOTTOM - SS_FRAME_PLOT_TOP);
  SsLineLook line = { .colour = SS_COLOUR_LIMIT, .width_px = 2.5 };
  SsTextLook look = { .size_px = 14, .colour = SS_COLOUR_LIMIT };
  g_autofree char *bytes
    = ss_format_bytes (animation->recording->capacity_bytes, animation->units, 1);
  g_autofree char *text = g_strdup_printf ("capacity %s%s", bytes,
                                           animation->axis.is_broken ? " (not to scale)" : "");

  double x = LEFT + 4;

  if (animation->axis.limit_height < 0)
    return;
  if (n_now < 4 + ss_text_width (text, look.size_px, FALSE) + 4)
    x = LEFT + n_now + 5;
  ss_canvas_line (self->canvas, SS_LAYER_FRONT, (SsPoint) { LEFT, y }, (SsPoint) { RIGHT, y },
                  &line);
  ss_canvas_text (self->canvas, (SsPoint) { x, animation->axis.is_broken ? y + 13 : y - 10 }, &look,
                  text);
}

void
ss_frame_draw_timeline (SsAnimationFrame *self)
{
  const SsAnimation *animation = self->animation;
  guint n_now = (guint) (self->keyframe->at * SS_FRAME_COLUMNS + 0.5);
  SsLineLook axis = { .colour = SS_FRAME_AXIS, .width_px = 1 },
             cursor = { .colour = SS_FRAME_INK, .width_px = 1.6 };
  SsTextLook look = { .size_px = 15, .colour = SS_FRAME_SOFT, .align = SS_ALIGN_CENTRE };
  gboolean has_time = !animation->timeline->is_by_event;

  draw_bands (self, n_now);
  draw_limit (self, n_now);
  ss_canvas_line (self->canvas, SS_LAYER_FRONT, (SsPoint) { LEFT, SS_FRAME_PLOT_BOTTOM },
                  (SsPoint) { RIGHT, SS_FRAME_PLOT_BOTTOM }, &axis);
  ss_canvas_line (self->canvas, SS_LAYER_FRONT, (SsPoint) { LEFT + n_now, SS_FRAME_PLOT_TOP },
                  (SsPoint) { LEFT + n_now, has_time ? STRIP_2_TOP + STRIP_PX
                                                     : SS_FRAME_PLOT_BOTTOM }, &cursor);
  if (!has_time)
    {
      ss_canvas_text (self->canvas,
                      (SsPoint) { (LEFT + RIGHT) / 2.0, SS_FRAME_PLOT_BOTTOM + 20 }, &look,
                      "allocations while the model is loaded, one after the other");
      return;
    }
  draw_steps (self);
  draw_strip (self, animation->matmul, STRIP_1_TOP, "matrix units", "#0072B2");
  draw_strip (self, animation->bandwidth, STRIP_2_TOP, "memory bandwidth", "#007a5a");
  draw_time (self);
}
