/* SPDX-License-Identifier: MIT */
#include "ops/optim/optimizer.h"

#include "ops/kinds/pointwise.h"
#include "ops/optim/optimizers.h"
#include "ops/core/function.h"

/* ---- slots ---- */

SsValue *
ss_slot_target (const SsOptimizerSlot *slot)
{
  return slot->master ? slot->master : slot->parameter;
}

static SsValue *
own_gradient (const SsOptimizerSlot *slot)
{
  return slot->accumulation ? slot->accumulation : slot->parameter->leaf->grad;
}

SsValue *
ss_slot_gradient (SsTape *t, const SsOptimizerSlot *slot)
{
  return ss_keep (ss_to (t, own_gradient (slot), ss_value_dtype (ss_slot_target (slot))));
}

/* What is kept beside a parameter is told by the parameter's name. */
static SsValue *
keep_beside (const SsOptimizerSlot *slot, SsValue *value, SsCategory category)
{
  SsValue *kept = ss_keep (value);

  ss_value_claim (kept, category);
  ss_value_name_after (kept, slot->parameter);
  return kept;
}

void
ss_slot_set_state (SsOptimizerSlot *slot, guint i, SsValue *value)
{
  g_assert (i < SS_MAX_STATES && !slot->state[i]);
  slot->state[i] = keep_beside (slot, value, SS_CATEGORY_OPTIMIZER_STATES);
  slot->has_state = TRUE;
}

void
ss_optimizer_share_state (SsOptimizerRun *run, guint i, SsValue *value)
{
  g_assert (i < SS_MAX_SHARED_STATES && !run->shared[i]);
  run->shared[i] = ss_keep (value);
  ss_value_claim (run->shared[i], SS_CATEGORY_OPTIMIZER_STATES);
}

void
ss_slot_set_gradient (SsOptimizerSlot *slot, SsValue *value)
{
  slot->accumulation = keep_beside (slot, value, SS_CATEGORY_GRADIENTS);
}

/* ---- lists ---- */

static const SsOptimizerSlot *
active_slot (const SsOptimizerRun *run, guint i)
{
  return run->active->pdata[i];
}

GPtrArray *
ss_optimizer_targets (const SsOptimizerRun *run)
{
  GPtrArray *list = ss_list_new ();

  for (guint i = 0; i < run->active->len; i++)
    ss_list_add (list, ss_slot_target (active_slot (run, i)));
  return list;
}

GPtrArray *
ss_optimizer_states (const SsOptimizerRun *run, guint state)
{
  GPtrArray *list = ss_list_new ();

  for (guint i = 0; i < run->active->len; i++)
    ss_list_add (list, active_slot (run, i)->state[state]);
  return list;
}

GPtrArray *
ss_optimizer_gradients (const SsOptimizerRun *run)
{
  GPtrArray *list = ss_list_new ();

  for (guint i = 0; i < run->n_slots; i++)
    if (run->slots[i].parameter->leaf->grad)
      ss_list_add (list, own_gradient (&run->slots[i]));
  return list;
}

GPtrArray *
ss_optimizer_active_gradients (const SsOptimizerRun *run)
{
  GPtrArray *list = ss_list_new ();

  for (guint i = 0; i < run->active->len; i++)
    ss_list_add (list, own_gradient (active_slot (run, i)));
  return list;
}

static gboolean
has_masters (const SsOptimizerRun *run)
{
  return run->active->len > 0 && active_slot (run, 0)->master;
}

GPtrArray *
ss_optimizer_wide_gradients (const SsOptimizerRun *run)
{
  g_autoptr (GPtrArray) own = ss_optimizer_active_gradients (run);

  if (!has_masters (run) || active_slot (run, 0)->accumulation)
    return g_steal_pointer (&own);
  return ss_foreach_new (run->tape, SS_FOREACH_COPY, own, SS_F32);
}

static GPtrArray *
working_copies (const SsOptimizerRun *run)
{
  GPtrArray *list = ss_list_new ();

  for (guint i = 0; i < run->active->len; i++)
    if (active_slot (run, i)->master)
      ss_list_add (list, active_slot (run, i)->parameter);
  return list;
}

/* ---- groups ---- */

static void
group_free (SsOptimizerGroup *group)
{
  g_ptr_array_unref (group->slots);
  g_free (group);
}

/* get_decay_parameter_names of transformers/trainer.py: neither biases nor norms, which in every
 * family are its parameters of one dimension. */
static gboolean
decays_weight (const SsOptimizerSlot *slot)
{
  return slot->parameter->tensor.n_dims > 1;
}

static void
add_slot (SsOptimizerRun *run, const SsOptimizerSettings *settings, SsOptimizerSlot *slot)
{
  const SsOptimizer *klass
    = ss_optimizer_implementation (settings->klass, settings->implementation);
  SsImplementation implementation = settings->implementation;
  gboolean decays = settings->grouping == SS_GROUPS_ONE || decays_weight (slot);
  SsOptimizerGroup *group;

  if (klass->takes && !klass->takes (slot))
    {
      klass = klass->others;
      implementation = klass->by_default;
    }
  for (guint i = 0; i < run->groups->len; i++)
    {
      group = run->groups->pdata[i];
      if (group->klass == klass && group->decays == decays)
        {
          g_ptr_array_add (group->slots, slot);
          return;
        }
    }
  group = g_new0 (SsOptimizerGroup, 1);
  *group = (SsOptimizerGroup) {
    klass, implementation, decays, g_ptr_array_new (),
  };
  g_ptr_array_add (group->slots, slot);
  g_ptr_array_add (run->groups, group);
}

/* The optimizer's own before that of the others, with decay before without. */
static gint
compare_groups (gconstpointer a, gconstpointer b, gpointer klass)
{
  const SsOptimizerGroup *x = *(SsOptimizerGroup *const *) a, *y = *(SsOptimizerGroup *const *) b;

  if (x->klass != y->klass)
    return x->klass == klass ? -1 : 1;
  return (x->decays ? 0 : 1) - (y->decays ? 0 : 1);
}

/* The group's functions see its slots as the active ones, or those that have a gradient. */
static void
enter_group (SsOptimizerRun *run, guint i, gboolean needs_gradient)
{
  const SsOptimizerGroup *group = run->groups->pdata[i];

  run->group = group;
  run->implementation = group->implementation;
  g_ptr_array_set_size (run->active, 0);
  for (guint k = 0; k < group->slots->len; k++)
    {
      SsOptimizerSlot *s = group->slots->pdata[k];

      if (!needs_gradient || s->parameter->leaf->grad)
        g_ptr_array_add (run->active, s);
    }
}

/* ---- load ---- */

void
ss_optimizer_init (SsOptimizerRun *run, const SsOptimizerSettings *settings, SsTape *t,
                   GPtrArray *parameters)
{
  *run = (SsOptimizerRun) {
    .implementation = settings->implementation, .tape = t,
    .slots = g_new0 (SsOptimizerSlot, parameters->len), .active = g_ptr_array_new (),
    .groups = g_ptr_array_new_with_free_func ((GDestroyNotify) group_free),
  };
  for (guint i = 0; i < parameters->len; i++)
    {
      SsValue *v = parameters->pdata[i];
      SsOptimizerSlot *slot = &run->slots[run->n_slots];

      if (!v->leaf)
        continue;
      slot->parameter = v;
      slot->is_linear = settings->linears && g_ptr_array_find (settings->linears, v, NULL);
      if (settings->klass->takes && !settings->klass->others && !settings->klass->takes (slot))
        continue;
      run->n_slots++;
      add_slot (run, settings, slot);
    }
  g_ptr_array_sort_with_data (run->groups, compare_groups,
                              (gpointer) ss_optimizer_implementation (settings->klass,
                                                                      settings->implementation));
}

/* parameter.register_hook (lambda grad: buffer.add_ (grad)) */
static SsValue *
add_to_buffer (SsTape *t, SsValue *gradient, gpointer buffer)
{
  ss_add_in_place (t, buffer, gradient);
  return NULL;
}

void
ss_optimizer_make_masters (SsOptimizerRun *run, gboolean accumulates)
{
  for (guint i = 0; i < run->n_slots; i++)
    {
      SsOptimizerSlot *s = &run->slots[i];

      s->master = keep_beside (s, ss_to (run->tape, s->parameter, SS_F32),
                               SS_CATEGORY_MASTER_WEIGHTS);
    }
  for (guint i = 0; i < run->n_slots && accumulates; i++)
    {
      SsOptimizerSlot *s = &run->slots[i];

      s->accumulation = keep_beside (s, ss_zeros_like (run->tape, s->parameter, SS_F32),
                                     SS_CATEGORY_GRADIENT_ACCUMULATION);
      ss_hook_tensor (s->parameter, add_to_buffer, ss_value_ref (s->accumulation),
                      &ss_value_holder);
    }
}

void
ss_optimizer_construct (SsOptimizerRun *run)
{
  for (guint i = 0; i < run->groups->len; i++)
    {
      enter_group (run, i, FALSE);
      if (run->group->klass->construct)
        run->group->klass->construct (run);
    }
}

void
ss_optimizer_make_states (SsOptimizerRun *run)
{
  for (guint i = 0; i < run->groups->len; i++)
    {
      enter_group (run, i, FALSE);
      for (guint k = 0; k < run->active->len && run->group->klass->make_state; k++)
        run->group->klass->make_state (run, run->active->pdata[k]);
    }
}

/* ---- step ---- */

/* _init_group: those of the group that have a gradient, and their states. */
static void
activate (SsOptimizerRun *run, guint i)
{
  const SsOptimizer *klass;

  enter_group (run, i, TRUE);
  klass = run->group->klass;
  for (guint k = 0; k < run->active->len; k++)
    {
      SsOptimizerSlot *s = run->active->pdata[k];

      if (!s->has_state && klass->make_state && !klass->makes_state_itself)
        klass->make_state (run, s);
    }
}

void
ss_optimizer_step_each (SsOptimizerRun *run,
                        void (*step) (SsOptimizerRun *run, const SsOptimizerSlot *slot))
{
  for (guint i = 0; i < run->active->len; i++)
    {
      SsOptimizerSlot *s = run->active->pdata[i];

      if (!s->has_state)
        run->group->klass->make_state (run, s);
      step (run, s);
    }
}

/* Master to working copy; a fused kernel has written both. */
static void
copy_to_working (SsOptimizerRun *run)
{
  g_autoptr (GPtrArray) working = working_copies (run);

  if (run->implementation == SS_FOREACH)
    {
      g_autoptr (GPtrArray) masters = ss_optimizer_targets (run);

      SS_FOREACH (run->tape, COPY, { working, 1 }, { masters, 1 });
      return;
    }
  for (guint i = 0; i < run->active->len; i++)
    SS_IN_PLACE (run->tape, COPY, active_slot (run, i)->parameter, active_slot (run, i)->master);
}

void
ss_optimizer_step (SsOptimizerRun *run)
{
  if (ss_tape_has_failed (run->tape))
    return;
  for (guint i = 0; i < run->groups->len; i++)
    {
      activate (run, i);
      if (run->active->len == 0)
        continue;
      run->group->klass->update[run->implementation] (run);
      if (has_masters (run) && run->implementation != SS_FUSED)
        copy_to_working (run);
    }
}

void
ss_optimizer_fused (SsOptimizerRun *run, SsForeachKernel kernel, guint n_states,
                    const SsForeachList *states)
{
  g_autoptr (GPtrArray) targets = ss_optimizer_targets (run);
  g_autoptr (GPtrArray) gradients = ss_optimizer_active_gradients (run);
  g_autoptr (GPtrArray) working = working_copies (run), scalars = ss_list_new ();
  SsForeachList lists[SS_MAX_STATES + 4] = {
    { targets, 2 }, { gradients, run->grad_scale ? 2 : 1 },
  };
  guint n = 2;

  g_assert (n_states <= SS_MAX_STATES);
  for (guint i = 0; i < n_states; i++)
    lists[n++] = states[i];
  lists[n++] = (SsForeachList) { working, 1 };
  if (run->grad_scale)
    ss_list_add (scalars, run->grad_scale);
  if (run->found_inf)
    ss_list_add (scalars, run->found_inf);
  lists[n++] = (SsForeachList) { scalars, 1 };
  ss_foreach (run->tape, kernel, n, lists);
}

/* ---- zero_grad ---- */

/* foreach and fused zero all with one call, everything else tensor by tensor
 * (torch/optim/optimizer.py). */
static void
zero (SsOptimizerRun *run, GPtrArray *list)
{
  if (run->implementation != SS_FOREACH && run->implementation != SS_FUSED)
    for (guint i = 0; i < list->len; i++)
      SS_IN_PLACE (run->tape, ZERO, list->pdata[i]);
  else
    SS_FOREACH (run->tape, ZERO, { list, 1 });
}

void
ss_optimizer_zero_grad (SsOptimizerRun *run, gboolean in_place)
{
  g_autoptr (GPtrArray) gradients = ss_list_new (), buffers = ss_list_new ();

  for (guint i = 0; i < run->n_slots; i++)
    {
      SsLeaf *leaf = run->slots[i].parameter->leaf;

      if (run->slots[i].accumulation && run->has_wide_gradients)
        ss_drop (&run->slots[i].accumulation);
      else if (run->slots[i].accumulation)
        ss_list_add (buffers, run->slots[i].accumulation);
      if (leaf->grad && in_place)
        ss_list_add (gradients, leaf->grad);
      else if (leaf->grad)
        ss_drop (&leaf->grad);
    }
  zero (run, gradients);
  zero (run, buffers);
}

void
ss_optimizer_clear (SsOptimizerRun *run)
{
  for (guint i = 0; i < run->n_slots; i++)
    {
      SsOptimizerSlot *s = &run->slots[i];

      for (guint k = 0; k < SS_MAX_STATES; k++)
        ss_drop (&s->state[k]);
      ss_drop (&s->master);
      ss_drop (&s->accumulation);
    }
  for (guint k = 0; k < SS_MAX_SHARED_STATES; k++)
    ss_drop (&run->shared[k]);
  g_clear_pointer (&run->slots, g_free);
  g_clear_pointer (&run->active, g_ptr_array_unref);
  g_clear_pointer (&run->groups, g_ptr_array_unref);
  run->n_slots = 0;
}
