/* SPDX-License-Identifier: MIT
 *
 * SsFrame: a frame under way, and its parts.
 */
#pragma once

#include "output/animation-frame.h"

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
  const SsMoment *moment;
  SsCanvas *canvas;              /* not owned */
} SsFrame;

double ss_frame_y (const SsFrame *self, double bytes);

void ss_frame_draw_layers (SsFrame *self);
void ss_frame_draw_tank (SsFrame *self);
void ss_frame_draw_course (SsFrame *self);

G_END_DECLS
