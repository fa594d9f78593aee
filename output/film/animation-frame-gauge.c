/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "output/film/animation-frame-private.h"
#include "output/figures/label-place.h"
#include "output/figures/text-width.h"

#define GAUGE_LEFT 66
#define GAUGE_RIGHT 168
#define LABEL_LEFT 180
#define LABEL_PX 14
#define LINE_PX 17
#define MAX_LABELS (SS_N_BANDS + 2)
#define LEAST_PX 0.7             /* what is thinner has no label */

typedef struct
{
  char *text;
  const char *colour;
  double middle_y, height;
} Label;

typedef struct
{
  SsAnimationFrame *frame;
  Label labels[MAX_LABELS];
  guint n_labels;
} Gauge;

static char *
number (const SsAnimation *animation, guint64 bytes)
{
  double top = animation->axis.top_bytes / animation->axis.scale.bytes;

  return ss_format_scaled (bytes, animation->axis.scale, top < 10 ? 2 : top < 1000 ? 1 : 0);
}

/* A stretch of the gauge from one height to another, with a label beside. */
static void
add_part (Gauge *gauge, double from_bytes, double to_bytes, const char *area_colour,
          const char *label_colour, const char *name)
{
  SsAnimationFrame *frame = gauge->frame;
  SsRect rect = { GAUGE_LEFT, round (ss_frame_y (frame, to_bytes)), GAUGE_RIGHT,
                  round (ss_frame_y (frame, from_bytes)) };
  double height = ss_frame_y (frame, from_bytes) - ss_frame_y (frame, to_bytes);
  g_autofree char *size = number (frame->animation, (guint64) (to_bytes - from_bytes));
  SsLineLook separator = { .colour = "#ffffff", .width_px = 1 };

  if (height < LEAST_PX)
    return;
  if (rect.bottom - rect.top < 1)
    rect.top = rect.bottom - 1;
  ss_canvas_box (frame->canvas, SS_LAYER_FRONT, &rect, area_colour);
  if (height > 4)
    ss_canvas_line (frame->canvas, SS_LAYER_FRONT, (SsPoint) { GAUGE_LEFT, rect.top },
                    (SsPoint) { GAUGE_RIGHT, rect.top }, &separator);
  gauge->labels[gauge->n_labels++] = (Label) { g_strdup_printf ("%s %s", name, size), label_colour,
                                               (rect.top + rect.bottom) / 2, height };
}

static void
drop_thinnest (Gauge *gauge)
{
  guint thinnest = 0;

  for (guint i = 1; i < gauge->n_labels; i++)
    if (gauge->labels[i].height < gauge->labels[thinnest].height)
      thinnest = i;
  g_free (gauge->labels[thinnest].text);
  gauge->n_labels--;
  for (guint i = thinnest; i < gauge->n_labels; i++)
    gauge->labels[i] = gauge->labels[i + 1];
}

static void
draw_labels (Gauge *gauge)
{
  SsAnimationFrame *frame = gauge->frame;
  SsMarginLabel places[MAX_LABELS];
  gboolean is_placed = FALSE;

  while (!is_placed)
    {
      for (guint i = 0; i < gauge->n_labels; i++)
        places[i] = (SsMarginLabel) { .wanted_y = gauge->labels[i].middle_y, .height = LINE_PX };
      is_placed = ss_label_place_margin (places, gauge->n_labels, SS_FRAME_PLOT_TOP - 8,
                                         SS_FRAME_PLOT_BOTTOM + 4);
      if (!is_placed)
        drop_thinnest (gauge);
    }
  for (guint i = 0; i < gauge->n_labels; i++)
    {
      SsTextLook look = { .size_px = LABEL_PX, .colour = gauge->labels[i].colour };
      g_autofree char *text = ss_text_fit (gauge->labels[i].text, LABEL_PX, FALSE,
                                           SS_FRAME_COURSE_LEFT - LABEL_LEFT - 8);

      ss_canvas_text (frame->canvas, (SsPoint) { LABEL_LEFT, places[i].y }, &look, text);
      g_free (gauge->labels[i].text);
    }
}

static void
draw_axis (SsAnimationFrame *self)
{
  const SsByteAxis *axis = &self->animation->axis;
  SsLineLook line = { .colour = SS_FRAME_AXIS, .width_px = 1 };
  SsTextLook look = { .size_px = 15, .colour = "#444444", .align = SS_ALIGN_RIGHT };

  ss_canvas_line (self->canvas, SS_LAYER_FRONT, (SsPoint) { SS_FRAME_LEFT, SS_FRAME_PLOT_TOP },
                  (SsPoint) { SS_FRAME_LEFT, SS_FRAME_PLOT_BOTTOM }, &line);
  ss_canvas_line (self->canvas, SS_LAYER_FRONT, (SsPoint) { SS_FRAME_LEFT, SS_FRAME_PLOT_BOTTOM },
                  (SsPoint) { GAUGE_RIGHT + 6, SS_FRAME_PLOT_BOTTOM }, &line);
  for (guint i = 0; i < axis->n_ticks; i++)
    {
      double y = ss_frame_y (self, i * axis->tick_bytes);
      g_autofree char *text = ss_byte_axis_tick (axis, i);

      ss_canvas_line (self->canvas, SS_LAYER_FRONT, (SsPoint) { SS_FRAME_LEFT - 6, y },
                      (SsPoint) { SS_FRAME_LEFT, y }, &line);
      ss_canvas_text (self->canvas, (SsPoint) { SS_FRAME_LEFT - 10, y }, &look, text);
    }
  ss_canvas_text (self->canvas, (SsPoint) { SS_FRAME_LEFT - 10, SS_FRAME_PLOT_TOP - 18 }, &look,
                  axis->scale.name);
}

/* The failing request stands on all that is reserved, across the limit. */
static void
draw_request (SsAnimationFrame *self)
{
  const SsRecording *recording = self->animation->recording;
  double base = (double) self->keyframe->state.reserved_bytes,
         top = MIN (base + (double) recording->oom.requested_bytes,
                    self->animation->axis.top_bytes);
  SsRect rect = { GAUGE_LEFT, ss_frame_y (self, top), GAUGE_RIGHT, ss_frame_y (self, base) };

  if (rect.bottom - rect.top < 7)
    rect.top = rect.bottom - 7;
  ss_canvas_hatched_box (self->canvas, &rect, SS_COLOUR_LIMIT);
}

void
ss_frame_draw_gauge (SsAnimationFrame *self)
{
  const SsTimelineState *state = &self->keyframe->state;
  Gauge gauge = { .frame = self };
  double sum = 0;
  SsTextLook total = { .size_px = 19, .colour = SS_FRAME_INK, .is_bold = TRUE,
                       .align = SS_ALIGN_CENTRE };
  g_autofree char *text = number (self->animation, state->total_bytes);
  g_autofree char *words = g_strdup_printf ("%s %s", text, self->animation->axis.scale.name);
  SsLineLook limit = { .colour = SS_COLOUR_LIMIT, .width_px = 2.5 };
  double limit_y = SS_FRAME_PLOT_BOTTOM
                   - self->animation->axis.limit_height
                       * (SS_FRAME_PLOT_BOTTOM - SS_FRAME_PLOT_TOP);

  draw_axis (self);
  for (guint b = 0; b < SS_N_BANDS; b++)
    {
      const SsBandLook *look = ss_band_look ((SsBand) b);
      double bytes = (double) state->bands[b];

      add_part (&gauge, sum, sum + bytes, look->area_colour, look->beside_colour, look->label);
      sum += bytes;
    }
  add_part (&gauge, sum, (double) state->reserved_bytes, SS_COLOUR_CACHED, "#5a5a5a", "cached");
  if (self->keyframe->is_oom)
    draw_request (self);
  if (self->animation->axis.limit_height >= 0)
    ss_canvas_line (self->canvas, SS_LAYER_FRONT, (SsPoint) { SS_FRAME_LEFT, limit_y },
                    (SsPoint) { GAUGE_RIGHT + 6, limit_y }, &limit);
  draw_labels (&gauge);
  ss_canvas_text (self->canvas,
                  (SsPoint) { (GAUGE_LEFT + GAUGE_RIGHT) / 2.0, SS_FRAME_PLOT_BOTTOM + 18 }, &total,
                  words);
}
