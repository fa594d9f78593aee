/* SPDX-License-Identifier: MIT
 *
 * SsAnimation: a run as a lesson in moments: what a film and a page to step through share.
 * It draws nothing.  The creator owns it; the recording outlives it.
 */
#pragma once

#include "output/figures/byte-axis.h"
#include "output/film/keyframe.h"

G_BEGIN_DECLS

typedef struct
{
  const SsRecording *recording;
  SsMemoryUnits units;
  SsKeyframes *keyframes;
  SsMemoryTimeline *timeline;
  SsByteAxis axis;
  guint n_bins;                  /* of the utilization strips */
  double *matmul, *bandwidth;    /* 0 to 1, by bin; of a run that never began all 0 */
} SsAnimation;

SsAnimation *ss_animation_new (const SsRecording *recording, SsMemoryUnits units, guint n_columns,
                               guint n_bins);
void ss_animation_free (SsAnimation *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsAnimation, ss_animation_free)

const SsKeyframe *ss_animation_moment (const SsAnimation *self, guint i);
/* "Llama 3 8B on NVIDIA H100: bf16, ...". (transfer full) */
char *ss_animation_subject (const SsRecording *recording);

/* Ticks of the time axis: a round step, as many as fit `n_most`, and how their numbers are written.
 * 0 ticks for a run that never began. */
typedef struct
{
  double step_ns, unit_ns;
  const char *unit;              /* "ms" */
  guint n_ticks, decimals;
} SsTimeTicks;

SsTimeTicks ss_time_ticks (gint64 end_ns, guint n_most);
/* "200", "0.5". (transfer full) */
char *ss_time_tick (const SsTimeTicks *self, guint i);

G_END_DECLS
