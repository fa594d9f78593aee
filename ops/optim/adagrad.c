/* SPDX-License-Identifier: MIT
 *
 * torch.optim.Adagrad (torch/optim/adagrad.py): the constructor makes the sums of squares.
 */
#include "ops/kinds/pointwise.h"
#include "ops/optim/optimizers.h"

enum
{
  SUM
};

static void
construct (SsOptimizerRun *run)
{
  for (guint i = 0; i < run->active->len; i++)
    {
      SsOptimizerSlot *s = run->active->pdata[i];

      ss_slot_set_state (s, SUM, ss_full_like (run->tape, ss_slot_target (s)));
    }
}

/* _multi_tensor_adagrad: a list of roots and a list of scaled gradients */
static void
update_foreach (SsOptimizerRun *run)
{
  SsTape *t = run->tape;
  g_autoptr (GPtrArray) gradients = ss_optimizer_wide_gradients (run);
  g_autoptr (GPtrArray) targets = ss_optimizer_targets (run);
  g_autoptr (GPtrArray) sums = ss_optimizer_states (run, SUM);
  g_autoptr (GPtrArray) numerators = NULL, roots = NULL;

  SS_FOREACH (t, ADDCMUL, { sums, 2 }, { gradients, 1 }, { gradients, 0 });
  roots = ss_foreach_new (t, SS_FOREACH_SQRT, sums, SS_N_DTYPES);
  SS_FOREACH (t, ADD, { roots, 2 });
  numerators = ss_foreach_new (t, SS_FOREACH_MUL_NEW, gradients, SS_N_DTYPES);
  SS_FOREACH (t, ADDCDIV, { targets, 2 }, { numerators, 1 }, { roots, 1 });
}

/* _single_tensor_adagrad: `std` lives until the next parameter's replaces it */
static void
update_for_loop (SsOptimizerRun *run)
{
  SsTape *t = run->tape;
  g_autoptr (SsValue) root = NULL;

  for (guint i = 0; i < run->active->len; i++)
    {
      const SsOptimizerSlot *s = run->active->pdata[i];
      SsValue *sum = s->state[SUM];
      g_autoptr (SsValue) gradient = ss_slot_gradient (t, s);
      g_autoptr (SsValue) next = NULL;

      SS_IN_PLACE (t, ADDCMUL, sum, gradient, gradient);
      next = ss_keep (ss_plain (t, SS_PLAIN_SQRT, sum, NULL, ss_value_dtype (sum)));
      SS_IN_PLACE (t, ADD, next);
      ss_rebind (&root, next);
      SS_IN_PLACE (t, ADDCDIV, ss_slot_target (s), gradient, root);
    }
}

const SsOptimizer ss_optimizer_adagrad = {
  .name = "adagrad", .description = "Adagrad: one sum of squares per parameter, made at once",
  .by_default = SS_FOREACH, .construct = construct,
  .update = { [SS_FOR_LOOP] = update_for_loop, [SS_FOREACH] = update_foreach },
};
