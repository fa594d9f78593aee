/* SPDX-License-Identifier: MIT
 *
 * SsTraceCache: the programs of the last scenarios that were traced, shared by those that differ
 * only in allocator, capacity, context or the numbers of a device of the same target.  Safe for
 * threads; the creator owns it.
 */
#pragma once

#include "ops/core/program.h"
#include "scenarios/scenario.h"

G_BEGIN_DECLS

typedef struct _SsTraceCache SsTraceCache;

/* Keeps at most `n_kept` programs, at least 1, that nobody is tracing. (transfer full) */
SsTraceCache *ss_trace_cache_new (guint n_kept);
void ss_trace_cache_free (SsTraceCache *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsTraceCache, ss_trace_cache_free)

/* What the scenario's trace depends on, as one text: equal keys have equal programs. (transfer
 * full) */
char *ss_trace_key (const SsScenario *scenario);

/* The scenario's program; who asks for one that another thread is tracing waits for it.  Where its
 * plan has to be searched for, *scenario becomes the one with that plan. SS_OPS_ERROR_*,
 * SS_CHAIN_ERROR_*. (transfer full) */
SsProgram *ss_trace_cache_get (SsTraceCache *self, SsScenario **scenario, GError **error);
/* How many traces it has made. */
guint ss_trace_cache_n_traces (SsTraceCache *self);

G_END_DECLS
