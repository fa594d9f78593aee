/* SPDX-License-Identifier: MIT
 *
 * torch.optim.Adafactor (torch/optim/_adafactor.py): a matrix keeps the means of its squared
 * gradient over rows and columns, a vector its square.  The class is a for-loop unless
 * foreach=True is asked for by name.
 */
#include "ops/optim/adafactor.h"

#include "ops/kinds/matmul.h"
#include "ops/kinds/pointwise.h"
#include "ops/kinds/reduce.h"
#include "ops/kinds/view.h"


static void
make_state (SsOptimizerRun *run, SsOptimizerSlot *slot)
{
  SsValue *target = ss_slot_target (slot);
  SsDtype dtype = ss_value_dtype (target);
  guint n_dims = target->tensor.n_dims;
  gint64 rows[SS_MAX_DIMS], cols[SS_MAX_DIMS];

  if (n_dims < 2)
    {
      ss_slot_set_state (slot, SS_ADAFACTOR_VARIANCE, ss_zeros_like (run->tape, target, dtype));
      return;
    }
  memcpy (rows, target->tensor.size, sizeof rows);
  memcpy (cols, target->tensor.size, sizeof cols);
  rows[n_dims - 1] = 1;
  cols[n_dims - 2] = 1;
  ss_slot_set_state (slot, SS_ADAFACTOR_ROW_VAR, ss_new_zeros (run->tape, target, n_dims, rows));
  ss_slot_set_state (slot, SS_ADAFACTOR_COL_VAR, ss_new_zeros (run->tape, target, n_dims, cols));
}

SsValue *
ss_adafactor_outer_product (SsTape *t, SsValue *rows, SsValue *cols)
{
  const SsTensor *r = &rows->tensor, *c = &cols->tensor;
  guint n = r->n_dims;
  gint64 size[SS_MAX_DIMS], n_matrices = 1;
  g_autoptr (SsValue) rows3 = NULL, cols3 = NULL;

  if (n == 2)
    return ss_mm (t, rows, cols);
  memcpy (size, r->size, sizeof size);
  size[n - 1] = c->size[n - 1];
  for (guint i = 0; i + 2 < n; i++)
    n_matrices *= size[i];
  rows3 = ss_keep (ss_reshape (t, rows, SS_DIMS (n_matrices, size[n - 2], 1)));
  cols3 = ss_keep (ss_reshape (t, cols, SS_DIMS (n_matrices, 1, size[n - 1])));
  return ss_unsafe_view (t, ss_bmm (t, rows3, cols3), n, size);
}

/* torch.norm (gradient, dim, keepdim).square_ ().div_ (size) */
static SsValue *
mean_square (SsTape *t, SsValue *gradient, guint dim)
{
  g_autoptr (SsValue) mean = ss_keep (ss_vector_norm (t, gradient, 1u << dim, TRUE));

  SS_IN_PLACE (t, POW, mean);
  SS_IN_PLACE (t, DIV, mean);
  return ss_give (&mean);
}

/* The locals of _single_tensor_adafactor, which outlive a turn of its loop. */
typedef struct
{
  SsValue *row_mean, *col_mean, *grad_squared, *var_estimate, *update;
} Names;

static void
estimate_matrix (SsTape *t, const SsOptimizerSlot *s, SsValue *gradient, Names *n)
{
  SsValue *row_var = s->state[SS_ADAFACTOR_ROW_VAR], *col_var = s->state[SS_ADAFACTOR_COL_VAR];
  guint n_dims = gradient->tensor.n_dims;
  g_autoptr (SsValue) mean = NULL;

  ss_rebind (&n->row_mean, mean_square (t, gradient, n_dims - 1));
  SS_IN_PLACE (t, LERP, row_var, n->row_mean);
  ss_rebind (&n->col_mean, mean_square (t, gradient, n_dims - 2));
  SS_IN_PLACE (t, LERP, col_var, n->col_mean);
  ss_rebind (&n->var_estimate, ss_adafactor_outer_product (t, row_var, col_var));
  mean = ss_keep (ss_mean_over (t, row_var, n_dims - 2));
  SS_IN_PLACE (t, CLAMP, mean);
  SS_IN_PLACE (t, DIV, n->var_estimate, mean);
}

static void
estimate_vector (SsTape *t, const SsOptimizerSlot *s, SsValue *gradient, Names *n)
{
  SsValue *variance = s->state[SS_ADAFACTOR_VARIANCE];

  ss_rebind (&n->grad_squared, ss_mul (t, gradient, gradient));
  SS_IN_PLACE (t, LERP, variance, n->grad_squared);
  ss_rebind (&n->var_estimate, ss_clone_like (t, variance, &variance->tensor));
}

/* norms of the whole parameter and of the whole update are read by the host */
static void
update_for_loop (SsOptimizerRun *run)
{
  SsTape *t = run->tape;
  Names n = { NULL };

  for (guint i = 0; i < run->active->len; i++)
    {
      const SsOptimizerSlot *s = run->active->pdata[i];
      SsValue *target = ss_slot_target (s);
      g_autoptr (SsValue) gradient = ss_slot_gradient (t, s);

      ss_item (t, ss_vector_norm (t, target, SS_ALL_DIMS, FALSE));
      if (gradient->tensor.n_dims > 1)
        estimate_matrix (t, s, gradient, &n);
      else
        estimate_vector (t, s, gradient, &n);
      SS_IN_PLACE (t, CLAMP, n.var_estimate);
      SS_IN_PLACE (t, RSQRT, n.var_estimate);
      ss_rebind (&n.update, n.var_estimate);
      SS_IN_PLACE (t, MUL, n.update, gradient);
      ss_item (t, ss_vector_norm (t, n.update, SS_ALL_DIMS, FALSE));
      SS_IN_PLACE (t, ADD, target, n.update);
    }
  ss_drop (&n.row_mean);
  ss_drop (&n.col_mean);
  ss_drop (&n.grad_squared);
  ss_drop (&n.var_estimate);
  ss_drop (&n.update);
}

const SsOptimizer ss_optimizer_adafactor = {
  .name = "adafactor", .description = "Adafactor: means of squares over rows and columns",
  .not_recorded = 1u << SS_FOREACH, .by_default = SS_FOR_LOOP, .make_state = make_state,
  .update = { [SS_FOR_LOOP] = update_for_loop, [SS_FOREACH] = ss_adafactor_update_foreach },
};
