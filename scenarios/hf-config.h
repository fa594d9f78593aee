/* SPDX-License-Identifier: MIT
 *
 * A Hugging Face config.json as named values.  It knows JSON, no model.
 */
#pragma once

#include "scenarios/model-config.h"

G_BEGIN_DECLS

/* Largest file in bytes that is read. */
#define SS_HF_CONFIG_MAX_BYTES (1024 * 1024)

/* The members of the object that the file holds (ss_config_values_new), or NULL with the problem
 * added. (transfer full) */
GHashTable *ss_hf_config_load (const char *path, SsProblems *problems);

G_END_DECLS
