/* SPDX-License-Identifier: MIT
 *
 * The one place that knows the whole path: scenario, trace, allocator, clock, recording.  It looks
 * for nothing: what a policy's search finds (study/optimal-plan.h) is in the scenario by then.
 */
#pragma once

#include "scenarios/scenario.h"
#include "sim/recording.h"

G_BEGIN_DECLS

/* How much is looked at, the most first. */
typedef enum
{
  SS_SIMULATE_WHOLE,
  /* all but two things about an out-of-memory: what has been released when its exception is caught,
   * and what any allocator would need */
  SS_SIMULATE_FIGURES,
  SS_SIMULATE_OUTCOME,           /* figures if it fits; if not, a verdict */
  /* without a clock, where the answer does not depend on one: peak.allocated_bytes,
   * peak_reserved_bytes, up to the failed request if there is one; is_oom, and step, micro-batch,
   * phase and layer of oom.at */
  SS_SIMULATE_VERDICT
} SsSimulateDetail;

typedef struct
{
  SsSimulateDetail detail;
  guint64 capacity_bytes;        /* instead of the scenario's own; 0: that; G_MAXINT64: no limit */
  SsProgram *program;            /* of an earlier trace of it, or NULL: it is traced */
  SsProgram **traced;            /* optional: its program for more runs, NULL if there is an error
                                  * (transfer full) */
  const SsDevice *device;        /* whose times hold instead of those of the scenario's own, which
                                  * it is but for them; or NULL */
  const char *date;              /* that its recording carries, or NULL */
} SsSimulateSettings;

/* Runs a scenario; `settings` NULL: whole, as it stands. An out-of-memory is a result, not an
 * error. SS_OPS_ERROR_*, SS_ALLOCATOR_ERROR_CONF. (transfer full) */
SsRecording *ss_simulate (const SsScenario *scenario, const SsSimulateSettings *settings,
                          GError **error);

G_END_DECLS
