/* SPDX-License-Identifier: MIT
 *
 * What each stream of a recording did: its ops, how long it worked, and how much of that beside the
 * compute stream.  It knows no program and no engine.
 */
#pragma once

#include "sim/recording.h"

G_BEGIN_DECLS

/* Fills ->streams from ->ops: the compute stream first, then each other that has an op. */
void ss_count_streams (SsRecording *recording);

G_END_DECLS
