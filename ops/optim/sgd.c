/* SPDX-License-Identifier: MIT
 *
 * torch.optim.SGD, without and with momentum (torch/optim/sgd.py).
 */
#include "ops/kinds/pointwise.h"
#include "ops/optim/optimizers.h"

enum
{
  MOMENTUM_BUFFER
};

/* the buffer begins as a clone of the first gradient */
static void
make_momentum (SsOptimizerRun *run, SsOptimizerSlot *slot)
{
  SsValue *target = ss_slot_target (slot);

  slot->state[MOMENTUM_BUFFER] = ss_zeros_like (run->tape, target, ss_value_dtype (target));
}

static void
update_fused (SsOptimizerRun *run)
{
  g_autoptr (GPtrArray) operands = g_ptr_array_new ();
  guint64 bytes = 0;

  for (guint i = 0; i < run->n_slots; i++)
    {
      const SsOptimizerSlot *s = &run->slots[i];
      SsValue *all[] = { ss_slot_target (s), ss_slot_gradient (s), s->state[MOMENTUM_BUFFER] };

      for (guint k = 0; k < G_N_ELEMENTS (all) && all[k]; k++)
        {
          g_ptr_array_add (operands, all[k]);
          bytes = ss_size_add (bytes, ss_size_mul (k == 1 ? 1 : 2, ss_tensor_bytes (&all[k]->tensor)));
        }
      if (s->master)
        bytes = ss_size_add (bytes, ss_tensor_bytes (&s->parameter->tensor));
    }
  ss_foreach (run->tape, SS_FOREACH_FUSED_SGD, operands->len, (SsValue *const *) operands->pdata, bytes);
}

static void
update_foreach (SsOptimizerRun *run)
{
  g_autoptr (GPtrArray) gradients = ss_optimizer_list (run, SS_LIST_GRADIENTS);
  g_autoptr (GPtrArray) targets = ss_optimizer_list (run, SS_LIST_TARGETS);
  g_autoptr (GPtrArray) widened = NULL;

  if (run->n_slots > 0 && run->slots[0].master && !run->slots[0].accumulation)
    widened = ss_foreach_new (run->tape, SS_FOREACH_COPY, gradients->len, (SsValue *const *) gradients->pdata, SS_F32);
  if (run->n_slots > 0 && run->slots[0].state[MOMENTUM_BUFFER])
    {
      g_autoptr (GPtrArray) buffers = ss_optimizer_list (run, MOMENTUM_BUFFER);

      ss_optimizer_pass (run, SS_FOREACH_MUL, 2, buffers);
      ss_optimizer_pass (run, SS_FOREACH_ADD, 3, buffers);
    }
  ss_optimizer_pass (run, SS_FOREACH_ADD, 3, targets);
  ss_optimizer_copy_to_working (run);
}

static void
update_for_loop (SsOptimizerRun *run)
{
  SsTape *t = run->tape;

  for (guint i = 0; i < run->n_slots; i++)
    {
      const SsOptimizerSlot *s = &run->slots[i];
      g_autoptr (SsValue) gradient = ss_keep (ss_to (t, ss_slot_gradient (s), ss_value_dtype (ss_slot_target (s))));

      if (s->state[MOMENTUM_BUFFER])
        ss_add_in_place (t, s->state[MOMENTUM_BUFFER], gradient);
      ss_add_in_place (t, ss_slot_target (s), s->state[MOMENTUM_BUFFER] ? s->state[MOMENTUM_BUFFER] : gradient);
      if (s->master)
        ss_copy_in_place (t, s->parameter, s->master);
    }
}

static void
update (SsOptimizerRun *run)
{
  switch (run->implementation)
    {
    case SS_FUSED: update_fused (run); break;
    case SS_FOREACH: update_foreach (run); break;
    case SS_FOR_LOOP:
    case SS_N_IMPLEMENTATIONS: update_for_loop (run); break;
    }
}

const SsOptimizer ss_optimizer_sgd = {
  .name = "sgd", .description = "SGD without states", .implementations = SS_ALL_IMPLEMENTATIONS, .update = update,
};
const SsOptimizer ss_optimizer_momentum = {
  .name = "momentum", .description = "SGD with momentum: one buffer per parameter",
  .implementations = SS_ALL_IMPLEMENTATIONS, .make_state = make_momentum, .update = update,
};
