/* SPDX-License-Identifier: MIT
 *
 * lion-pytorch 0.2.5 (lion_pytorch/lion_pytorch.py), without its Triton kernel, as by default.
 */
#include "ops/kinds/pointwise.h"
#include "ops/optim/optimizers.h"

enum
{
  EXP_AVG
};

static void
make_state (SsOptimizerRun *run, SsOptimizerSlot *slot)
{
  SsValue *target = ss_slot_target (slot);

  ss_slot_set_state (slot, EXP_AVG, ss_zeros_like (run->tape, target, ss_value_dtype (target)));
}

/* update_fn: the clone goes when its sum with the gradient is made */
static void
step (SsOptimizerRun *run, const SsOptimizerSlot *s)
{
  SsTape *t = run->tape;
  SsValue *target = ss_slot_target (s), *exp_avg = s->state[EXP_AVG];
  g_autoptr (SsValue) gradient = ss_slot_gradient (t, s);
  g_autoptr (SsValue) clone = NULL, change = NULL;

  SS_IN_PLACE (t, MUL, target);
  clone = ss_keep (ss_clone_like (t, exp_avg, &exp_avg->tensor));
  SS_IN_PLACE (t, MUL, clone);
  change = ss_keep (ss_plain (t, SS_PLAIN_ADD, clone, gradient, ss_value_dtype (clone)));
  ss_drop (&clone);
  SS_IN_PLACE (t, SIGN, change);
  SS_IN_PLACE (t, ADD, target, change);
  SS_IN_PLACE (t, MUL, exp_avg);
  SS_IN_PLACE (t, ADD, exp_avg, gradient);
}

static void
update (SsOptimizerRun *run)
{
  ss_optimizer_step_each (run, step);
}

const SsOptimizer ss_optimizer_lion = {
  .name = "lion", .description = "Lion: one moment per parameter",
  .by_default = SS_FOR_LOOP, .make_state = make_state,
  .update = { [SS_FOR_LOOP] = update }, .makes_state_itself = TRUE,
};
