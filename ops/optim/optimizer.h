/* SPDX-License-Identifier: MIT
 *
 * SsOptimizer: the contract of an optimizer: which states it makes, when, and with which
 * temporaries it updates.  Static const structs, one file each; an SsOptimizerRun belongs to the
 * training loop.
 */
#pragma once

#include "ops/core/tape.h"

G_BEGIN_DECLS

typedef enum
{
  SS_FOR_LOOP,
  SS_FOREACH,
  SS_FUSED,
  SS_BITSANDBYTES,               /* the package's class of that name */
  SS_TORCHAO,
  SS_TRANSFORMERS,
  SS_N_IMPLEMENTATIONS
} SsImplementation;

/* "for-loop", "foreach", "fused", "bitsandbytes" ... (transfer none) */
const char *ss_implementation_name (SsImplementation implementation);

#define SS_MAX_STATES 6
#define SS_MAX_SHARED_STATES 2

/* One trainable parameter as the optimizer sees it. */
typedef struct
{
  SsValue *parameter;            /* what the model computes with */
  SsValue *master;               /* fp32 copy to update, or NULL; held */
  SsValue *accumulation;         /* fp32 gradient buffer, or NULL; held */
  gboolean is_linear;            /* the weight of a linear within a layer, or of its adapter */
  gboolean has_state;
  guint64 paged_bytes;           /* states in managed memory, unknown to PyTorch's allocator */
  SsValue *state[SS_MAX_STATES];   /* numbered by the optimizer's file; held */
} SsOptimizerSlot;

typedef struct _SsOptimizer SsOptimizer;

/* How parameters are put in groups, each updated by itself. */
typedef enum
{
  SS_GROUPS_ONE,
  SS_GROUPS_DECAY                /* transformers' Trainer: weight decay for all but norms, biases */
} SsGrouping;

/* param_groups: parameters with settings of their own. */
typedef struct
{
  const SsOptimizer *klass;
  SsImplementation implementation;
  gboolean decays;               /* weight_decay is not 0, where the class has one by default */
  GPtrArray *slots;              /* SsOptimizerSlot, in parameters () order */
} SsOptimizerGroup;

/* What a run's optimizer is made of. */
typedef struct
{
  const SsOptimizer *klass;
  SsImplementation implementation;
  SsGrouping grouping;
  GPtrArray *linears;            /* SsValue: weights of the layers' linears and adapters */
} SsOptimizerSettings;

typedef struct
{
  SsTape *tape;
  SsOptimizerSlot *slots;        /* in parameters () order; those it was not given are left out */
  guint n_slots;
  gboolean has_wide_gradients;   /* `accumulation` is there from the update to zero_grad alone */
  GPtrArray *groups;             /* SsOptimizerGroup, updated in this order */
  SsImplementation implementation;   /* of the group that was updated last */
  const SsOptimizerGroup *group; /* during a call of the class's functions */
  GPtrArray *active;             /* SsOptimizerSlot *: of the group; in an update, those with a
                                  * gradient */
  SsValue *shared[SS_MAX_SHARED_STATES];   /* states of no parameter; held */
  SsValue *found_inf, *grad_scale;   /* GradScaler's, for a fused step; or NULL */
} SsOptimizerRun;

struct _SsOptimizer
{
  const char *name;              /* required: "adamw" */
  const char *description;       /* required: one line */
  guint not_recorded;            /* bits 1 << SsImplementation: of those that it codes in `update`,
                                  * which follow their source alone */
  SsImplementation by_default;   /* of the first of its name: what holds where nothing is said */
  gconstpointer layout;          /* optional: its file's own description of its states */
  /* optional: which parameters it updates; `others` has the rest, in a group behind its own and
   * in its default implementation; without it nobody updates them or drops their gradients */
  gboolean (*takes) (const SsOptimizerSlot *slot);
  const SsOptimizer *others;
  /* optional: what the constructor makes for the active slots */
  void (*construct) (SsOptimizerRun *run);
  /* optional: states of one parameter, at its first update or at a resume */
  void (*make_state) (SsOptimizerRun *run, SsOptimizerSlot *slot);
  /* required: for each implementation that this codes one update of the active slots; states
   * exist */
  void (*update[SS_N_IMPLEMENTATIONS]) (SsOptimizerRun *run);
  /* the first update makes the states from gradients: make_state serves a resume only */
  guint makes_state_itself : 1;
};

/* NULL-terminated list, one for each name. */
const SsOptimizer *const *ss_optimizers (void);
const SsOptimizer *ss_optimizer_find (const char *name);
/* All implementations that there are under its name, as bits 1 << SsImplementation. */
guint ss_optimizer_implementations (const SsOptimizer *self);
/* Of these, those that no recording of PyTorch was laid beside. */
guint ss_optimizer_not_recorded (const SsOptimizer *self);

/* A slot for each of `parameters` (SsValue) that requires a gradient, in the groups that settings
 * and class ask for, empty ones left out; nothing is allocated. */
void ss_optimizer_init (SsOptimizerRun *run, const SsOptimizerSettings *settings, SsTape *t,
                        GPtrArray *parameters);
/* Copies in fp32, after all parameters; then, if `accumulates`, fp32 buffers to which autograd
 * adds every gradient that reaches the parameter.  Assumed: no recording has them. */
void ss_optimizer_make_masters (SsOptimizerRun *run, gboolean accumulates);
/* The optimizer's constructor. */
void ss_optimizer_construct (SsOptimizerRun *run);
/* A resume: every state exists before the first step. */
void ss_optimizer_make_states (SsOptimizerRun *run);
/* What a step reads: .grad or the fp32 buffer of every parameter with a gradient. (transfer
 * full) */
GPtrArray *ss_optimizer_gradients (const SsOptimizerRun *run);
/* apex's unscaling: fp32 gradients of the masters beside the parameters' own, until zero_grad. */
void ss_optimizer_widen_gradients (SsOptimizerRun *run);
/* optimizer.step (): the first makes the states. */
void ss_optimizer_step (SsOptimizerRun *run);
/* optimizer.zero_grad (set_to_none=not in_place); fp32 buffers are always kept and zeroed. */
void ss_optimizer_zero_grad (SsOptimizerRun *run, gboolean in_place);
/* Lets go of everything held. */
void ss_optimizer_clear (SsOptimizerRun *run);

G_END_DECLS
