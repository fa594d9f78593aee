/* SPDX-License-Identifier: MIT */
#include "study/optimal-plan.h"

#include "hw/op-time.h"
#include "plan/chain-optimal.h"
#include "sim/chain-extract.h"
#include "sim/replay-memory.h"
#include "sim/simulate.h"

/* ---- from a list of ops to ranges ---- */

typedef struct
{
  const SsChainSchedule *schedule;
  guint next;                    /* op that comes next */
  guint first_layer, last_layer;
  GArray *ranges;
} Parser;

static const SsChainOp *
next_op (const Parser *p)
{
  return p->next < ss_chain_schedule_n_ops (p->schedule)
           ? ss_chain_schedule_op (p->schedule, p->next) : NULL;
}

static void
add_range (Parser *p, guint first, guint last, gboolean is_checkpointed, guint depth)
{
  SsLayerRange range;

  first = MAX (first, p->first_layer);
  last = MIN (last, p->last_layer);
  if (first > last)
    return;
  range = (SsLayerRange) { first - p->first_layer, last - p->first_layer, is_checkpointed, depth };
  g_array_append_val (p->ranges, range);
}

/* Ranges are found from the right; within one depth they are told from the left. */
static void
reverse_children (GArray *ranges, guint from, guint depth)
{
  g_autoptr (GArray) sorted = g_array_new (FALSE, FALSE, sizeof (SsLayerRange));
  guint end = ranges->len;

  for (guint i = ranges->len; i-- > from;)
    if (g_array_index (ranges, SsLayerRange, i).depth == depth)
      {
        g_array_append_vals (sorted, &g_array_index (ranges, SsLayerRange, i), end - i);
        end = i;
      }
  for (guint i = 0; i < sorted->len; i++)
    g_array_index (ranges, SsLayerRange, from + i) = g_array_index (sorted, SsLayerRange, i);
}

static void parse (Parser *p, guint first, guint last, guint depth);

/* Backward from `last` down: a kept stage is one op; before that of a dropped one its range, known
 * by where the repetition starts, runs again. */
static void
parse_backward (Parser *p, guint first, guint last, const gboolean *is_kept, guint depth)
{
  guint stage = last;

  while (stage >= first)
    {
      const SsChainOp *op = next_op (p);
      guint begin;

      if (!op)
        return;
      if (is_kept[stage])
        {
          p->next++;
          add_range (p, stage, stage, FALSE, depth);
          stage--;
          continue;
        }
      begin = op->stage;
      add_range (p, begin, stage, TRUE, depth);
      parse (p, begin, stage, depth + 1);
      stage = begin - 1;
    }
}

/* One pass over first .. last, then its backward.  A range in which the repetition keeps all has no
 * ranges of its own. */
static void
parse (Parser *p, guint first, guint last, guint depth)
{
  g_autofree gboolean *is_kept = g_new0 (gboolean, last + 1);
  gboolean keeps_all = TRUE;
  guint from = p->ranges->len;

  for (guint stage = first; stage <= last; stage++, p->next++)
    {
      const SsChainOp *op = next_op (p);

      if (!op || op->stage != stage)
        return;
      is_kept[stage] = op->kind == SS_CHAIN_SAVE;
      keeps_all = keeps_all && is_kept[stage];
    }
  parse_backward (p, first, last, is_kept, depth);
  if (keeps_all && depth > 0)
    g_array_set_size (p->ranges, from);
  else
    reverse_children (p->ranges, from, depth);
}

GArray *
ss_plan_from_schedule (const SsChainSchedule *schedule, guint first_layer, guint last_layer)
{
  Parser p = {
    .schedule = schedule, .first_layer = first_layer, .last_layer = last_layer,
    .ranges = g_array_new (FALSE, FALSE, sizeof (SsLayerRange)),
  };
  guint n_stages = 0;

  for (guint i = 0; i < ss_chain_schedule_n_ops (schedule); i++)
    n_stages = MAX (n_stages, ss_chain_schedule_op (schedule, i)->stage);
  parse (&p, 1, n_stages, 0);
  return p.ranges;
}

/* ---- which of them ---- */

typedef struct
{
  const SsScenario *scenario;
  guint n_layers;
  guint64 budget_bytes;          /* 0: the device's memory is all there is to respect */
  const SsChain *chain;
  const SsChainOptimal *optimal;
} Search;

/* Candidates come in two rows, each from the fastest on: the chain's points, then the first m
 * layers each by itself, m from none to all.  The chain holds schedules of one time and peak for
 * equal; an allocator does not, and blocks of few sizes suit it. */
static guint
n_candidates (const Search *s)
{
  return ss_chain_optimal_n_points (s->optimal) + s->n_layers + 1;
}

static GArray *
first_layers (const Search *s, guint n_layers)
{
  SsCheckpointing block = {
    .policy = ss_checkpoint_policy_find ("block"), .n_block_layers = n_layers,
  };

  return ss_checkpointing_plan (&block, s->n_layers);
}

static GArray *
plan_of_candidate (const Search *s, guint candidate, GError **error)
{
  guint n_points = ss_chain_optimal_n_points (s->optimal);
  guint point = n_points - 1 - MIN (candidate, n_points - 1);
  guint64 budget = ss_chain_optimal_point (s->optimal, point).min_budget_bytes;
  g_autoptr (SsChainSchedule) schedule = NULL;

  if (candidate >= n_points)
    return first_layers (s, candidate - n_points);
  schedule = ss_chain_optimal_schedule (s->optimal, budget, error);
  return schedule ? ss_plan_from_schedule (schedule, s->chain->first_layer, s->chain->last_layer)
                  : NULL;
}

typedef struct
{
  gboolean fits;
  guint64 peak_bytes;            /* asked for at one moment */
  double busy_s;                 /* of the device, all ops */
} Trial;

static double
busy_s (const SsProgram *program, const SsDevice *device)
{
  double sum_s = 0;

  for (guint i = 0; i < ss_program_n_ops (program); i++)
    sum_s += ss_op_time_s (ss_program_op (program, i), device);
  return sum_s;
}

/* FALSE with an error. */
static gboolean
try_candidate (const Search *s, guint candidate, Trial *trial, GError **error)
{
  g_autoptr (GArray) ranges = plan_of_candidate (s, candidate, error);
  g_autoptr (SsScenario) planned = NULL;
  g_autoptr (SsProgram) program = NULL;
  g_autoptr (SsRecording) verdict = NULL;
  SsSimulateSettings settings = { .detail = SS_SIMULATE_VERDICT, .traced = &program };

  if (ranges == NULL)
    return FALSE;
  planned = ss_scenario_with_plan (s->scenario, ranges);
  verdict = ss_simulate (planned, &settings, error);
  if (verdict == NULL)
    return FALSE;
  trial->fits = !verdict->is_oom
                && (s->budget_bytes == 0 || verdict->peak.allocated_bytes <= s->budget_bytes);
  trial->peak_bytes = ss_program_peak_bytes (program, SS_EVERY_CATEGORY);
  trial->busy_s = busy_s (program, ss_scenario_device (s->scenario));
  return TRUE;
}

/* Looks through the candidates from `first` to `end` for the first that fits: what an allocator
 * reserves does not fall evenly with what is allocated, so that halving would miss some.  *found
 * and *best become that if it is faster than what was found before; while nothing fits, the one
 * that needs least. */
static gboolean
search_row (const Search *s, guint first, guint end, Trial *found, guint *best, GError **error)
{
  Trial trial = { 0 };

  for (guint i = first; i < end && !trial.fits; i++)
    {
      if (!try_candidate (s, i, &trial, error))
        return FALSE;
      if (trial.fits ? !found->fits || trial.busy_s < found->busy_s
                     : !found->fits && trial.peak_bytes < found->peak_bytes)
        {
          *found = trial;
          *best = i;
        }
    }
  return TRUE;
}

static gboolean
search (const Search *s, guint *best, GError **error)
{
  guint n_points = ss_chain_optimal_n_points (s->optimal);
  Trial found = { .peak_bytes = G_MAXUINT64 };

  if (!search_row (s, 0, n_points, &found, best, error)
      || !search_row (s, n_points, n_candidates (s), &found, best, error))
    return FALSE;
  if (s->budget_bytes > 0 && !found.fits)
    g_set_error (error, SS_CHAIN_ERROR, SS_CHAIN_ERROR_BUDGET,
                 "budget: no checkpoints fit into %" G_GUINT64_FORMAT
                 " B; the least that any of them asks for at one moment is %" G_GUINT64_FORMAT
                 " B",
                 s->budget_bytes, found.peak_bytes);
  return found.fits || s->budget_bytes == 0;
}

SsScenario *
ss_optimal_plan (SsScenario *scenario, GError **error)
{
  const SsTraceConfig *config;
  g_autoptr (SsChain) chain = NULL;
  g_autoptr (SsChainOptimal) optimal = NULL;
  g_autoptr (GArray) ranges = NULL;
  Search s;
  guint best = 0;

  g_return_val_if_fail (scenario != NULL, NULL);
  config = ss_scenario_trace_config (scenario);
  if (!ss_checkpointing_needs_search (&config->checkpointing))
    return ss_scenario_ref (scenario);
  chain = ss_chain_extract (config, ss_scenario_device (scenario), "layers", error);
  if (chain == NULL)
    return NULL;
  optimal = ss_chain_optimal_new (chain);
  s = (Search) {
    .scenario = scenario, .n_layers = (guint) config->model.n_layers, .chain = chain,
    .optimal = optimal, .budget_bytes = config->checkpointing.budget_bytes,
  };
  if (search (&s, &best, error))
    ranges = plan_of_candidate (&s, best, error);
  return ranges != NULL ? ss_scenario_with_plan (scenario, ranges) : NULL;
}
