/* SPDX-License-Identifier: MIT
 *
 * SsScenario: one question, resolved: a model's numbers, a device, a training recipe, an allocator.
 * It knows no engine and no output.  Reference counted, immutable after load.
 */
#pragma once

#include <glib.h>

#include "hw/device.h"
#include "ops/training-loop.h"

G_BEGIN_DECLS

#define SS_SCENARIO_ERROR (ss_scenario_error_quark ())
GQuark ss_scenario_error_quark (void);

typedef enum
{
  SS_SCENARIO_ERROR_INPUT,       /* something is wrong in a file: "file:line: what", a line each */
  SS_SCENARIO_ERROR_OVERRIDE     /* only --set is: one names no attribute or has a bad value */
} SsScenarioError;

typedef struct _SsScenario SsScenario;

/* Reads a scenario, with `overrides` (NULL-terminated "PATH=VALUE", or NULL) applied to the file
 * before it is checked: "checkpointing/policy=full", "training/steps=3", "name=..." (an attribute
 * of the root). SS_SCENARIO_ERROR_INPUT, SS_SCENARIO_ERROR_OVERRIDE. (transfer full) */
SsScenario *ss_scenario_load (const char *path, const char *const *overrides, GError **error);
/* The same file with the same overrides and `overrides` after them; it is read anew.
 * SS_SCENARIO_ERROR_INPUT, SS_SCENARIO_ERROR_OVERRIDE. (transfer full) */
SsScenario *ss_scenario_derive (const SsScenario *self, const char *const *overrides,
                                GError **error);
/* The same, not read anew, with the layers that its policy's search has found: SsLayerRange, as of
 * ss_checkpointing_plan. (transfer full) */
SsScenario *ss_scenario_with_plan (const SsScenario *self, const GArray *ranges);
SsScenario *ss_scenario_ref (SsScenario *self);
void ss_scenario_unref (SsScenario *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsScenario, ss_scenario_unref)

const char *ss_scenario_path (const SsScenario *self);          /* as given to ss_scenario_load */
const char *ss_scenario_file (const SsScenario *self);          /* the file that was found */
const char *ss_scenario_name (const SsScenario *self);
const char *ss_scenario_model_name (const SsScenario *self);
/* Layers of the model as its file has it; the trace's config has those that layers="..." keeps. */
gint64 ss_scenario_n_layers_whole (const SsScenario *self);
const SsTraceConfig *ss_scenario_trace_config (const SsScenario *self);
SsDevice *ss_scenario_device (const SsScenario *self);
/* The device's, or capacity="..."; G_MAXINT64: unlimited. */
guint64 ss_scenario_capacity_bytes (const SsScenario *self);
guint64 ss_scenario_context_bytes (const SsScenario *self);
guint64 ss_scenario_other_processes_bytes (const SsScenario *self);
gboolean ss_scenario_empties_cache (const SsScenario *self);   /* after each step */
const char *ss_scenario_allocator (const SsScenario *self);    /* as asked: "caching" */
const char *ss_scenario_alloc_conf (const SsScenario *self);   /* "" for none */

/* What it does, op by op, on a device like its own; the layers of its policy must have been found.
 * SS_OPS_ERROR_*. (transfer full) */
SsProgram *ss_scenario_trace (const SsScenario *self, gboolean keeps_operands, GError **error);

/* The file with every default filled in, as `stepsim show` prints it; loads to an equal scenario.
 * (transfer full) */
char *ss_scenario_to_xml (const SsScenario *self);
/* The same with what each setting means and takes in comments, for a person to change.
 * (transfer full) */
char *ss_scenario_to_commented_xml (const SsScenario *self);
/* Every setting in force as "PATH=VALUE", in the order of the table, NULL-terminated.
 * (transfer full) */
char **ss_scenario_settings (const SsScenario *self);

G_END_DECLS
