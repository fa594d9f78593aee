/* SPDX-License-Identifier: MIT
 *
 * SsAnimationFrame: a frame under way, and its parts.
 */
#pragma once

#include "output/film/animation-frame.h"

G_BEGIN_DECLS

/* The page in pixels, y down. */
#define SS_FRAME_LEFT 54
#define SS_FRAME_RIGHT 925
#define SS_FRAME_PLOT_TOP 128
#define SS_FRAME_PLOT_BOTTOM 418
#define SS_FRAME_COURSE_LEFT 370
#define SS_FRAME_INK "#222222"
#define SS_FRAME_SOFT "#666666"
#define SS_FRAME_AXIS "#999999"

typedef struct
{
  const SsAnimation *animation;
  const SsKeyframe *keyframe;
  SsCanvas *canvas;              /* not owned */
} SsAnimationFrame;

double ss_frame_y (const SsAnimationFrame *self, double bytes);

void ss_frame_draw_layers (SsAnimationFrame *self);
void ss_frame_draw_gauge (SsAnimationFrame *self);
void ss_frame_draw_timeline (SsAnimationFrame *self);

G_END_DECLS
