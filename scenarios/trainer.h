/* SPDX-License-Identifier: MIT
 *
 * SsTrainer: another trainer's settings as settings of a scenario, with what became of each line.
 * It knows no model and no device.  The caller owns it.
 */
#pragma once

#include "hw/problems.h"
#include "scenarios/trainer-rules.h"

G_BEGIN_DECLS

typedef struct
{
  SsTrainerKind kind;
  char *model;                   /* as the file names it, or NULL */
  char **overrides;              /* "training/micro-batch=2", NULL-terminated */
  /* a line each: "a.yml:3: micro_batch_size: 2 -> training/micro-batch=2", or "left: " and why;
   * what the trainer does without being told comes last */
  char *report;
  guint n_taken, n_left, n_that_matter;
} SsTrainer;

/* Reads YAML or JSON of any of the trainers, which it tells by their keys. NULL with the problem
 * added. (transfer full) */
SsTrainer *ss_trainer_read (const char *path, SsProblems *problems);
void ss_trainer_free (SsTrainer *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsTrainer, ss_trainer_free)

/* What `model` of such a file may be given as to ss_scenario_load: a folder or file that is there,
 * or a shipped model that is called so ("meta-llama/Meta-Llama-3-8B"). NULL if none is.
 * (transfer full) */
char *ss_trainer_find_model (const char *model);

G_END_DECLS
