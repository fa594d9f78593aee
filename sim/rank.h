/* SPDX-License-Identifier: MIT
 *
 * SsRank: one process of a run: a host thread that issues a program's instructions in order, an
 * allocator that answers its requests for memory in that order, streams on which its ops run, and
 * the recording of it all.  It knows no scenario and makes no sums: sim/account does.  Its run
 * (sim/run.h) owns it.
 */
#pragma once

#include "hw/device.h"
#include "memory/allocator.h"
#include "ops/core/program.h"
#include "sim/engine.h"
#include "sim/recording.h"

G_BEGIN_DECLS

typedef struct
{
  const SsProgram *program;
  const SsDevice *device;
  const SsAllocatorClass *allocator;
  SsAllocatorSettings settings;
  gboolean empties_cache;        /* empty_cache () after each step */
} SsRankSettings;

/* A mark of the program, and what had been recorded when the host came to it. */
typedef struct
{
  guint32 mark_id;
  guint32 n_events, n_ops;
} SsRankMark;

typedef struct _SsRank SsRank;

/* Its play fills recording->memory (but device_ns and phase), ->ops (but phase) and, when memory
 * ran out, is_oom and the numbers and the sentence of ->oom.  What stands before the first phase
 * other than load costs no time.  Engine, recording, program and device must outlive it.
 * SS_ALLOCATOR_ERROR_CONF. (transfer full) */
SsRank *ss_rank_new (SsEngine *engine, const SsRankSettings *settings, SsRecording *recording,
                     GError **error);
/* Not while the engine runs. */
void ss_rank_free (SsRank *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsRank, ss_rank_free)
/* Its host begins at the engine's present time, from its run. Once. */
void ss_rank_start (SsRank *self);
/* The marks that were met, SsRankMark. (transfer none) */
const GArray *ss_rank_marks (const SsRank *self);

G_END_DECLS
