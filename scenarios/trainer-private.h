/* SPDX-License-Identifier: MIT
 *
 * SsTaking: the settings on their way: the file, and for each setting of the scenario what was
 * chosen or why it cannot be.  It lives for one call of ss_trainer_read.
 */
#pragma once

#include "scenarios/settings-file.h"
#include "scenarios/trainer.h"

G_BEGIN_DECLS

typedef struct
{
  const SsSettingsFile *file;
  SsTrainerKind kind;
  GHashTable *chosen;            /* "training/steps" -> "2" */
  GHashTable *refused;           /* "optimizer/type" -> "... is not simulated" */
  GPtrArray *order;              /* the keys of `chosen` */
  GString *defaults;             /* lines of what the trainer does untold */
  char *model;
} SsTaking;

/* Chooses the first of `values`, separated by "|", that the setting takes; FALSE and noted if it
 * takes none, or if there is no such setting. */
gboolean ss_taking_set (SsTaking *self, const char *path, const char *values);
/* The same for what no line of the file says; `what` is told: "max_grad_norm 1.0". */
void ss_taking_set_default (SsTaking *self, const char *path, const char *values,
                            const char *what);
/* Notes why the setting cannot be as the file has it. */
void ss_taking_refuse (SsTaking *self, const char *path, const char *why);
/* The value of the key, or NULL where it is missing, null or "auto". */
const char *ss_taking_text (const SsTaking *self, const char *key);
/* Whether the key is true. */
gboolean ss_taking_is (const SsTaking *self, const char *key);

/* What more than one line says: precision, adapter, optimizer, checkpointing, clipping, loss. */
void ss_taking_compose (SsTaking *self);

G_END_DECLS
