/* SPDX-License-Identifier: MIT
 *
 * transformers' Adafactor (transformers/optimization.py of 5.24.0) with its default arguments, and
 * with beta1: computes in fp32 whatever the parameter's type.
 */
#include "ops/kinds/pointwise.h"
#include "ops/kinds/reduce.h"
#include "ops/kinds/view.h"
#include "ops/optim/optimizers.h"

enum
{
  EXP_AVG,
  ROW,
  COL,
  SQUARE,
  RMS
};

static gboolean
has_momentum (const SsOptimizerRun *run)
{
  return run->group->klass == &ss_optimizer_adafactor_momentum;
}

/* torch.zeros (...).to (grad): made on the host */
static void
make_state (SsOptimizerRun *run, SsOptimizerSlot *slot)
{
  SsTape *t = run->tape;
  const SsTensor *x = &ss_slot_target (slot)->tensor;
  gint64 size[SS_MAX_DIMS];
  guint n = x->n_dims;

  if (has_momentum (run))
    ss_slot_set_state (slot, EXP_AVG, ss_zeros_like (t, ss_slot_target (slot), SS_F32));
  if (n < 2)
    {
      ss_slot_set_state (slot, SQUARE, ss_zeros_like (t, ss_slot_target (slot), SS_F32));
      return;
    }
  memcpy (size, x->size, sizeof size);
  ss_slot_set_state (slot, ROW, ss_zeros (t, SS_F32, n - 1, size));
  size[n - 2] = x->size[n - 1];
  ss_slot_set_state (slot, COL, ss_zeros (t, SS_F32, n - 1, size));
}

/* Of a checkpoint: RMS was a tensor when it was saved. */
static void
make_loaded_state (SsOptimizerRun *run, SsOptimizerSlot *slot)
{
  make_state (run, slot);
  ss_slot_set_state (slot, RMS, ss_zeros (run->tape, SS_F32, 0, NULL));
}

/* tensor.norm (2) / (tensor.numel () ** 0.5) */
static SsValue *
rms (SsTape *t, SsValue *x)
{
  return ss_plain (t, SS_PLAIN_DIV, ss_vector_norm (t, x, SS_ALL_DIMS, FALSE), NULL, SS_F32);
}

/* state["RMS"] is the tensor itself; the scale is the larger of it and a number, which the host
 * looks at, times the step's size.  (transfer full) */
static SsValue *
learning_rate (SsTape *t, SsOptimizerSlot *s, SsValue *p)
{
  g_autoptr (SsValue) root = ss_keep (rms (t, p));

  ss_drop (&s->state[RMS]);
  ss_slot_set_state (s, RMS, root);
  ss_item (t, ss_plain (t, SS_PLAIN_GT, root, NULL, SS_BOOL));
  return ss_keep (ss_plain (t, SS_PLAIN_MUL, root, NULL, SS_F32));
}

/* x.unsqueeze (dim) */
static SsValue *
unsqueezed (SsTape *t, SsValue *x, guint dim)
{
  gint64 size[SS_MAX_DIMS];
  guint n = x->tensor.n_dims;

  memcpy (size, x->tensor.size, dim * sizeof *size);
  size[dim] = 1;
  memcpy (size + dim + 1, x->tensor.size + dim, (n - dim) * sizeof *size);
  return ss_view (t, x, n + 1, size);
}

/* _approx_sq_grad */
static SsValue *
approximate (SsTape *t, SsValue *row, SsValue *col)
{
  guint n = row->tensor.n_dims;
  g_autoptr (SsValue) r = NULL, c = NULL, mean = NULL;

  mean = ss_keep (ss_mean_over (t, row, n - 1));
  r = ss_keep (ss_plain (t, SS_PLAIN_DIV, row, mean, SS_F32));
  ss_drop (&mean);
  SS_IN_PLACE (t, RSQRT, r);
  ss_rebind (&r, unsqueezed (t, r, n));
  c = ss_keep (ss_rsqrt (t, unsqueezed (t, col, n - 1)));
  return ss_mul (t, r, c);
}

/* mul_ (beta2).add_ (x.mean (dim)) */
static void
average_mean (SsTape *t, SsValue *average, SsValue *x, guint dim)
{
  g_autoptr (SsValue) mean = NULL;

  SS_IN_PLACE (t, MUL, average);
  mean = ss_keep (ss_mean_over (t, x, dim));
  ss_rebind (&mean, ss_view (t, mean, average->tensor.n_dims, average->tensor.size));
  SS_IN_PLACE (t, ADD, average, mean);
}

/* The locals of step (), which outlive a turn of its loop. */
typedef struct
{
  SsValue *gradient, *p, *rate, *change;
} Names;

/* the clipped update, times the learning rate */
static void
make_change (SsTape *t, const SsOptimizerSlot *s, Names *n)
{
  guint n_dims = n->gradient->tensor.n_dims;

  ss_rebind (&n->change, ss_add_scalar (t, ss_pow (t, n->gradient)));
  if (n_dims > 1)
    {
      average_mean (t, s->state[ROW], n->change, n_dims - 1);
      average_mean (t, s->state[COL], n->change, n_dims - 2);
      ss_rebind (&n->change, approximate (t, s->state[ROW], s->state[COL]));
    }
  else
    {
      SS_IN_PLACE (t, MUL, s->state[SQUARE]);
      SS_IN_PLACE (t, ADD, s->state[SQUARE], n->change);
      ss_rebind (&n->change, ss_rsqrt (t, s->state[SQUARE]));
    }
  SS_IN_PLACE (t, MUL, n->change, n->gradient);
}

/* update.div_ ((rms (update) / threshold).clamp_ (min=1)) */
static void
clip_change (SsTape *t, Names *n)
{
  g_autoptr (SsValue) divisor = ss_keep (ss_plain (t, SS_PLAIN_DIV, rms (t, n->change), NULL,
                                                   SS_F32));

  SS_IN_PLACE (t, CLAMP, divisor);
  SS_IN_PLACE (t, DIV, n->change, divisor);
}

static void
step (SsOptimizerRun *run, SsOptimizerSlot *s, Names *n)
{
  SsTape *t = run->tape;
  SsValue *target = ss_slot_target (s);
  g_autoptr (SsValue) negative = NULL, rate = NULL, own = NULL;

  ss_drop (&n->gradient);
  own = ss_slot_gradient (t, s);
  n->gradient = ss_keep (ss_to (t, own, SS_F32));
  ss_drop (&own);
  if (!s->has_state)
    make_state (run, s);
  ss_drop (&n->p);
  n->p = ss_keep (ss_to (t, target, SS_F32));
  rate = learning_rate (t, s, n->p);
  ss_rebind (&n->rate, rate);
  make_change (t, s, n);
  clip_change (t, n);
  SS_IN_PLACE (t, MUL, n->change, n->rate);
  if (has_momentum (run))
    {
      SS_IN_PLACE (t, MUL, s->state[EXP_AVG]);
      SS_IN_PLACE (t, ADD, s->state[EXP_AVG], n->change);
      ss_rebind (&n->change, s->state[EXP_AVG]);
    }
  negative = ss_keep (ss_neg (t, n->change));
  SS_IN_PLACE (t, ADD, n->p, negative);
  ss_drop (&negative);
  if (n->p != target)
    SS_IN_PLACE (t, COPY, target, n->p);
}

static void
update (SsOptimizerRun *run)
{
  Names n = { NULL };

  for (guint i = 0; i < run->active->len; i++)
    step (run, run->active->pdata[i], &n);
  ss_drop (&n.gradient);
  ss_drop (&n.p);
  ss_drop (&n.rate);
  ss_drop (&n.change);
}

const SsOptimizer ss_optimizer_adafactor_transformers = {
  .name = "adafactor", .description = "transformers' Adafactor, which computes in fp32",
  .by_default = SS_TRANSFORMERS, .make_state = make_loaded_state,
  .update = { [SS_TRANSFORMERS] = update }, .makes_state_itself = TRUE,
};
const SsOptimizer ss_optimizer_adafactor_momentum = {
  .name = "adafactor-momentum", .description = "Adafactor with beta1: a first moment in fp32 too",
  .by_default = SS_TRANSFORMERS, .make_state = make_loaded_state,
  .update = { [SS_TRANSFORMERS] = update }, .makes_state_itself = TRUE,
};
