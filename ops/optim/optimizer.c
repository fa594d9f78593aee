/* SPDX-License-Identifier: MIT */
#include "ops/optim/optimizer.h"

#include "ops/kinds/pointwise.h"
#include "ops/optim/optimizers.h"

const char *
ss_implementation_name (SsImplementation implementation)
{
  static const char *const names[SS_N_IMPLEMENTATIONS] = { "for-loop", "foreach", "fused" };

  g_return_val_if_fail (implementation < SS_N_IMPLEMENTATIONS, NULL);
  return names[implementation];
}

const SsOptimizer *const *
ss_optimizers (void)
{
  static const SsOptimizer *const all[] = {
    &ss_optimizer_sgd, &ss_optimizer_momentum, &ss_optimizer_adam, &ss_optimizer_adamw, NULL,
  };

  return all;
}

const SsOptimizer *
ss_optimizer_find (const char *name)
{
  for (const SsOptimizer *const *o = ss_optimizers (); *o; o++)
    if (g_str_equal ((*o)->name, name))
      return *o;
  return NULL;
}

void
ss_optimizer_make_states (SsOptimizerRun *run)
{
  if (run->has_state)
    return;
  run->has_state = TRUE;
  for (guint i = 0; i < run->n_slots && run->klass->make_state; i++)
    {
      run->klass->make_state (run, &run->slots[i]);
      for (guint k = 0; k < G_N_ELEMENTS (run->slots[i].state); k++)
        if (run->slots[i].state[k])
          ss_value_claim (run->slots[i].state[k], SS_CATEGORY_OPTIMIZER_STATES);
    }
}

void
ss_optimizer_step (SsOptimizerRun *run)
{
  if (ss_tape_has_failed (run->tape))
    return;
  ss_tape_set_optimizer (run->tape, TRUE);
  ss_optimizer_make_states (run);
  run->klass->update (run);
  ss_tape_set_optimizer (run->tape, FALSE);
}

void
ss_optimizer_clear (SsOptimizerRun *run)
{
  for (guint i = 0; i < run->n_slots; i++)
    {
      for (guint k = 0; k < G_N_ELEMENTS (run->slots[i].state); k++)
        ss_drop (&run->slots[i].state[k]);
      ss_drop (&run->slots[i].master);
      ss_drop (&run->slots[i].accumulation);
    }
  g_clear_pointer (&run->slots, g_free);
  run->n_slots = 0;
}

/* ---- shared by the optimizers ---- */

SsValue *
ss_slot_target (const SsOptimizerSlot *slot)
{
  return slot->master ? slot->master : slot->parameter;
}

SsValue *
ss_slot_gradient (const SsOptimizerSlot *slot)
{
  return slot->accumulation ? slot->accumulation : slot->parameter->leaf->grad;
}

void
ss_optimizer_pass (SsOptimizerRun *run, SsForeachKernel kernel, guint n_accesses, GPtrArray *first)
{
  guint64 bytes = 0;

  for (guint i = 0; i < first->len; i++)
    bytes = ss_size_add (bytes, ss_size_mul (n_accesses, ss_tensor_bytes (&((SsValue *) first->pdata[i])->tensor)));
  ss_foreach (run->tape, kernel, first->len, (SsValue *const *) first->pdata, bytes);
}

GPtrArray *
ss_optimizer_list (const SsOptimizerRun *run, gint state)
{
  GPtrArray *list = g_ptr_array_sized_new (run->n_slots);

  for (guint i = 0; i < run->n_slots; i++)
    {
      const SsOptimizerSlot *s = &run->slots[i];

      g_ptr_array_add (list, state == SS_LIST_TARGETS     ? ss_slot_target (s)
                             : state == SS_LIST_GRADIENTS ? ss_slot_gradient (s)
                                                          : s->state[state]);
    }
  return list;
}

void
ss_optimizer_copy_to_working (SsOptimizerRun *run)
{
  for (guint i = 0; i < run->n_slots; i++)
    if (run->slots[i].master)
      ss_copy_in_place (run->tape, run->slots[i].parameter, run->slots[i].master);
}
