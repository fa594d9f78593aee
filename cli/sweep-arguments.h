/* SPDX-License-Identifier: MIT
 *
 * The arguments of a sweep: its scenario and its lists of values.  What is wrong is said on stderr.
 * It owns nothing.
 */
#pragma once

#include "cli/scenario-options.h"
#include "study/sweep.h"

G_BEGIN_DECLS

/* The scenario with the options; where that is none yet, with the first value of each list
 * ("PATH=VALUES", NULL-terminated) besides. NULL and said. (transfer full) */
SsScenario *ss_sweep_load_base (const SsScenarioOptions *options, const char *path, char **texts);
/* The sweep over all of the lists; of each that is wrong it is said. (transfer full) */
SsSweep *ss_sweep_from_arguments (const SsScenario *base, char **texts);

G_END_DECLS
