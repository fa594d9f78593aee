/* SPDX-License-Identifier: MIT
 *
 * Explain: an out-of-memory message beside a scenario's simulated requests: which of its tensors
 * have that size, where they arise, which changes do away with them, each of them simulated.  It
 * knows no output.
 */
#pragma once

#include "scenarios/scenario.h"
#include "study/explanation.h"

G_BEGIN_DECLS

/* SS_OPS_ERROR_*, SS_ALLOCATOR_ERROR_CONF.  The message stays the caller's. (transfer full) */
SsExplanation *ss_explain (const SsScenario *scenario, const SsOomMessage *message,
                           GError **error);

G_END_DECLS
