/* SPDX-License-Identifier: MIT
 *
 * SsKeyframes: the moments of a run that a lesson stops at, from load to its end: every second
 * layer forward and backward, every change of memory at the loss and in the optimizer, the peak,
 * the failure; each with what was in memory, the state of every layer, and a sentence.  It knows no
 * pixels.  The creator owns it.
 */
#pragma once

#include "output/figures/memory-timeline.h"
#include "output/output.h"

G_BEGIN_DECLS

/* member, letter of pages, label */
#define SS_LAYER_STATES(X)                                                                         \
  X (EMPTY, 'e', "nothing held")                                                                   \
  X (INPUT, 'i', "only a checkpoint kept")                                                         \
  X (HELD, 'h', "activations held")                                                                \
  X (RECOMPUTED, 'r', "recomputed")                                                                \
  X (GRADIENT, 'g', "gradient ready")

typedef enum
{
#define SS_LAYER_STATE_MEMBER(UPPER, letter, label) SS_LAYER_STATE_##UPPER,
  SS_LAYER_STATES (SS_LAYER_STATE_MEMBER)
#undef SS_LAYER_STATE_MEMBER
  SS_N_LAYER_STATES
} SsLayerState;

/* "activations held". (transfer none) */
const char *ss_layer_state_label (SsLayerState state);
char ss_layer_state_letter (SsLayerState state);

typedef struct
{
  guint n_events;                /* of the recording's memory, that have happened */
  guint phase;                   /* index into the recording's phases */
  gint layer;                    /* at work; -1 outside layers */
  gboolean is_backward, is_recompute, is_peak, is_oom;
  guint n_frames;                /* how long a film holds it */
  gint64 device_ns;
  double at;                     /* 0 to 1 of the course */
  SsTimelineState state;
  guint8 *layers;                /* SsLayerState by layer */
  guint8 *tenths;                /* by layer: activations in memory, 0 to 10 of the most of any */
  char *sentence;                /* "forward, layer 3: its activations are kept for backward" */
} SsKeyframe;

typedef struct
{
  guint n_layers;
  GArray *items;                 /* SsKeyframe, in time order; at least one */
  gboolean has_state[SS_N_LAYER_STATES];   /* some layer is in it at some moment */
} SsKeyframes;

SsKeyframes *ss_keyframes_new (const SsRecording *recording, SsMemoryUnits units);
void ss_keyframes_free (SsKeyframes *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsKeyframes, ss_keyframes_free)

/* 0 where the moment is of load, or of no phase. */
guint ss_keyframe_step (const SsRecording *recording, const SsKeyframe *keyframe);

G_END_DECLS
