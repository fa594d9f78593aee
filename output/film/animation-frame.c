/* SPDX-License-Identifier: MIT */
#include "output/film/animation-frame-private.h"

#include "output/figures/text-width.h"

#define FOOT_Y 528
#define FOOT_LEFT 10
#define HEAD_Y 30

double
ss_frame_y (const SsAnimationFrame *self, double bytes)
{
  return SS_FRAME_PLOT_BOTTOM
         - ss_byte_axis_height (&self->animation->axis, bytes)
             * (SS_FRAME_PLOT_BOTTOM - SS_FRAME_PLOT_TOP);
}

/* The step in bold, then what happens, smaller where it is long. */
static void
draw_sentence (SsAnimationFrame *self)
{
  const SsKeyframe *keyframe = self->keyframe;
  guint step = ss_keyframe_step (self->animation->recording, keyframe);
  g_autofree char *head = step > 0 ? g_strdup_printf ("step %u", step) : g_strdup ("load");
  SsTextLook bold = { .size_px = 21, .colour = SS_FRAME_INK, .is_bold = TRUE };
  SsTextLook look = { .size_px = 18,
                      .colour = keyframe->is_oom ? SS_COLOUR_LIMIT : SS_FRAME_INK };
  double left = SS_FRAME_LEFT + ss_text_width (head, bold.size_px, TRUE) + 10;
  g_autofree char *text = NULL;

  while (look.size_px > 14
         && ss_text_width (keyframe->sentence, look.size_px, FALSE) > SS_FRAME_RIGHT - left)
    look.size_px -= 1;
  text = ss_text_fit (keyframe->sentence, look.size_px, FALSE, SS_FRAME_RIGHT - left);
  ss_canvas_text (self->canvas, (SsPoint) { SS_FRAME_LEFT, HEAD_Y }, &bold, head);
  ss_canvas_text (self->canvas, (SsPoint) { left, HEAD_Y }, &look, text);
}

static void
draw_foot (SsAnimationFrame *self)
{
  g_autofree char *subject = ss_animation_subject (self->animation->recording);
  g_autofree char *text = NULL;
  SsTextLook look = { .size_px = 13, .colour = SS_FRAME_SOFT, .align = SS_ALIGN_RIGHT };

  while (look.size_px > 11
         && ss_text_width (subject, look.size_px, FALSE) > SS_FRAME_RIGHT - FOOT_LEFT)
    look.size_px -= 1;
  text = ss_text_fit (subject, look.size_px, FALSE, SS_FRAME_RIGHT - FOOT_LEFT);
  ss_canvas_text (self->canvas, (SsPoint) { SS_FRAME_RIGHT, FOOT_Y }, &look, text);
}

SsCanvas *
ss_animation_frame (const SsAnimation *animation, guint i)
{
  SsAnimationFrame frame = { .animation = animation, .keyframe = ss_animation_moment (animation, i),
                    .canvas = ss_canvas_new (SS_FRAME_WIDTH, SS_FRAME_HEIGHT) };

  draw_sentence (&frame);
  ss_frame_draw_layers (&frame);
  ss_frame_draw_timeline (&frame);
  ss_frame_draw_gauge (&frame);
  draw_foot (&frame);
  return frame.canvas;
}
