/* SPDX-License-Identifier: MIT
 *
 * What the parts of SsKeyframes share: the choice of moments, and their words.
 */
#pragma once

#include "output/film/keyframe.h"

G_BEGIN_DECLS

/* The moments with all but at, state, layers and sentence; in the order of events, none twice.
 * (transfer full) */
GArray *ss_keyframes_choose (const SsRecording *recording);

/* What happens at `moment`; `before` is the one before it, or NULL. (transfer full) */
char *ss_keyframe_sentence (const SsRecording *recording, const SsKeyframe *keyframe,
                            const SsKeyframe *before, SsMemoryUnits units);

/* The op an event is for, or NULL. */
const SsOpEvent *ss_keyframe_event_op (const SsRecording *recording, const SsMemoryEvent *event);

G_END_DECLS
