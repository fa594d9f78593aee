/* SPDX-License-Identifier: MIT
 *
 * SsScenarioSource: what a person may name in place of a scenario file: a model's config.json, the
 * folder it lies in, a model file, the JSON of a run, or the name alone of a shipped scenario or
 * model.  It reads no value of it: the loader does.
 */
#pragma once

#include "hw/xml-node.h"

G_BEGIN_DECLS

typedef enum
{
  SS_SOURCE_SCENARIO,            /* a file of <scenario> */
  SS_SOURCE_MODEL                /* a model file: the scenario around it is made here */
} SsSourceKind;

/* The document of a scenario: the file's own, or one that names the model and nothing else.
 * NULL with the problem added. (transfer full) */
SsXmlDocument *ss_scenario_source_open (const char *given, SsSourceKind *kind,
                                        SsProblems *problems);
/* Whether `name`, no file, is that of a shipped scenario or model. */
gboolean ss_scenario_source_is_shipped (const char *name);
/* The names of shipped scenarios, or of shipped models, NULL-terminated. (transfer full) */
char **ss_scenario_source_scenarios (void);
char **ss_scenario_source_models (void);

G_END_DECLS
