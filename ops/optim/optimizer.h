/* SPDX-License-Identifier: MIT
 *
 * SsOptimizer: the contract of an optimizer: which states it makes, when, and with which temporaries it
 * updates.  Static const structs, one file each; instances belong to the training loop.
 */
#pragma once

#include "ops/tape.h"

G_BEGIN_DECLS

typedef enum
{
  SS_FOR_LOOP,
  SS_FOREACH,
  SS_FUSED,
  SS_N_IMPLEMENTATIONS
} SsImplementation;

/* "for-loop", "foreach", "fused" (transfer none) */
const char *ss_implementation_name (SsImplementation implementation);

/* One trainable parameter as the optimizer sees it. */
typedef struct
{
  SsValue *parameter;            /* what the model computes with */
  SsValue *master;               /* fp32 copy to update, or NULL */
  SsValue *accumulation;         /* fp32 gradient buffer, or NULL */
  SsValue *state[4];             /* in the order of the class's Python code; held */
} SsOptimizerSlot;

typedef struct _SsOptimizer SsOptimizer;

typedef struct
{
  const SsOptimizer *klass;
  SsImplementation implementation;
  SsTape *tape;
  SsOptimizerSlot *slots;
  guint n_slots;
  gboolean has_state;            /* the first update has been made */
  SsValue *found_inf, *inv_scale;   /* GradScaler's, for a fused step; or NULL */
} SsOptimizerRun;

struct _SsOptimizer
{
  const char *name;              /* "adamw" */
  const char *description;
  guint implementations;         /* bits 1 << SsImplementation */
  /* optional: what the constructor makes (Adagrad's sums) */
  void (*construct) (SsOptimizerRun *run);
  /* optional: states of one parameter at its first update */
  void (*make_state) (SsOptimizerRun *run, SsOptimizerSlot *slot);
  /* required: one update, states exist */
  void (*update) (SsOptimizerRun *run);
};

/* NULL-terminated list. */
const SsOptimizer *const *ss_optimizers (void);
const SsOptimizer *ss_optimizer_find (const char *name);

/* Builds states lazily (construct is the loop's to call), then updates. */
void ss_optimizer_step (SsOptimizerRun *run);
void ss_optimizer_make_states (SsOptimizerRun *run);
void ss_optimizer_clear (SsOptimizerRun *run);

G_END_DECLS
