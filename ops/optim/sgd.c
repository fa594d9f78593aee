/* SPDX-License-Identifier: MIT
 *
 * torch.optim.SGD, without and with momentum (torch/optim/sgd.py): no decay, no dampening.
 */
#include "ops/kinds/pointwise.h"
#include "ops/optim/optimizers.h"

enum
{
  MOMENTUM_BUFFER
};

static gboolean
has_momentum (const SsOptimizerRun *run)
{
  return run->group->klass == &ss_optimizer_momentum;
}

/* of a resume */
static void
make_momentum (SsOptimizerRun *run, SsOptimizerSlot *slot)
{
  SsValue *target = ss_slot_target (slot);

  ss_slot_set_state (slot, MOMENTUM_BUFFER, ss_empty (run->tape, &target->tensor));
}

/* _fused_sgd: a first buffer is only written */
static void
update_fused (SsOptimizerRun *run)
{
  g_autoptr (GPtrArray) buffers = NULL;
  SsForeachList states;
  gboolean is_first = FALSE;

  if (!has_momentum (run))
    {
      ss_optimizer_fused (run, SS_FOREACH_FUSED_SGD, 0, NULL);
      return;
    }
  for (guint i = 0; i < run->active->len; i++)
    {
      SsOptimizerSlot *s = run->active->pdata[i];

      if (s->has_state)
        continue;
      is_first = TRUE;
      make_momentum (run, s);
    }
  buffers = ss_optimizer_states (run, MOMENTUM_BUFFER);
  states = (SsForeachList) { buffers, is_first ? 1 : 2 };
  ss_optimizer_fused (run, SS_FOREACH_FUSED_SGD, 1, &states);
}

/* The buffer begins as a clone of the first gradient: TRUE if it did so now. */
static gboolean
begin_buffer (SsOptimizerRun *run, SsOptimizerSlot *slot, SsValue *gradient)
{
  if (slot->has_state)
    return FALSE;
  ss_slot_set_state (slot, MOMENTUM_BUFFER, ss_clone_like (run->tape, gradient, &gradient->tensor));
  return TRUE;
}

/* _multi_tensor_sgd: if any buffer is missing, they are updated one by one */
static void
update_buffers (SsOptimizerRun *run, GPtrArray *gradients)
{
  SsTape *t = run->tape;
  gboolean is_first = FALSE;

  for (guint i = 0; i < run->active->len; i++)
    is_first |= !((SsOptimizerSlot *) run->active->pdata[i])->has_state;
  if (!is_first)
    {
      g_autoptr (GPtrArray) buffers = ss_optimizer_states (run, MOMENTUM_BUFFER);

      SS_FOREACH (t, MUL, { buffers, 2 });
      SS_FOREACH (t, ADD, { buffers, 2 }, { gradients, 1 });
      return;
    }
  for (guint i = 0; i < run->active->len; i++)
    {
      SsOptimizerSlot *s = run->active->pdata[i];

      if (begin_buffer (run, s, gradients->pdata[i]))
        continue;
      SS_IN_PLACE (t, MUL, s->state[MOMENTUM_BUFFER]);
      SS_IN_PLACE (t, ADD, s->state[MOMENTUM_BUFFER], gradients->pdata[i]);
    }
}

static void
update_foreach (SsOptimizerRun *run)
{
  g_autoptr (GPtrArray) gradients = ss_optimizer_wide_gradients (run);
  g_autoptr (GPtrArray) targets = ss_optimizer_targets (run);
  g_autoptr (GPtrArray) buffers = NULL;

  if (has_momentum (run))
    {
      update_buffers (run, gradients);
      buffers = ss_optimizer_states (run, MOMENTUM_BUFFER);
    }
  SS_FOREACH (run->tape, ADD, { targets, 2 }, { buffers ? buffers : gradients, 1 });
}

/* _single_tensor_sgd */
static void
update_for_loop (SsOptimizerRun *run)
{
  SsTape *t = run->tape;

  for (guint i = 0; i < run->active->len; i++)
    {
      SsOptimizerSlot *s = run->active->pdata[i];
      g_autoptr (SsValue) gradient = ss_slot_gradient (t, s);
      SsValue *change = gradient;

      if (has_momentum (run))
        {
          gboolean is_first = begin_buffer (run, s, gradient);

          change = s->state[MOMENTUM_BUFFER];
          if (!is_first)
            {
              SS_IN_PLACE (t, MUL, change);
              SS_IN_PLACE (t, ADD, change, gradient);
            }
        }
      SS_IN_PLACE (t, ADD, ss_slot_target (s), change);
    }
}

#define UPDATES                                                                                    \
  { [SS_FOR_LOOP] = update_for_loop, [SS_FOREACH] = update_foreach, [SS_FUSED] = update_fused }

const SsOptimizer ss_optimizer_sgd = {
  .name = "sgd", .description = "SGD without states",
  .by_default = SS_FUSED, .update = UPDATES,
};
const SsOptimizer ss_optimizer_momentum = {
  .name = "momentum", .description = "SGD with momentum: one buffer per parameter",
  .by_default = SS_FUSED, .make_state = make_momentum, .update = UPDATES,
  .makes_state_itself = TRUE,
};
