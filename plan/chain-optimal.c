/* SPDX-License-Identifier: MIT */
#include "plan/chain-optimal.h"

#include "plan/chain-parts-private.h"
#include "plan/step-function-private.h"

/* How a part begins, of an SsStep: its first stage is run saving, or that many stages are not. */
#define CHOICE_SAVE 0

struct _SsChainOptimal
{
  const SsChain *chain;
  SsChainParts *parts;
  SsStepFunction *solutions;     /* by id of part */
  guint64 *forward_sums;         /* of first forwards of stages 1 .. i */
  guint64 *recompute_sums;
};

static const SsStepFunction *
solution_of (const SsChainOptimal *self, guint first, guint last)
{
  return &self->solutions[ss_chain_parts_id (self->parts, first, last)];
}

/* A part that ends with the chain is run for the first time, any other again. */
static guint64
forward_time (const SsChainOptimal *self, guint stage, guint last)
{
  const SsChainStage *of = &self->chain->stages[stage];

  return last == self->chain->n_stages ? of->forward_time : of->recompute_time;
}

static guint64
forward_sum (const SsChainOptimal *self, guint first, guint end, guint last)
{
  const guint64 *sums
      = last == self->chain->n_stages ? self->forward_sums : self->recompute_sums;

  return sums[end] - sums[first - 1];
}

/* During the backward of a stage: what it saved, and both gradients. */
static guint64
backward_bytes (const SsChain *chain, guint i)
{
  return chain->gradient_bytes[i] + chain->stages[i].saved_bytes + chain->gradient_bytes[i - 1]
         + chain->stages[i].backward_bytes;
}

/* Stage `first` is run saving, with the rest of the part between its forward and its backward. */
static void
add_save (const SsChainOptimal *self, SsEnvelope *envelope, guint first, guint last)
{
  static const SsStep nothing[] = { { 0 } };
  static const SsStepFunction empty = { 1, (SsStep *) nothing };
  const SsChain *chain = self->chain;
  const SsChainStage *stage = &chain->stages[first];
  guint64 kept = stage->saved_bytes + chain->boundary_bytes[first];
  guint64 least = chain->gradient_bytes[last] + kept + stage->forward_bytes;
  const SsStep more = {
    .time = forward_time (self, first, last) + stage->backward_time,
    .n_forward = 1,
    .choice = CHOICE_SAVE,
  };

  least = MAX (least, backward_bytes (chain, first));
  if (first == last)
    ss_envelope_add_shifted (envelope, &empty, 0, least, &more);
  else
    ss_envelope_add_shifted (envelope, solution_of (self, first + 1, last), kept, least, &more);
}

/* Stages first .. k-1 are run saving nothing, then k .. last in full, then first .. k-1 in full. */
static void
add_splits (const SsChainOptimal *self, SsEnvelope *envelope, guint first, guint last)
{
  const SsChain *chain = self->chain;
  const guint64 *a = chain->boundary_bytes;
  guint64 least = chain->gradient_bytes[last] + a[first] + chain->stages[first].forward_bytes;

  for (guint k = first + 1; k <= last; k++)
    {
      const SsStep more = {
        .time = forward_sum (self, first, k - 1, last),
        .n_forward = k - first,
        .choice = k - first,
      };

      if (k - 1 > first)
        least = MAX (least, chain->gradient_bytes[last] + a[k - 2] + a[k - 1]
                                + chain->stages[k - 1].forward_bytes);
      ss_envelope_add_sum (envelope, solution_of (self, k, last), a[k - 1],
                           solution_of (self, first, k - 1), least, &more);
    }
}

static void
sum_times (SsChainOptimal *self)
{
  guint n = self->chain->n_stages;

  self->forward_sums = g_new0 (guint64, (gsize) n + 1);
  self->recompute_sums = g_new0 (guint64, (gsize) n + 1);
  for (guint i = 1; i <= n; i++)
    {
      self->forward_sums[i] = self->forward_sums[i - 1] + self->chain->stages[i].forward_time;
      self->recompute_sums[i]
          = self->recompute_sums[i - 1] + self->chain->stages[i].recompute_time;
    }
}

SsChainOptimal *
ss_chain_optimal_new (const SsChain *chain)
{
  SsChainOptimal *self = g_new0 (SsChainOptimal, 1);
  SsEnvelope envelope;

  self->chain = chain;
  self->parts = ss_chain_parts_new (chain);
  self->solutions = g_new0 (SsStepFunction, ss_chain_parts_n (self->parts));
  sum_times (self);
  ss_envelope_init (&envelope);
  /* ids count up with the length, so what a part is made of is solved */
  for (guint id = 0; id < ss_chain_parts_n (self->parts); id++)
    {
      guint first, last;

      ss_chain_parts_example (self->parts, id, &first, &last);
      ss_envelope_restart (&envelope);
      add_save (self, &envelope, first, last);
      add_splits (self, &envelope, first, last);
      self->solutions[id] = ss_envelope_take (&envelope);
    }
  ss_envelope_clear (&envelope);
  return self;
}

void
ss_chain_optimal_free (SsChainOptimal *self)
{
  if (self == NULL)
    return;
  for (guint id = 0; id < ss_chain_parts_n (self->parts); id++)
    ss_step_function_clear (&self->solutions[id]);
  g_free (self->solutions);
  g_free (self->forward_sums);
  g_free (self->recompute_sums);
  ss_chain_parts_free (self->parts);
  g_free (self);
}

static const SsStepFunction *
whole (const SsChainOptimal *self)
{
  return solution_of (self, 1, self->chain->n_stages);
}

static SsChainPoint
point_of (const SsChainOptimal *self, const SsStep *step)
{
  const SsChain *chain = self->chain;
  guint64 once = self->forward_sums[chain->n_stages];

  for (guint i = 1; i <= chain->n_stages; i++)
    once += chain->stages[i].backward_time;
  return (SsChainPoint) {
    .min_budget_bytes = step->bytes + chain->boundary_bytes[0],
    .time = step->time,
    .recompute_time = step->time - once,
    .n_recomputed = step->n_forward - chain->n_stages,
  };
}

guint
ss_chain_optimal_n_points (const SsChainOptimal *self)
{
  return whole (self)->n_steps;
}

SsChainPoint
ss_chain_optimal_point (const SsChainOptimal *self, guint index)
{
  return point_of (self, &whole (self)->steps[index]);
}

static const SsStep *
find_step (const SsChainOptimal *self, guint64 budget_bytes, GError **error)
{
  guint64 input = self->chain->boundary_bytes[0];
  const SsStep *step = NULL;

  if (budget_bytes >= input)
    step = ss_step_function_at (whole (self), budget_bytes - input);
  if (step == NULL)
    g_set_error (error, SS_CHAIN_ERROR, SS_CHAIN_ERROR_BUDGET,
                 "a budget of %" G_GUINT64_FORMAT " bytes is less than any schedule needs: %"
                 G_GUINT64_FORMAT, budget_bytes, whole (self)->steps[0].bytes + input);
  return step;
}

gboolean
ss_chain_optimal_find (const SsChainOptimal *self, guint64 budget_bytes, SsChainPoint *point,
                       GError **error)
{
  const SsStep *step = find_step (self, budget_bytes, error);

  if (step != NULL)
    *point = point_of (self, step);
  return step != NULL;
}

/* ---- the schedule, from how each part begins ---- */

typedef struct
{
  guint first, last;
  guint64 bytes;
  gboolean is_backward;          /* only the backward of `first` is left */
} Task;

static void
push (GArray *tasks, guint first, guint last, guint64 bytes, gboolean is_backward)
{
  Task task = { first, last, bytes, is_backward };

  g_array_append_val (tasks, task);
}

static void
expand (const SsChainOptimal *self, const Task *task, GArray *tasks, SsChainSchedule *schedule)
{
  const SsChain *chain = self->chain;
  const SsStep *step
      = ss_step_function_at (solution_of (self, task->first, task->last), task->bytes);
  guint first = task->first, k = first + step->choice;

  if (step->choice == CHOICE_SAVE)
    {
      ss_chain_schedule_add (schedule, SS_CHAIN_SAVE, first);
      push (tasks, first, first, 0, TRUE);
      if (first < task->last)
        push (tasks, first + 1, task->last,
              task->bytes - chain->stages[first].saved_bytes - chain->boundary_bytes[first],
              FALSE);
      return;
    }
  ss_chain_schedule_add_up (schedule, SS_CHAIN_FORWARD, first, k - 1);
  push (tasks, first, k - 1, task->bytes, FALSE);
  push (tasks, k, task->last, task->bytes - chain->boundary_bytes[k - 1], FALSE);
}

SsChainSchedule *
ss_chain_optimal_schedule (const SsChainOptimal *self, guint64 budget_bytes, GError **error)
{
  const SsStep *step = find_step (self, budget_bytes, error);
  g_autoptr (GArray) tasks = NULL;
  SsChainSchedule *schedule;

  if (step == NULL)
    return NULL;
  tasks = g_array_new (FALSE, FALSE, sizeof (Task));
  schedule = ss_chain_schedule_new ();
  push (tasks, 1, self->chain->n_stages, step->bytes, FALSE);
  while (tasks->len > 0)
    {
      Task task = g_array_index (tasks, Task, tasks->len - 1);

      g_array_set_size (tasks, tasks->len - 1);
      if (task.is_backward)
        ss_chain_schedule_add (schedule, SS_CHAIN_BACKWARD, task.first);
      else
        expand (self, &task, tasks, schedule);
    }
  return schedule;
}

guint
ss_chain_optimal_n_parts (const SsChainOptimal *self)
{
  return ss_chain_parts_n (self->parts);
}
