/* SPDX-License-Identifier: MIT
 *
 * The options that change a scenario before it is checked, shared by every command that takes one.
 * It knows no output.  The command owns the struct and clears it.
 */
#pragma once

#include "scenarios/scenario.h"

G_BEGIN_DECLS

typedef struct
{
  char **set;                    /* PATH=VALUE */
  char *alloc_conf, *capacity;
} SsScenarioOptions;

void ss_scenario_options_clear (SsScenarioOptions *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SsScenarioOptions, ss_scenario_options_clear)

/* The GOptionEntry rows for a static table: self is a static or automatic SsScenarioOptions. */
#define SS_SCENARIO_OPTION_ENTRIES(self)                                                           \
  { "set", 's', 0, G_OPTION_ARG_FILENAME_ARRAY, &(self).set,                                       \
    "Change a setting: training/micro-batch=2 (repeatable)", "PATH=VALUE" },                       \
  { "alloc-conf", 0, 0, G_OPTION_ARG_FILENAME, &(self).alloc_conf,                                 \
    "The allocator's options, as PYTORCH_CUDA_ALLOC_CONF has them", "CONF" },                      \
  { "capacity", 0, 0, G_OPTION_ARG_FILENAME, &(self).capacity,                                     \
    "The device's memory: \"40 GiB\", or unlimited: how far over would it go", "SIZE" }

/* The scenario of that file with the options applied; what is wrong is said on stderr. (transfer
 * full) */
SsScenario *ss_scenario_options_load (const SsScenarioOptions *self, const char *path);
/* The same with `more` (NULL-terminated, or NULL) after the options, and nothing said.
 * SS_SCENARIO_ERROR_INPUT, SS_SCENARIO_ERROR_OVERRIDE. (transfer full) */
SsScenario *ss_scenario_options_try (const SsScenarioOptions *self, const char *path,
                                     const char *const *more, GError **error);

/* "; the shipped one is /usr/share/stepsim/scenarios/x.xml" for the name of one that comes with
 * the program, with .xml or without, or "". (transfer full) */
char *ss_scenario_options_hint (const char *name);

G_END_DECLS
