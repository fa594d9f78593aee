/* SPDX-License-Identifier: MIT
 *
 * A scenario's run as commands want it: with the plan of its policy, and what is wrong said.
 */
#pragma once

#include "cli/scenario-options.h"
#include "sim/simulate.h"

G_BEGIN_DECLS

/* The scenario of the file `path` with its plan; NULL and said: it cannot be run. (transfer
 * full) */
SsScenario *ss_simulation_plan (SsScenario *scenario, const char *path);
/* The run of that; NULL and said. `settings` as of ss_simulate. (transfer full) */
SsRecording *ss_simulation_run (SsScenario *scenario, const char *path,
                                const SsSimulateSettings *settings);
/* Its program; NULL and said. (transfer full) */
SsProgram *ss_simulation_trace (SsScenario *scenario, const char *path, gboolean keeps_operands);

G_END_DECLS
