/* SPDX-License-Identifier: MIT
 *
 * torch.optim.RMSprop (torch/optim/rmsprop.py): not centred, no momentum.
 */
#include "ops/kinds/pointwise.h"
#include "ops/optim/optimizers.h"

enum
{
  SQUARE_AVG
};

static void
make_state (SsOptimizerRun *run, SsOptimizerSlot *slot)
{
  SsValue *target = ss_slot_target (slot);

  ss_slot_set_state (slot, SQUARE_AVG, ss_zeros_like (run->tape, target, ss_value_dtype (target)));
}

/* _multi_tensor_rmsprop */
static void
update_foreach (SsOptimizerRun *run)
{
  SsTape *t = run->tape;
  g_autoptr (GPtrArray) gradients = ss_optimizer_wide_gradients (run);
  g_autoptr (GPtrArray) targets = ss_optimizer_targets (run);
  g_autoptr (GPtrArray) squares = ss_optimizer_states (run, SQUARE_AVG);
  g_autoptr (GPtrArray) roots = NULL;

  SS_FOREACH (t, MUL, { squares, 2 });
  SS_FOREACH (t, ADDCMUL, { squares, 2 }, { gradients, 1 }, { gradients, 0 });
  roots = ss_foreach_new (t, SS_FOREACH_SQRT, squares, SS_N_DTYPES);
  SS_FOREACH (t, ADD, { roots, 2 });
  SS_FOREACH (t, ADDCDIV, { targets, 2 }, { gradients, 1 }, { roots, 1 });
}

/* _single_tensor_rmsprop: `avg` lives until the next parameter's replaces it */
static void
update_for_loop (SsOptimizerRun *run)
{
  SsTape *t = run->tape;
  g_autoptr (SsValue) root = NULL;

  for (guint i = 0; i < run->active->len; i++)
    {
      const SsOptimizerSlot *s = run->active->pdata[i];
      SsValue *square = s->state[SQUARE_AVG];
      g_autoptr (SsValue) gradient = ss_slot_gradient (t, s);

      SS_IN_PLACE (t, MUL, square);
      SS_IN_PLACE (t, ADDCMUL, square, gradient, gradient);
      ss_rebind (&root, ss_plain (t, SS_PLAIN_SQRT, square, NULL, ss_value_dtype (square)));
      SS_IN_PLACE (t, ADD, root);
      SS_IN_PLACE (t, ADDCDIV, ss_slot_target (s), gradient, root);
    }
}

const SsOptimizer ss_optimizer_rmsprop = {
  .name = "rmsprop", .description = "RMSprop: one mean of squares per parameter",
  .by_default = SS_FOREACH, .make_state = make_state,
  .update = { [SS_FOR_LOOP] = update_for_loop, [SS_FOREACH] = update_foreach },
};
