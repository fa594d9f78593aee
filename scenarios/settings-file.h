/* SPDX-License-Identifier: MIT
 *
 * SsSettingsFile: the settings of another program, YAML or JSON, as a flat list with lines:
 * "optimizer.type" for a member of a member.  It knows YAML, no trainer.  The caller owns it.
 */
#pragma once

#include "hw/problems.h"

G_BEGIN_DECLS

/* The largest file in bytes, the deepest nesting and the most settings that are read. */
#define SS_SETTINGS_MAX_BYTES (1024 * 1024)
#define SS_SETTINGS_MAX_DEPTH 32
#define SS_SETTINGS_MAX_COUNT 5000

typedef enum
{
  SS_SETTING_TEXT,
  SS_SETTING_NUMBER,
  SS_SETTING_FLAG,
  SS_SETTING_NULL,
  SS_SETTING_LIST,               /* of plain values: `text` has them with spaces between */
  SS_SETTING_OTHER               /* a list of something else: `text` says so */
} SsSettingKind;

typedef struct
{
  char *key;                     /* "lora_r", "zero_optimization.stage" */
  char *text;                    /* as the file has it; a flag is "true" or "false" */
  SsSettingKind kind;
  gint line;
} SsSetting;

typedef struct
{
  char *path;
  GPtrArray *settings;           /* SsSetting, in the order of the file */
} SsSettingsFile;

/* NULL with the problem added: what YAML refuses, an alias of more than a plain value, a file that
 * is too large or too deep. (transfer full) */
SsSettingsFile *ss_settings_file_load (const char *path, SsProblems *problems);
void ss_settings_file_free (SsSettingsFile *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsSettingsFile, ss_settings_file_free)

/* The last of that key, or NULL. (transfer none) */
const SsSetting *ss_settings_file_find (const SsSettingsFile *self, const char *key);

G_END_DECLS
