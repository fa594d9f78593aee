/* SPDX-License-Identifier: MIT */
#include "study/advice-private.h"
#include "sim/replay-memory.h"
#include "sim/simulate.h"
#include "study/optimal-plan.h"
#include "study/trace-cache.h"

/* A try that was traced; what it was found to be. */
typedef struct
{
  SsScenario *scenario;
  SsProgram *program;
  gboolean is_possible, fits;
  guint64 missing_bytes;
} Tried;

static void
tried_clear (Tried *self)
{
  g_clear_pointer (&self->scenario, ss_scenario_unref);
  g_clear_pointer (&self->program, ss_program_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Tried, tried_clear)

/* What only the replay sees needs no new trace. */
static void
trace (const SsTrialBase *base, SsScenario *scenario, Tried *tried)
{
  g_autofree char *key = ss_trace_key (scenario);

  if (g_str_equal (key, base->key))
    {
      tried->program = ss_program_ref (base->program);
      tried->scenario = ss_scenario_ref (scenario);
      return;
    }
  tried->scenario = ss_optimal_plan (scenario, NULL);
  if (tried->scenario != NULL)
    tried->program = ss_scenario_trace (tried->scenario, FALSE, NULL);
}

/* Most that do not fit ask for too much at one moment, which takes no allocator to see: of the
 * others `fits` says that they may. */
static void
run_try (const SsTrialBase *base, const SsCandidateTry *try, Tried *tried)
{
  g_autoptr (SsScenario) scenario
    = ss_scenario_derive (base->scenario, (const char *const *) try->settings, NULL);
  guint64 need_bytes, capacity_bytes;

  *tried = (Tried) { 0 };
  if (scenario != NULL)
    trace (base, scenario, tried);
  if (tried->program == NULL)
    return;
  tried->is_possible = TRUE;
  capacity_bytes = ss_scenario_capacity_bytes (tried->scenario);
  need_bytes = ss_program_peak_bytes (tried->program, SS_EVERY_CATEGORY);
  need_bytes = ss_size_add (need_bytes, ss_scenario_context_bytes (tried->scenario));
  need_bytes = ss_size_add (need_bytes, ss_scenario_other_processes_bytes (tried->scenario));
  if (need_bytes > capacity_bytes)
    tried->missing_bytes = need_bytes - capacity_bytes;
  else
    tried->fits = TRUE;
}

static SsRecording *
simulate (const Tried *tried, SsSimulateDetail detail)
{
  const SsSimulateSettings settings = { .detail = detail, .program = tried->program };

  return ss_simulate (tried->scenario, &settings, NULL);
}

/* Asks the allocator, without a clock. */
static gboolean
does_fit (const Tried *tried)
{
  g_autoptr (SsRecording) verdict = tried->fits ? simulate (tried, SS_SIMULATE_VERDICT) : NULL;

  return verdict != NULL && !verdict->is_oom;
}

/* By bisection: what fits, from a last try that does, in *tried. */
static guint
find_least (const SsCandidate *self, const SsTrialBase *base, Tried *tried)
{
  guint after = self->tries->len - 1, first = 0;

  while (first < after)
    {
      guint middle = first + (after - first) / 2;
      g_auto (Tried) next = { 0 };

      run_try (base, g_ptr_array_index (self->tries, middle), &next);
      if (does_fit (&next))
        {
          Tried before = *tried;

          *tried = next;
          next = before;
          after = middle;
        }
      else
        first = middle + 1;
    }
  return after;
}

static SsAdviceEntry *
entry_of (const SsCandidate *self, const SsCandidateTry *try, const SsRecording *recording)
{
  const SsStepRecord *last
    = &g_array_index (recording->steps, SsStepRecord, recording->steps->len - 1);
  SsAdviceEntry *entry = g_new0 (SsAdviceEntry, 1);

  entry->settings = g_strdupv (try->settings);
  entry->what = g_strdup (try->what);
  entry->lever = g_strdup (self->lever);
  entry->changes = self->changes;
  entry->peak_allocated_bytes = recording->peak.allocated_bytes;
  entry->peak_reserved_bytes = recording->peak_reserved_bytes;
  entry->peak_bytes = ss_recording_peak_bytes (recording);
  entry->step_ns = last->end_ns - last->start_ns;
  entry->tokens_per_s = last->tokens_per_s;
  return entry;
}

void
ss_candidate_run (const SsCandidate *self, const SsTrialBase *base, SsTrialResult *result)
{
  guint found = self->tries->len - 1;
  g_auto (Tried) tried = { 0 };
  g_autoptr (SsRecording) recording = NULL;

  *result = (SsTrialResult) { 0 };
  run_try (base, g_ptr_array_index (self->tries, found), &tried);
  result->is_possible = tried.is_possible;
  result->missing_bytes = tried.missing_bytes;
  /* of a single one the run itself says so */
  if (self->tries->len > 1 ? !does_fit (&tried) : !tried.fits)
    return;
  found = result->found = find_least (self, base, &tried);
  recording = simulate (&tried, SS_SIMULATE_FIGURES);
  if (recording != NULL && !recording->is_oom)
    result->entry = entry_of (self, g_ptr_array_index (self->tries, found), recording);
}

/* ---- how long it takes ---- */

/* Of all its trials, at most. */
static double
n_ops (const SsCandidate *self, const SsTrialBase *base)
{
  const SsTraceConfig *config = ss_scenario_trace_config (base->scenario);
  double n = ss_program_n_ops (base->program), factor = 0;
  guint n_runs = 2;

  for (guint i = 0; i < self->tries->len; i++)
    factor = MAX (factor, ((SsCandidateTry *) g_ptr_array_index (self->tries, i))->n_ops_factor);
  for (guint half = self->tries->len; half > 1; half = (half + 1) / 2)
    n_runs++;
  /* a plan is searched for with a trace for each of its candidates, about two a layer */
  if (config->checkpointing.policy->is_searched)
    n *= 2 * (double) config->model.n_layers + 2;
  return n * factor * n_runs;
}

/* Where the strongest makes the run long, others are enough; where the search does, the strongest
 * is. */
double
ss_candidate_limit (SsCandidate *self, const SsTrialBase *base, double max_ops)
{
  while (self->tries->len > 1 && n_ops (self, base) > max_ops)
    {
      guint last = self->tries->len - 1;
      const SsCandidateTry *weakest = g_ptr_array_index (self->tries, 0);
      const SsCandidateTry *strongest = g_ptr_array_index (self->tries, last);

      if (strongest->n_ops_factor > weakest->n_ops_factor)
        g_ptr_array_set_size (self->tries, (gint) last);
      else
        g_ptr_array_remove_range (self->tries, 0, last);
    }
  return n_ops (self, base);
}
