/* SPDX-License-Identifier: MIT
 *
 * Replay without a clock: a program's requests against an allocator, in the order of the host.
 * It is how a change of the allocator's options is tried in milliseconds.
 */
#pragma once

#include "memory/allocator.h"
#include "ops/core/program.h"

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

/* The same while the program is being made. */
typedef struct _SsMemoryReplay SsMemoryReplay;

/* SS_ALLOCATOR_ERROR_CONF. (transfer full) */
SsMemoryReplay *ss_memory_replay_new (const SsAllocatorClass    *klass,
                                      const SsAllocatorSettings *settings,
                                      gboolean                   empties_cache,
                                      GError                   **error);
void ss_memory_replay_free (SsMemoryReplay *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsMemoryReplay, ss_memory_replay_free)
/* Goes on to the end of what there is of the program. FALSE: out of memory at the instruction
 * before number *next (out), and nothing more may be asked of it. */
gboolean ss_memory_replay_go_on (SsMemoryReplay *self, const SsProgram *program, guint *next);

/* FALSE with SS_ALLOCATOR_ERROR_CONF. `empties_cache`: empty_cache () after each step. */
gboolean ss_replay_memory (const SsProgram           *program,
                           const SsAllocatorClass    *klass,
                           const SsAllocatorSettings *settings,
                           gboolean                   empties_cache,
                           SsMemoryVerdict           *verdict,
                           GError                   **error);

/* What a program would take of a device without limit, context left out. */
typedef struct
{
  guint64 reserved_bytes;        /* the most that the allocator reserves */
  guint64 requested_bytes;       /* the most that is asked for at one moment: no allocator can do
                                  * with less */
  guint64 state_bytes;           /* the same of parameters, master copy, gradients and optimizer
                                  * states alone */
} SsMemoryNeed;

/* The settings' capacity does not count. FALSE with SS_ALLOCATOR_ERROR_CONF. */
gboolean ss_replay_need (const SsProgram           *program,
                         const SsAllocatorClass    *klass,
                         const SsAllocatorSettings *settings,
                         gboolean                   empties_cache,
                         SsMemoryNeed              *need,
                         GError                   **error);

G_END_DECLS
