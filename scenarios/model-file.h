/* SPDX-License-Identifier: MIT
 *
 * A model's numbers from a file: a model file of our own (.xml) or a Hugging Face config (.json).
 */
#pragma once

#include "hw/problems.h"
#include "ops/families/family.h"

G_BEGIN_DECLS

/* FALSE with the problems added.  *name is the model's (transfer full): what the file calls it, or
 * after the file or, for a config.json, its folder. */
gboolean ss_model_file_load (const char *path, SsModelConfig *config, char **name,
                             SsProblems *problems);

/* What a model is called after its file: its name, or for a bare config.json its folder's.
 * (transfer full) */
char *ss_model_file_name (const char *path);

G_END_DECLS
