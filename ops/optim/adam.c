/* SPDX-License-Identifier: MIT
 *
 * torch.optim.Adam and AdamW (torch/optim/adam.py): the same states and temporaries.
 */
#include "ops/kinds/pointwise.h"
#include "ops/optim/optimizers.h"

enum
{
  EXP_AVG,
  EXP_AVG_SQ,
  STEP
};

/* fused keeps its step counter on the device, made before the moments */
static void
make_state (SsOptimizerRun *run, SsOptimizerSlot *slot)
{
  SsValue *target = ss_slot_target (slot);
  SsDtype dtype = ss_value_dtype (target);

  if (run->implementation == SS_FUSED)
    slot->state[STEP] = ss_keep (ss_zeros (run->tape, SS_F32, 0, NULL));
  slot->state[EXP_AVG] = ss_zeros_like (run->tape, target, dtype);
  slot->state[EXP_AVG_SQ] = ss_zeros_like (run->tape, target, dtype);
}

/* One multi-tensor kernel: reads parameter, gradient and both moments, writes all but the gradient; with a
 * master copy it writes both copies. */
static void
update_fused (SsOptimizerRun *run, SsForeachKernel kernel)
{
  g_autoptr (GPtrArray) operands = g_ptr_array_sized_new (5 * run->n_slots);
  guint64 bytes = 0;

  for (guint i = 0; i < run->n_slots; i++)
    {
      const SsOptimizerSlot *s = &run->slots[i];
      SsValue *all[] = { ss_slot_target (s), ss_slot_gradient (s), s->state[EXP_AVG], s->state[EXP_AVG_SQ], s->state[STEP] };

      for (guint k = 0; k < G_N_ELEMENTS (all); k++)
        {
          g_ptr_array_add (operands, all[k]);
          bytes = ss_size_add (bytes, ss_size_mul (k == 1 ? 1 : 2, ss_tensor_bytes (&all[k]->tensor)));
        }
      if (s->master)
        bytes = ss_size_add (bytes, ss_tensor_bytes (&s->parameter->tensor));
    }
  ss_foreach (run->tape, kernel, operands->len, (SsValue *const *) operands->pdata, bytes);
}

/* _multi_tensor_adam: the denominators are a list of all parameters' size */
static void
update_foreach (SsOptimizerRun *run)
{
  g_autoptr (GPtrArray) gradients = ss_optimizer_list (run, SS_LIST_GRADIENTS);
  g_autoptr (GPtrArray) widened = NULL;
  g_autoptr (GPtrArray) targets = ss_optimizer_list (run, SS_LIST_TARGETS);
  g_autoptr (GPtrArray) avg = ss_optimizer_list (run, EXP_AVG);
  g_autoptr (GPtrArray) avg_sq = ss_optimizer_list (run, EXP_AVG_SQ);
  g_autoptr (GPtrArray) denominators = NULL;

  /* assumed for masters over bf16 gradients: a list of fp32 gradients first */
  if (run->n_slots > 0 && run->slots[0].master && !run->slots[0].accumulation)
    widened = ss_foreach_new (run->tape, SS_FOREACH_COPY, gradients->len, (SsValue *const *) gradients->pdata, SS_F32);
  ss_optimizer_pass (run, SS_FOREACH_MUL, 2, targets);        /* weight decay */
  ss_optimizer_pass (run, SS_FOREACH_LERP, 3, avg);
  ss_optimizer_pass (run, SS_FOREACH_MUL, 2, avg_sq);
  ss_optimizer_pass (run, SS_FOREACH_ADDCMUL, 3, avg_sq);
  denominators = ss_foreach_new (run->tape, SS_FOREACH_SQRT, avg_sq->len, (SsValue *const *) avg_sq->pdata, SS_N_DTYPES);
  ss_optimizer_pass (run, SS_FOREACH_DIV, 2, denominators);
  ss_optimizer_pass (run, SS_FOREACH_ADD, 2, denominators);
  ss_optimizer_pass (run, SS_FOREACH_ADDCDIV, 4, targets);
  ss_optimizer_copy_to_working (run);
}

/* _single_tensor_adam: `denom` lives until the next parameter's replaces it */
static void
update_for_loop (SsOptimizerRun *run)
{
  SsTape *t = run->tape;
  g_autoptr (SsValue) denominator = NULL;

  for (guint i = 0; i < run->n_slots; i++)
    {
      const SsOptimizerSlot *s = &run->slots[i];
      g_autoptr (SsValue) gradient = ss_keep (ss_to (t, ss_slot_gradient (s), ss_value_dtype (ss_slot_target (s))));
      SsDtype dtype = ss_value_dtype (s->state[EXP_AVG_SQ]);
      SsValue *root;

      ss_mul_in_place (t, ss_slot_target (s));
      ss_add_in_place (t, s->state[EXP_AVG], gradient);
      ss_add_in_place (t, s->state[EXP_AVG_SQ], gradient);
      root = ss_plain (t, SS_PLAIN_SQRT, s->state[EXP_AVG_SQ], NULL, dtype);
      ss_rebind (&denominator, ss_plain (t, SS_PLAIN_DIV, root, NULL, dtype));
      ss_add_in_place (t, ss_slot_target (s), denominator);
      if (s->master)
        ss_copy_in_place (t, s->parameter, s->master);
    }
}

static void
update (SsOptimizerRun *run, SsForeachKernel fused)
{
  switch (run->implementation)
    {
    case SS_FUSED: update_fused (run, fused); break;
    case SS_FOREACH: update_foreach (run); break;
    case SS_FOR_LOOP:
    case SS_N_IMPLEMENTATIONS: update_for_loop (run); break;
    }
}

static void
update_adam (SsOptimizerRun *run)
{
  update (run, SS_FOREACH_FUSED_ADAM);
}

static void
update_adamw (SsOptimizerRun *run)
{
  update (run, SS_FOREACH_FUSED_ADAMW);
}

const SsOptimizer ss_optimizer_adam = {
  .name = "adam", .description = "Adam: two moments per parameter", .implementations = SS_ALL_IMPLEMENTATIONS,
  .make_state = make_state, .update = update_adam,
};
const SsOptimizer ss_optimizer_adamw = {
  .name = "adamw", .description = "AdamW: two moments per parameter, decoupled weight decay",
  .implementations = SS_ALL_IMPLEMENTATIONS, .make_state = make_state, .update = update_adamw,
};
