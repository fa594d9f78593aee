/* SPDX-License-Identifier: MIT
 *
 * torch.optim.Adafactor (foreach=True): _multi_tensor_adafactor of torch/optim/_adafactor.py.  All
 * updates are there at once.
 */
#include "ops/kinds/pointwise.h"
#include "ops/kinds/reduce.h"
#include "ops/optim/adafactor.h"

/* Of one group: all matrices, or all vectors. */
typedef struct
{
  SsOptimizerRun *run;
  GPtrArray *slots;              /* SsOptimizerSlot */
  GPtrArray *gradients, *targets;
} Group;

static Group
begin_group (SsOptimizerRun *run, gboolean is_matrices)
{
  Group g = { run, g_ptr_array_new (), ss_list_new (), ss_list_new () };

  for (guint i = 0; i < run->active->len; i++)
    {
      SsOptimizerSlot *s = run->active->pdata[i];

      if ((ss_slot_target (s)->tensor.n_dims > 1) != is_matrices)
        continue;
      g_ptr_array_add (g.slots, s);
      ss_list_add (g.targets, ss_slot_target (s));
      g_ptr_array_add (g.gradients, ss_slot_gradient (run->tape, s));
    }
  return g;
}

static void
end_group (Group *g)
{
  g_ptr_array_unref (g->slots);
  g_ptr_array_unref (g->gradients);
  g_ptr_array_unref (g->targets);
}

static GPtrArray *
states (const Group *g, guint state)
{
  GPtrArray *list = ss_list_new ();

  for (guint i = 0; i < g->slots->len; i++)
    ss_list_add (list, ((SsOptimizerSlot *) g->slots->pdata[i])->state[state]);
  return list;
}

/* x.norm (2).item () of each: the host waits for every one */
static void
read_norms (SsTape *t, GPtrArray *values)
{
  for (guint i = 0; i < values->len; i++)
    ss_item (t, ss_vector_norm (t, values->pdata[i], SS_ALL_DIMS, FALSE));
}

/* The means of the squares over the last dimension but `from_end`, and into their average. */
static void
average_means (const Group *g, guint from_end, guint state)
{
  SsTape *t = g->run->tape;
  g_autoptr (GPtrArray) means = ss_list_new (), averages = states (g, state);

  for (guint i = 0; i < g->gradients->len; i++)
    {
      SsValue *gradient = g->gradients->pdata[i];
      guint dim = gradient->tensor.n_dims - 1 - from_end;

      ss_list_add (means, ss_vector_norm (t, gradient, 1u << dim, TRUE));
    }
  SS_FOREACH (t, MUL_LIST, { means, 2 }, { means, 0 });
  SS_FOREACH (t, DIV, { means, 2 });
  SS_FOREACH (t, LERP_EACH, { averages, 2 }, { means, 1 });
}

/* (transfer full) */
static GPtrArray *
estimates_of_matrices (const Group *g)
{
  SsTape *t = g->run->tape;
  g_autoptr (GPtrArray) means = ss_list_new ();
  GPtrArray *estimates = ss_list_new ();

  average_means (g, 0, SS_ADAFACTOR_ROW_VAR);
  average_means (g, 1, SS_ADAFACTOR_COL_VAR);
  for (guint i = 0; i < g->slots->len; i++)
    {
      const SsOptimizerSlot *s = g->slots->pdata[i];

      ss_list_add (estimates, ss_adafactor_outer_product (t, s->state[SS_ADAFACTOR_ROW_VAR],
                                                          s->state[SS_ADAFACTOR_COL_VAR]));
    }
  for (guint i = 0; i < g->slots->len; i++)
    {
      SsValue *row_var = ((SsOptimizerSlot *) g->slots->pdata[i])->state[SS_ADAFACTOR_ROW_VAR];

      ss_list_add (means, ss_mean_over (t, row_var, row_var->tensor.n_dims - 2));
    }
  SS_FOREACH (t, CLAMP_MIN, { means, 2 });
  SS_FOREACH (t, DIV_LIST, { estimates, 2 }, { means, 1 });
  return estimates;
}

/* (transfer full) */
static GPtrArray *
estimates_of_vectors (const Group *g)
{
  SsTape *t = g->run->tape;
  g_autoptr (GPtrArray) variances = states (g, SS_ADAFACTOR_VARIANCE);
  g_autoptr (GPtrArray) squares = ss_foreach_new (t, SS_FOREACH_MUL_NEW, g->gradients, SS_N_DTYPES);
  GPtrArray *estimates = ss_list_new ();

  SS_FOREACH (t, LERP_EACH, { variances, 2 }, { squares, 1 });
  g_clear_pointer (&squares, g_ptr_array_unref);
  for (guint i = 0; i < variances->len; i++)
    {
      SsValue *variance = variances->pdata[i];

      ss_list_add (estimates, ss_clone_like (t, variance, &variance->tensor));
    }
  return estimates;
}

/* (transfer full): the updates, which live by name until the next group's are there */
static GPtrArray *
step_group (SsOptimizerRun *run, gboolean is_matrices)
{
  SsTape *t = run->tape;
  Group g = begin_group (run, is_matrices);
  GPtrArray *updates;

  read_norms (t, g.targets);
  updates = is_matrices ? estimates_of_matrices (&g) : estimates_of_vectors (&g);
  SS_FOREACH (t, CLAMP_MIN, { updates, 2 });
  SS_FOREACH (t, RSQRT, { updates, 2 });
  SS_FOREACH (t, MUL_LIST, { updates, 2 }, { g.gradients, 1 });
  read_norms (t, updates);
  SS_FOREACH (t, MUL_EACH, { updates, 2 });
  SS_FOREACH (t, ADD, { g.targets, 2 }, { updates, 1 });
  end_group (&g);
  return updates;
}

/* Groups come in the order of their first parameter. */
void
ss_adafactor_update_foreach (SsOptimizerRun *run)
{
  const SsOptimizerSlot *first = run->active->len > 0 ? run->active->pdata[0] : NULL;
  gboolean is_matrices = first && ss_slot_target (first)->tensor.n_dims > 1;
  g_autoptr (GPtrArray) updates = step_group (run, is_matrices);
  g_autoptr (GPtrArray) later = step_group (run, !is_matrices);
}
