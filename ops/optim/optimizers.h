/* SPDX-License-Identifier: MIT
 *
 * Every optimizer there is, and what their files share.
 */
#pragma once

#include "ops/kinds/foreach.h"
#include "ops/kinds/in-place.h"
#include "ops/optim/optimizer.h"

G_BEGIN_DECLS

/* One word adds an optimizer: `ss_optimizer_WORD` of its file.  The first list has each name
 * once; the second what other packages have under a name of the first. */
#define SS_OPTIMIZERS(X)                                                                           \
  X (sgd) X (momentum) X (adam) X (adamw) X (adagrad) X (rmsprop) X (nadam) X (adafactor)          \
  X (adafactor_momentum) X (lion) X (muon) X (muon_only) X (adamw_8bit) X (lion_8bit)              \
  X (ademamix) X (ademamix_8bit) X (paged_adamw) X (paged_adamw_8bit) X (paged_lion)               \
  X (paged_lion_8bit) X (paged_ademamix) X (paged_ademamix_8bit) X (adamw_4bit) X (adamw_fp8)
#define SS_MORE_OPTIMIZERS(X) X (adamw_32bit) X (lion_32bit) X (adamw_torchao_8bit) \
  X (adafactor_transformers)

#define SS_DECLARE_OPTIMIZER(word) extern const SsOptimizer ss_optimizer_##word;
SS_OPTIMIZERS (SS_DECLARE_OPTIMIZER)
SS_MORE_OPTIMIZERS (SS_DECLARE_OPTIMIZER)
#undef SS_DECLARE_OPTIMIZER

/* The code of that implementation of the class. */
const SsOptimizer *ss_optimizer_implementation (const SsOptimizer *klass,
                                                SsImplementation implementation);

/* What the update writes: the master copy, or the parameter. (transfer none) */
SsValue *ss_slot_target (const SsOptimizerSlot *slot);
/* What it reads: the fp32 buffer, or .grad, in the target's type: maybe a new tensor. (transfer
 * full) */
SsValue *ss_slot_gradient (SsTape *t, const SsOptimizerSlot *slot);
/* What it will read until zero_grad, in place of .grad. */
void ss_slot_set_gradient (SsOptimizerSlot *slot, SsValue *value);
/* State number `i` becomes `value`, floating or not. */
void ss_slot_set_state (SsOptimizerSlot *slot, guint i, SsValue *value);

/* A storage of the run's, not of one parameter's. */
void ss_optimizer_share_state (SsOptimizerRun *run, guint i, SsValue *value);

/* Lists over the active slots. (transfer full) */
GPtrArray *ss_optimizer_targets (const SsOptimizerRun *run);
GPtrArray *ss_optimizer_states (const SsOptimizerRun *run, guint i);
/* Gradients in their own type. */
GPtrArray *ss_optimizer_active_gradients (const SsOptimizerRun *run);
/* Gradients in the targets' type: with masters a list of new fp32 tensors, assumed. */
GPtrArray *ss_optimizer_wide_gradients (const SsOptimizerRun *run);

/* A loop that makes each state right before the update it is for. */
void ss_optimizer_step_each (SsOptimizerRun *run,
                             void (*step) (SsOptimizerRun *run, const SsOptimizerSlot *slot));
/* A fused kernel over targets, gradients in their own type, and `states`.  It writes a master's
 * working copy too (assumed), takes GradScaler's scalars, and with them writes the unscaled
 * gradients. */
void ss_optimizer_fused (SsOptimizerRun *run, SsForeachKernel kernel, guint n_states,
                         const SsForeachList *states);

G_END_DECLS
