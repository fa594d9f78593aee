/* SPDX-License-Identifier: MIT
 *
 * The one place that knows the whole path: scenario, trace, allocator, clock, recording.
 */
#pragma once

#include "scenarios/scenario.h"
#include "sim/recording.h"

G_BEGIN_DECLS

/* Runs a scenario. An out-of-memory is a result, not an error. SS_OPS_ERROR_*, SS_ALLOCATOR_ERROR_CONF.
 * (transfer full) */
SsRecording *ss_simulate (const SsScenario *scenario, GError **error);

G_END_DECLS
