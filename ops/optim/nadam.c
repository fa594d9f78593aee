/* SPDX-License-Identifier: MIT
 *
 * torch.optim.NAdam (torch/optim/nadam.py): step and product of momenta stay on the host.
 */
#include "ops/kinds/pointwise.h"
#include "ops/optim/optimizers.h"

enum
{
  EXP_AVG,
  EXP_AVG_SQ
};

static void
make_state (SsOptimizerRun *run, SsOptimizerSlot *slot)
{
  SsValue *target = ss_slot_target (slot);

  for (guint i = EXP_AVG; i <= EXP_AVG_SQ; i++)
    ss_slot_set_state (slot, i, ss_zeros_like (run->tape, target, ss_value_dtype (target)));
}

/* _multi_tensor_nadam: one addcdiv for the gradient, one for the first moment */
static void
update_foreach (SsOptimizerRun *run)
{
  SsTape *t = run->tape;
  g_autoptr (GPtrArray) gradients = ss_optimizer_wide_gradients (run);
  g_autoptr (GPtrArray) targets = ss_optimizer_targets (run);
  g_autoptr (GPtrArray) avg = ss_optimizer_states (run, EXP_AVG);
  g_autoptr (GPtrArray) avg_sq = ss_optimizer_states (run, EXP_AVG_SQ);
  g_autoptr (GPtrArray) denominators = NULL;

  SS_FOREACH (t, LERP, { avg, 2 }, { gradients, 1 });
  SS_FOREACH (t, MUL, { avg_sq, 2 });
  SS_FOREACH (t, ADDCMUL, { avg_sq, 2 }, { gradients, 1 }, { gradients, 0 });
  denominators = ss_foreach_new (t, SS_FOREACH_SQRT, avg_sq, SS_N_DTYPES);
  SS_FOREACH (t, DIV, { denominators, 2 });
  SS_FOREACH (t, ADD, { denominators, 2 });
  SS_FOREACH (t, ADDCDIV_EACH, { targets, 2 }, { gradients, 1 }, { denominators, 1 });
  SS_FOREACH (t, ADDCDIV_EACH, { targets, 2 }, { avg, 1 }, { denominators, 1 });
}

/* _single_tensor_nadam: `denom` lives until the next parameter's replaces it */
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
      SsValue *unbiased;

      SS_IN_PLACE (t, LERP, avg, gradient);
      SS_IN_PLACE (t, MUL, avg_sq);
      SS_IN_PLACE (t, ADDCMUL, avg_sq, gradient, gradient);
      unbiased = ss_plain (t, SS_PLAIN_DIV, avg_sq, NULL, dtype);
      ss_rebind (&denominator, ss_plain (t, SS_PLAIN_SQRT, unbiased, NULL, dtype));
      SS_IN_PLACE (t, ADD, denominator);
      SS_IN_PLACE (t, ADDCDIV, target, gradient, denominator);
      SS_IN_PLACE (t, ADDCDIV, target, avg, denominator);
    }
}

const SsOptimizer ss_optimizer_nadam = {
  .name = "nadam", .description = "NAdam: two moments per parameter, Nesterov's momentum",
  .by_default = SS_FOREACH, .make_state = make_state,
  .update = { [SS_FOR_LOOP] = update_for_loop, [SS_FOREACH] = update_foreach },
};
