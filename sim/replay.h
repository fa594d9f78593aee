/* SPDX-License-Identifier: MIT
 *
 * Replay: a program against a clock and an allocator: the host thread issues instructions in
 * order, ops run on their streams, requests for memory are answered in the order in which the host
 * makes them. It knows no scenario and makes no sums: sim/account does.  The caller owns what it
 * fills.
 */
#pragma once

#include "hw/device.h"
#include "memory/allocator.h"
#include "ops/core/program.h"
#include "sim/recording.h"

G_BEGIN_DECLS

typedef struct
{
  const SsProgram *program;
  const SsDevice *device;
  const SsAllocatorClass *allocator;
  SsAllocatorSettings settings;
  gboolean empties_cache;        /* empty_cache () after each step */
} SsReplay;

/* A mark of the program, and what had been recorded when the host came to it. */
typedef struct
{
  guint32 mark_id;
  guint32 n_events, n_ops;
} SsReplayMark;

/* Fills recording->memory (but device_ns and phase), ->ops (but phase) and, when memory ran out,
 * is_oom and the numbers and the sentence of ->oom.  What stands before the first phase other
 * than load costs no time. SS_ALLOCATOR_ERROR_CONF.  The marks that were met, SsReplayMark, or
 * NULL. (transfer full) */
GArray *ss_replay (const SsReplay *self, SsRecording *recording, GError **error);

G_END_DECLS
