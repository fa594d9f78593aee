/* SPDX-License-Identifier: MIT
 *
 * From named values, as a Hugging Face config.json or a model file states them, to SsModelConfig:
 * by the family's table of fields.  It knows neither JSON nor XML, and no model by name.
 */
#pragma once

#include "hw/problems.h"
#include "ops/families/family.h"

G_BEGIN_DECLS

typedef enum
{
  SS_CONFIG_NULL,
  SS_CONFIG_NUMBER,
  SS_CONFIG_FLAG,
  SS_CONFIG_TEXT,
  SS_CONFIG_OTHER                /* a list or an object */
} SsConfigValueKind;

typedef struct
{
  SsConfigValueKind kind;
  double number;
  gboolean flag;
  char *text;                    /* of a text; of anything else as messages show it; owned */
  gint line;                     /* 0: not known */
} SsConfigValue;

void ss_config_value_free (SsConfigValue *value);

/* A set of values of one file: names as in config.json ("num_hidden_layers"), members of an object
 * within it as "rope_scaling.rope_type", to SsConfigValue; it owns both. (transfer full) */
GHashTable *ss_config_values_new (void);

/* Fills `config` for a model of that type.  What is missing or wrong is added to `problems` under
 * `file`, with names written with `separator` for "_" ('-' in XML), `line` for what is not in the
 * file. */
void ss_model_config_resolve (SsModelConfig *config, const char *model_type, GHashTable *values,
                              const char *file, gint line, char separator, SsProblems *problems);

G_END_DECLS
