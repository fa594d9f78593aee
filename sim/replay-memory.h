/* SPDX-License-Identifier: MIT
 *
 * Replay without a clock: a program's requests against an allocator, in the order of the host.
 * It is how a change of the allocator's options is tried in milliseconds.
 */
#pragma once

#include "memory/allocator.h"
#include "ops/program.h"

G_BEGIN_DECLS

typedef struct
{
  gboolean fits;
  guint64 peak_allocated_bytes, peak_reserved_bytes;   /* up to the failed request if it does not */
  /* of that request */
  guint step, micro_batch;       /* 0 as in SsMark */
  SsPhase phase;
  gint layer;                    /* -1 outside layers */
} SsMemoryVerdict;

/* FALSE with SS_ALLOCATOR_ERROR_CONF. `empties_cache`: empty_cache () after each step. */
gboolean ss_replay_memory (const SsProgram           *program,
                           const SsAllocatorClass    *klass,
                           const SsAllocatorSettings *settings,
                           gboolean                   empties_cache,
                           SsMemoryVerdict           *verdict,
                           GError                   **error);

/* The most that the program asks for at one moment, whatever an allocator makes of it: of
 * everything, or of states (parameters, master copy, gradients, optimizer states) only. */
guint64 ss_replay_peak_requested_bytes (const SsProgram *program, gboolean of_states);

G_END_DECLS
