/* SPDX-License-Identifier: MIT
 *
 * The one place that knows the whole path: scenario, trace, allocator, clock, recording.
 */
#pragma once

#include "scenarios/scenario.h"
#include "sim/recording.h"
#include "sim/replay-memory.h"

G_BEGIN_DECLS

/* Runs a scenario. An out-of-memory is a result, not an error. SS_OPS_ERROR_*,
 * SS_ALLOCATOR_ERROR_CONF. (transfer full) */
SsRecording *ss_simulate (const SsScenario *scenario, GError **error);

/* The same, and its program for more runs of it; NULL if there is an error. (transfer full) */
SsRecording *ss_simulate_with_program (const SsScenario *scenario, SsProgram **program,
                                       GError **error);

/* The first half alone: the program of a scenario, for its dump or for several runs of one trace.
 * SS_OPS_ERROR_*. (transfer full) */
SsProgram *ss_simulate_trace (const SsScenario *scenario, gboolean keep_operands, GError **error);
/* The second half: that program on the scenario's device, with its allocator and capacity.
 * SS_ALLOCATOR_ERROR_CONF. (transfer full) */
SsRecording *ss_simulate_program (const SsScenario *scenario, const SsProgram *program,
                                  GError **error);
/* The same within another capacity, for its figures alone: what has been released when the
 * exception of an out-of-memory is caught is not looked for, nor what any allocator would need.
 * SS_ALLOCATOR_ERROR_CONF. (transfer full) */
SsRecording *ss_simulate_figures (const SsScenario *scenario, const SsProgram *program,
                                  guint64 capacity_bytes, GError **error);
/* Its figures within the scenario's own capacity if it fits.  If memory runs out, only that and
 * where: is_oom and step, micro-batch, phase and layer of oom.at, found without a clock.
 * SS_ALLOCATOR_ERROR_CONF. (transfer full) */
SsRecording *ss_simulate_outcome (const SsScenario *scenario, const SsProgram *program,
                                  GError **error);
/* Without a clock: whether it fits. SS_ALLOCATOR_ERROR_CONF. */
gboolean ss_simulate_memory (const SsScenario *scenario, const SsProgram *program,
                             SsMemoryVerdict *verdict, GError **error);

G_END_DECLS
