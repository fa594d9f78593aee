/* SPDX-License-Identifier: MIT
 *
 * Every optimizer there is, and what their files share.
 */
#pragma once

#include "ops/kinds/foreach.h"
#include "ops/kinds/in-place.h"
#include "ops/optim/optimizer.h"

G_BEGIN_DECLS

/* One word adds an optimizer: `ss_optimizer_WORD` of its file. */
#define SS_OPTIMIZERS(X)                                                                           \
  X (sgd) X (momentum) X (adam) X (adamw) X (adagrad) X (rmsprop) X (nadam) X (adafactor)

#define SS_DECLARE_OPTIMIZER(word) extern const SsOptimizer ss_optimizer_##word;
SS_OPTIMIZERS (SS_DECLARE_OPTIMIZER)
#undef SS_DECLARE_OPTIMIZER

#define SS_WITHOUT_FUSED (1u << SS_FOR_LOOP | 1u << SS_FOREACH)
#define SS_ALL_IMPLEMENTATIONS (SS_WITHOUT_FUSED | 1u << SS_FUSED)

/* What the update writes: the master copy, or the parameter. (transfer none) */
SsValue *ss_slot_target (const SsOptimizerSlot *slot);
/* What it reads: the fp32 buffer, or .grad, in the target's type: maybe a new tensor. (transfer
 * full) */
SsValue *ss_slot_gradient (SsTape *t, const SsOptimizerSlot *slot);
/* State number `i` becomes `value`, floating or not. */
void ss_slot_set_state (SsOptimizerSlot *slot, guint i, SsValue *value);

/* Lists over the active slots. (transfer full) */
GPtrArray *ss_optimizer_targets (const SsOptimizerRun *run);
GPtrArray *ss_optimizer_states (const SsOptimizerRun *run, guint i);
/* Gradients in their own type. */
GPtrArray *ss_optimizer_active_gradients (const SsOptimizerRun *run);
/* Gradients in the targets' type: with masters a list of new fp32 tensors, assumed. */
GPtrArray *ss_optimizer_wide_gradients (const SsOptimizerRun *run);

/* A fused kernel over targets, gradients in their own type, and `states`.  It writes a master's
 * working copy too (assumed), takes GradScaler's scalars, and with them writes the unscaled
 * gradients. */
void ss_optimizer_fused (SsOptimizerRun *run, SsForeachKernel kernel, guint n_states,
                         const SsForeachList *states);

G_END_DECLS
