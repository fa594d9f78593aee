/* SPDX-License-Identifier: MIT
 *
 * Every optimizer there is, and what their files share.
 */
#pragma once

#include "ops/kinds/foreach.h"
#include "ops/optim/optimizer.h"

G_BEGIN_DECLS

extern const SsOptimizer ss_optimizer_sgd, ss_optimizer_momentum;
extern const SsOptimizer ss_optimizer_adam, ss_optimizer_adamw;

#define SS_ALL_IMPLEMENTATIONS (1u << SS_FOR_LOOP | 1u << SS_FOREACH | 1u << SS_FUSED)

/* What the update writes: the master copy, or the parameter. (transfer none) */
SsValue *ss_slot_target (const SsOptimizerSlot *slot);
/* What it reads: the fp32 accumulation buffer, or .grad. (transfer none) */
SsValue *ss_slot_gradient (const SsOptimizerSlot *slot);

/* A foreach pass over `first` that touches each element n_accesses times. */
void ss_optimizer_pass (SsOptimizerRun *run, SsForeachKernel kernel, guint n_accesses, GPtrArray *first);

enum
{
  SS_LIST_TARGETS = -1,
  SS_LIST_GRADIENTS = -2
};
/* One value of each slot: state number `state`, or one of the above. (transfer container) */
GPtrArray *ss_optimizer_list (const SsOptimizerRun *run, gint state);
/* parameter.copy_ (master), one kernel each, where there is a master. */
void ss_optimizer_copy_to_working (SsOptimizerRun *run);

G_END_DECLS
