/* SPDX-License-Identifier: MIT */
#include "plan/chain-simulate.h"

#include "memory/tensor.h"

#define NONE G_MAXUINT

typedef struct
{
  guint64 bytes;
  guint first, last;             /* ops during which it is resident */
} Instance;

typedef struct
{
  const SsChain *chain;
  SsChainRules rules;
  GArray *instances;             /* Instance */
  /* for each boundary tensor, saved set and gradient: its latest instance, or NONE */
  guint *x, *w, *g;
  /* the instances of x_{i-1} and x_i that the latest saving forward of stage i read and made */
  guint *input, *output;
  guint next_backward;
} Lives;

static guint *
new_ids (guint n)
{
  guint *ids = g_new (guint, n);

  for (guint i = 0; i < n; i++)
    ids[i] = NONE;
  return ids;
}

static void
lives_init (Lives *self, const SsChain *chain, SsChainRules rules)
{
  guint n = chain->n_stages + 1;
  Instance x0 = { .bytes = chain->boundary_bytes[0] };

  self->chain = chain;
  self->rules = rules;
  self->instances = g_array_new (FALSE, FALSE, sizeof (Instance));
  self->x = new_ids (n);
  self->w = new_ids (n);
  self->g = new_ids (n);
  self->input = new_ids (n);
  self->output = new_ids (n);
  self->next_backward = chain->n_stages;
  g_array_append_val (self->instances, x0);
  self->x[0] = 0;
}

static void
lives_clear (Lives *self)
{
  g_array_unref (self->instances);
  g_free (self->x);
  g_free (self->w);
  g_free (self->g);
  g_free (self->input);
  g_free (self->output);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Lives, lives_clear)

static guint
make (Lives *self, guint64 bytes, guint first, guint op)
{
  Instance instance = { bytes, first, op };

  g_array_append_val (self->instances, instance);
  return self->instances->len - 1;
}

/* FALSE if there is no such instance. */
static gboolean
use (Lives *self, guint id, guint op)
{
  if (id == NONE)
    return FALSE;
  g_array_index (self->instances, Instance, id).last = op;
  return TRUE;
}

static gboolean
refuse (GError **error, guint op, const char *what, guint index)
{
  g_set_error (error, SS_CHAIN_ERROR, SS_CHAIN_ERROR_SCHEDULE, "op %u: %s%u", op, what, index);
  return FALSE;
}

static gboolean
forward (Lives *self, const SsChainOp *op, guint at, GError **error)
{
  guint i = op->stage;

  if (!use (self, self->x[i - 1], at))
    return refuse (error, at, "nothing has made x", i - 1);
  self->x[i] = make (self, self->chain->boundary_bytes[i], at, at);
  if (op->kind != SS_CHAIN_SAVE)
    return TRUE;
  self->w[i] = make (self, self->chain->stages[i].saved_bytes, at, at);
  self->input[i] = self->x[i - 1];
  self->output[i] = self->x[i];
  return TRUE;
}

static gboolean
backward (Lives *self, guint i, guint at, GError **error)
{
  gboolean is_in_place = (self->rules & SS_CHAIN_RULES_IN_PLACE_GRADIENT) != 0;

  if (i != self->next_backward)
    return refuse (error, at, "the next backward must be that of stage ", self->next_backward);
  if (!use (self, self->w[i], at))
    return refuse (error, at, "no forward has saved what is needed of stage ", i);
  if (!use (self, self->x[i - 1], at))
    return refuse (error, at, "nothing has made x", i - 1);
  if (!(self->rules & SS_CHAIN_RULES_DETACHED))
    use (self, self->input[i], at);
  if (self->rules & SS_CHAIN_RULES_KEEP_OUTPUT)
    use (self, self->output[i], at);
  use (self, self->g[i], at);
  self->g[i - 1]
      = make (self, self->chain->gradient_bytes[i - 1], at + (is_in_place ? 1 : 0), at);
  self->next_backward--;
  return TRUE;
}

static gboolean
find_lives (Lives *self, const SsChainSchedule *schedule, GError **error)
{
  for (guint at = 0; at < ss_chain_schedule_n_ops (schedule); at++)
    {
      const SsChainOp *op = ss_chain_schedule_op (schedule, at);
      gboolean is_done;

      if (op->stage < 1 || op->stage > self->chain->n_stages)
        return refuse (error, at, "the chain has no stage ", op->stage);
      is_done = op->kind == SS_CHAIN_BACKWARD ? backward (self, op->stage, at, error)
                                              : forward (self, op, at, error);
      if (!is_done)
        return FALSE;
    }
  if (self->next_backward > 0)
    return refuse (error, ss_chain_schedule_n_ops (schedule),
                   "the schedule ends before the backward of stage ", self->next_backward);
  return TRUE;
}

/* What becomes resident and what goes at each op, then the sums; wrapping differences are harmless
 * because every sum is a size. */
static void
sum_residents (const Lives *self, const SsChainSchedule *schedule, guint64 *resident_bytes)
{
  guint n = ss_chain_schedule_n_ops (schedule);
  g_autofree guint64 *change = g_new0 (guint64, (gsize) n + 2);
  guint64 sum = 0;

  for (guint i = 0; i < self->instances->len; i++)
    {
      const Instance *instance = &g_array_index (self->instances, Instance, i);

      if (instance->first > instance->last)
        continue;
      change[instance->first] += instance->bytes;
      change[instance->last + 1] -= instance->bytes;
    }
  for (guint at = 0; at < n; at++)
    {
      const SsChainOp *op = ss_chain_schedule_op (schedule, at);
      const SsChainStage *stage = &self->chain->stages[op->stage];

      sum += change[at];
      resident_bytes[at] = sum + (op->kind == SS_CHAIN_BACKWARD ? stage->backward_bytes
                                                                : stage->forward_bytes);
    }
}

static gboolean
sum_times (const SsChain *chain, const SsChainSchedule *schedule, SsChainResult *result,
           GError **error)
{
  g_autofree gboolean *has_run = g_new0 (gboolean, (gsize) chain->n_stages + 1);

  for (guint at = 0; at < ss_chain_schedule_n_ops (schedule); at++)
    {
      const SsChainOp *op = ss_chain_schedule_op (schedule, at);
      const SsChainStage *stage = &chain->stages[op->stage];
      guint64 time = stage->forward_time;

      if (op->kind == SS_CHAIN_BACKWARD)
        time = stage->backward_time;
      else if (has_run[op->stage])
        {
          time = stage->recompute_time;
          result->recompute_time += time;
          result->n_recomputed++;
        }
      has_run[op->stage] = TRUE;
      result->time = ss_size_add (result->time, time);
      if (result->time == SS_SIZE_OVERFLOW)
        return refuse (error, at, "the times no longer fit into 63 bits, with this of stage ",
                       op->stage);
    }
  return TRUE;
}

gboolean
ss_chain_simulate (const SsChain         *chain,
                   const SsChainSchedule *schedule,
                   SsChainRules           rules,
                   guint64               *resident_bytes,
                   SsChainResult         *result,
                   GError               **error)
{
  g_auto (Lives) lives = { 0 };
  g_autofree guint64 *own = NULL;
  guint n = ss_chain_schedule_n_ops (schedule);

  *result = (SsChainResult) { 0 };
  lives_init (&lives, chain, rules);
  if (!find_lives (&lives, schedule, error) || !sum_times (chain, schedule, result, error))
    return FALSE;
  if (resident_bytes == NULL)
    resident_bytes = own = g_new (guint64, n);
  sum_residents (&lives, schedule, resident_bytes);
  for (guint at = 0; at < n; at++)
    if (resident_bytes[at] > result->peak_bytes)
      {
        result->peak_bytes = resident_bytes[at];
        result->peak_op = at;
      }
  return TRUE;
}
