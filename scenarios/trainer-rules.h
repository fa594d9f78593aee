/* SPDX-License-Identifier: MIT
 *
 * SsTrainerRule: what one setting of another trainer is here, in tables: a setting of the scenario,
 * a part of one, or nothing, and then why.  Static const data.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  SS_RULE_SET,                   /* its value, or the word for it, is that of `path` */
  SS_RULE_PART,                  /* with others it makes up `path` */
  SS_RULE_LEFT,                  /* no part of what is simulated */
  SS_RULE_MATTERS                /* it changes memory or time, and cannot be said here */
} SsRuleKind;

typedef struct
{
  const char *key;               /* "lora_r"; "wandb_*" for all that begin so */
  SsRuleKind kind;
  const char *path;              /* "adapter/rank" */
  const char *words;             /* SET: "true=yes false=no"; an empty word sets nothing; or NULL */
  const char *why;               /* LEFT, MATTERS: a clause, or NULL for "does not change a step" */
} SsTrainerRule;

typedef enum
{
  SS_TRAINER_HUGGING_FACE,
  SS_TRAINER_AXOLOTL,
  SS_TRAINER_LLAMA_FACTORY,
  SS_TRAINER_TORCHTUNE,
  SS_TRAINER_DEEPSPEED,
  SS_N_TRAINERS
} SsTrainerKind;

/* "Axolotl" */
const char *ss_trainer_kind_name (SsTrainerKind kind);
/* The trainer's rule for the key, or NULL if none is known. */
const SsTrainerRule *ss_trainer_rule_find (SsTrainerKind kind, const char *key);
/* "adamw foreach" for "adamw_torch": the optimizer here and its implementation; NULL if the name is
 * not known. */
const char *ss_trainer_optimizer (const char *name);

G_END_DECLS
