/* SPDX-License-Identifier: MIT
 *
 * One frame of the film of a run: what happens now in a sentence, the layers as squares, a tank
 * with what is in memory, the course of memory with the future pale, how busy the device is.
 */
#pragma once

#include "output/film/animation.h"
#include "output/figures/canvas.h"

G_BEGIN_DECLS

#define SS_FRAME_WIDTH 960
#define SS_FRAME_HEIGHT 540
/* Columns and utilization bins that an animation of frames has. */
#define SS_FRAME_COLUMNS 555
#define SS_FRAME_BINS 185

/* The frame of moment i. (transfer full) */
SsCanvas *ss_animation_frame (const SsAnimation *animation, guint i);

G_END_DECLS
