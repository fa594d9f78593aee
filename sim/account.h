/* SPDX-License-Identifier: MIT
 *
 * Account: one walk over what a replay left, which makes its sums: phases, steps, layer
 * boundaries, peaks, the state at the out-of-memory.  It knows no clock and no allocator.  The
 * caller owns all it is given.
 */
#pragma once

#include "ops/core/program.h"
#include "sim/recording.h"

G_BEGIN_DECLS

/* `marks` are those of its rank.  Sets device_ns and phase of every memory event, phase of
 * every op, and fills ->phases, ->steps, ->layers, ->peak, ->peak_reserved_bytes,
 * ->state_bytes_new and the rest of ->oom. ->tokens_per_step and ->peak_flop_per_s are known by
 * then; `n_micro_batches` are those of one step. */
void ss_account (SsRecording *recording, const SsProgram *program, const GArray *marks,
                 guint n_micro_batches);

/* After an out-of-memory: what is left when the exception has passed, `unwound` (guint32 storage
 * ids) being what it releases.  Corrects the end of the phase that failed. */
void ss_account_unwind (SsRecording *recording, const GArray *unwound);

G_END_DECLS
