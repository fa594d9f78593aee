/* SPDX-License-Identifier: MIT
 *
 * What to change so that a run that ran out of memory fits: every change is tried by replaying
 * the run with it, and only what fits is told.
 */
#pragma once

#include "sim/recording.h"
#include "sim/replay.h"

G_BEGIN_DECLS

/* Of a run that ran out of memory: finds the least that any allocator would need, and, if that
 * is there, tries options of the caching allocator on the same program and adds those that make
 * it fit to recording->advice, in a fixed order. */
void ss_advise_allocator (SsRecording *recording, const SsReplay *replay);

G_END_DECLS
