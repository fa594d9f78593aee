/* SPDX-License-Identifier: MIT
 *
 * torch.optim.Adam and AdamW (torch/optim/adam.py), with their default arguments: AdamW decays
 * weights, Adam does not.
 */
#include "ops/kinds/pointwise.h"
#include "ops/optim/optimizers.h"

enum
{
  EXP_AVG,
  EXP_AVG_SQ,
  STEP
};

static gboolean
is_adamw (const SsOptimizerRun *run)
{
  return run->group->klass == &ss_optimizer_adamw;
}

static gboolean
decays (const SsOptimizerRun *run)
{
  return is_adamw (run) && run->group->decays;
}

/* fused keeps its step counter on the device, made before the moments; the others keep it on the
 * host */
static void
make_state (SsOptimizerRun *run, SsOptimizerSlot *slot)
{
  SsValue *target = ss_slot_target (slot);
  SsDtype dtype = ss_value_dtype (target);

  if (run->implementation == SS_FUSED)
    ss_slot_set_state (slot, STEP, ss_zeros (run->tape, SS_F32, 0, NULL));
  ss_slot_set_state (slot, EXP_AVG, ss_zeros_like (run->tape, target, dtype));
  ss_slot_set_state (slot, EXP_AVG_SQ, ss_zeros_like (run->tape, target, dtype));
}

/* _fused_adam */
static void
update_fused (SsOptimizerRun *run)
{
  SsForeachKernel kernel = is_adamw (run) ? SS_FOREACH_FUSED_ADAMW : SS_FOREACH_FUSED_ADAM;
  g_autoptr (GPtrArray) avg = ss_optimizer_states (run, EXP_AVG);
  g_autoptr (GPtrArray) avg_sq = ss_optimizer_states (run, EXP_AVG_SQ);
  g_autoptr (GPtrArray) steps = ss_optimizer_states (run, STEP);
  g_autoptr (GPtrArray) found_inf = ss_list_new ();
  const SsForeachList states[] = { { avg, 2 }, { avg_sq, 2 }, { steps, 1 } };

  SS_FOREACH (run->tape, ADD, { steps, 2 });
  ss_optimizer_fused (run, kernel, G_N_ELEMENTS (states), states);
  if (!run->found_inf)
    return;
  /* a step that was skipped is not counted */
  for (guint i = 0; i < steps->len; i++)
    ss_list_add (found_inf, run->found_inf);
  SS_FOREACH (run->tape, SUB, { steps, 2 }, { found_inf, 1 });
}

/* _multi_tensor_adam: the denominators are a list of all parameters' size */
static void
update_foreach (SsOptimizerRun *run)
{
  SsTape *t = run->tape;
  g_autoptr (GPtrArray) gradients = ss_optimizer_wide_gradients (run);
  g_autoptr (GPtrArray) targets = ss_optimizer_targets (run);
  g_autoptr (GPtrArray) avg = ss_optimizer_states (run, EXP_AVG);
  g_autoptr (GPtrArray) avg_sq = ss_optimizer_states (run, EXP_AVG_SQ);
  g_autoptr (GPtrArray) denominators = NULL;

  if (decays (run))
    SS_FOREACH (t, MUL, { targets, 2 });
  SS_FOREACH (t, LERP, { avg, 2 }, { gradients, 1 });
  SS_FOREACH (t, MUL, { avg_sq, 2 });
  SS_FOREACH (t, ADDCMUL, { avg_sq, 2 }, { gradients, 1 }, { gradients, 0 });
  denominators = ss_foreach_new (t, SS_FOREACH_SQRT, avg_sq, SS_N_DTYPES);
  SS_FOREACH (t, DIV, { denominators, 2 });
  SS_FOREACH (t, ADD, { denominators, 2 });
  SS_FOREACH (t, ADDCDIV_EACH, { targets, 2 }, { avg, 1 }, { denominators, 1 });
}

/* _single_tensor_adam: `denom` lives until the next parameter's replaces it */
static void
update_for_loop (SsOptimizerRun *run)
{
  SsTape *t = run->tape;
  g_autoptr (SsValue) denominator = NULL;

  for (guint i = 0; i < run->active->len; i++)
    {
      const SsOptimizerSlot *s = run->active->pdata[i];
      SsValue *target = ss_slot_target (s);
      SsValue *avg = s->state[EXP_AVG], *avg_sq = s->state[EXP_AVG_SQ];
      g_autoptr (SsValue) gradient = ss_slot_gradient (t, s);
      SsDtype dtype = ss_value_dtype (avg_sq);
      SsValue *root;

      if (decays (run))
        SS_IN_PLACE (t, MUL, target);
      SS_IN_PLACE (t, LERP, avg, gradient);
      SS_IN_PLACE (t, MUL, avg_sq);
      SS_IN_PLACE (t, ADDCMUL, avg_sq, gradient, gradient);
      root = ss_plain (t, SS_PLAIN_SQRT, avg_sq, NULL, dtype);
      ss_rebind (&denominator, ss_plain (t, SS_PLAIN_DIV, root, NULL, dtype));
      SS_IN_PLACE (t, ADD, denominator);
      SS_IN_PLACE (t, ADDCDIV, target, avg, denominator);
    }
}

#define UPDATES                                                                                    \
  { [SS_FOR_LOOP] = update_for_loop, [SS_FOREACH] = update_foreach, [SS_FUSED] = update_fused }

const SsOptimizer ss_optimizer_adam = {
  .name = "adam", .description = "Adam: two moments per parameter",
  .by_default = SS_FUSED, .make_state = make_state, .update = UPDATES,
};
const SsOptimizer ss_optimizer_adamw = {
  .name = "adamw", .description = "AdamW: two moments per parameter, decoupled weight decay",
  .by_default = SS_FUSED, .make_state = make_state, .update = UPDATES,
};
