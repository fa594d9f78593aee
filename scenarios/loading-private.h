/* SPDX-License-Identifier: MIT
 *
 * SsLoading: a scenario on its way in: the document with its overrides, the problems met, and where
 * each value came from.  It lives for one call of ss_scenario_load, which owns it.
 */
#pragma once

#include "hw/xml-node.h"
#include "scenarios/attribute.h"
#include "scenarios/scenario-private.h"

G_BEGIN_DECLS

typedef struct
{
  SsScenario *scenario;
  SsXmlDocument *document;
  SsProblems *problems;
  GHashTable *overrides;         /* "training/steps" -> "--set training/steps=3", the last one */
  guint n_in_overrides;          /* problems that an override caused */
  gboolean is_around_model;      /* the document was made for a model that was named alone */
} SsLoading;

/* The element of that name, the root for "scenario", or NULL. (transfer none) */
SsXmlNode *ss_loading_element (const SsLoading *self, const char *element);
/* The override that set it, as the user wrote it, or NULL. (transfer none) */
const char *ss_loading_override (const SsLoading *self, const char *element, const char *attribute);
/* Adds a problem of a value where it came from: an override, the file's line, or the file. */
void ss_loading_problem (SsLoading *self, const char *element, const char *attribute,
                         const char *format, ...) G_GNUC_PRINTF (4, 5);

/* Finds the model's numbers and the device, and checks what depends on them. */
void ss_loading_resolve (SsLoading *self);
/* Refuses what the device's compute capability does not have. */
void ss_loading_resolve_running (SsLoading *self);
void ss_loading_check_capability (SsLoading *self);
/* Settles which checkpoint policy there is, and that it has the settings it reads and no others. */
void ss_loading_choose_policy (SsLoading *self);
/* Checks its settings beside the model and the kernels, which are known. */
void ss_loading_check_policy (SsLoading *self);

G_END_DECLS
