/* SPDX-License-Identifier: MIT */
#include "study/advise.h"

#include "study/advice-private.h"
#include "sim/simulate.h"
#include "study/trace-cache.h"

/* So many ops may be traced and replayed for one candidate, for all that change one thing, and for
 * all that change two: about 2 microseconds each. */
#define MAX_CANDIDATE_OPS 1e6
#define MAX_STAGE_OPS 6e6

typedef struct
{
  const SsRecording *recording;
  SsAdvice *advice;              /* what comes of it */
  const SsAdviceRun *run;
  SsTrialBase base;
  GPtrArray *candidates;         /* SsCandidate, of the stage */
  SsTrialResult *results;        /* of the stage, by candidate */
  double base_tokens_per_s;      /* with as much memory as it asks for; 0: not known yet */
  GMutex mutex;                  /* guards what follows */
  guint n_done, n_all;
} Advising;

/* ---- one stage: candidates over a pool ---- */

/* How fast it would be as it is: one more run for the pool. */
static void
time_base (Advising *a)
{
  const SsSimulateSettings settings = {
    .detail = SS_SIMULATE_FIGURES, .capacity_bytes = G_MAXINT64, .program = a->base.program,
  };
  g_autoptr (SsRecording) unlimited
    = ss_simulate (a->base.scenario, &settings, NULL);

  if (unlimited != NULL && !unlimited->is_oom && unlimited->steps->len > 0)
    a->base_tokens_per_s
      = g_array_index (unlimited->steps, SsStepRecord, unlimited->steps->len - 1).tokens_per_s;
}

static void
run_index (gpointer data, gpointer user_data)
{
  Advising *a = user_data;
  guint i = GPOINTER_TO_UINT (data) - 1;

  if (i < a->candidates->len)
    ss_candidate_run (g_ptr_array_index (a->candidates, i), &a->base, &a->results[i]);
  else
    time_base (a);
  g_mutex_lock (&a->mutex);
  a->n_done++;
  if (a->run->progress != NULL)
    a->run->progress (a->n_done, a->n_all, a->run->user_data);
  g_mutex_unlock (&a->mutex);
}

/* Those that a long run has no time for are left out, from the end. */
static void
limit_candidates (Advising *a)
{
  g_autoptr (GPtrArray) kept
    = g_ptr_array_new_with_free_func ((GDestroyNotify) ss_candidate_free);
  double sum = 0;

  for (guint i = 0; i < a->candidates->len; i++)
    {
      SsCandidate *candidate = g_ptr_array_index (a->candidates, i);
      double n_ops = ss_candidate_limit (candidate, &a->base, MAX_CANDIDATE_OPS);

      if (sum + n_ops > MAX_STAGE_OPS)
        {
          ss_candidate_free (candidate);
          a->advice->n_untried++;
          continue;
        }
      sum += n_ops;
      g_ptr_array_add (kept, candidate);
    }
  g_ptr_array_set_free_func (a->candidates, NULL);
  g_ptr_array_unref (a->candidates);
  a->candidates = g_steal_pointer (&kept);
}

/* Takes the candidates.  Those that come to most are started first. */
static void
run_stage (Advising *a, GPtrArray *candidates)
{
  GThreadPool *threads;
  gboolean needs_time = a->base_tokens_per_s <= 0;

  a->candidates = candidates;
  limit_candidates (a);
  a->results = g_new0 (SsTrialResult, a->candidates->len + 1);
  a->n_all += a->candidates->len + (needs_time ? 1 : 0);
  /* not exclusive: that could fail for want of threads */
  threads = g_thread_pool_new (run_index, a, (gint) MIN (a->run->n_threads, G_MAXINT), FALSE, NULL);
  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < a->candidates->len; i++)
      if ((((SsCandidate *) g_ptr_array_index (a->candidates, i))->tries->len > 1) == (pass == 0))
        g_thread_pool_push (threads, GUINT_TO_POINTER (i + 1), NULL);
  if (needs_time)
    g_thread_pool_push (threads, GUINT_TO_POINTER (a->candidates->len + 1), NULL);
  g_thread_pool_free (threads, FALSE, TRUE);
}

static void
end_stage (Advising *a)
{
  for (guint i = 0; i < a->candidates->len; i++)
    g_clear_pointer (&a->results[i].entry, ss_advice_entry_free);
  g_clear_pointer (&a->results, g_free);
  g_clear_pointer (&a->candidates, g_ptr_array_unref);
}

/* ---- what comes of it ---- */

/* The results' entries go over to the advice; what fails by least is remembered. */
static void
collect (Advising *a)
{
  SsAdvice *advice = a->advice;

  for (guint i = 0; i < a->candidates->len; i++)
    {
      const SsCandidate *candidate = g_ptr_array_index (a->candidates, i);
      SsTrialResult *result = &a->results[i];
      const SsCandidateTry *strongest
        = g_ptr_array_index (candidate->tries, candidate->tries->len - 1);

      if (result->entry != NULL
          && result->entry->tokens_per_s <= candidate->min_tokens_per_s)
        continue;
      if (result->entry != NULL)
        {
          if (a->base_tokens_per_s > 0 && result->entry->tokens_per_s > 0)
            result->entry->time_change
              = a->base_tokens_per_s / result->entry->tokens_per_s - 1;
          g_ptr_array_add (advice->entries, g_steal_pointer (&result->entry));
        }
      else if (result->is_possible
               && (advice->nearest == NULL
                   || result->missing_bytes < advice->nearest_missing_bytes))
        {
          g_free (advice->nearest);
          advice->nearest = g_strdup (strongest->what);
          advice->nearest_missing_bytes = result->missing_bytes;
        }
    }
}

/* Of equally fast ones those that change least, then in the order of candidates: the sort is
 * stable. */
static gint
compare_times (gconstpointer a, gconstpointer b)
{
  const SsAdviceEntry *x = *(SsAdviceEntry *const *) a, *y = *(SsAdviceEntry *const *) b;

  if (x->time_change < y->time_change || x->time_change > y->time_change)
    return x->time_change < y->time_change ? -1 : 1;
  return (gint) x->changes - (gint) y->changes;
}

/* It leaves device and training as they are. */
static gboolean
is_mild (SsAdviceChanges changes)
{
  return changes <= SS_ADVICE_CHANGES_NUMERICS;
}

static gboolean
has_mild_entry (const SsAdvice *advice)
{
  for (guint i = 0; i < ss_advice_n_entries (advice); i++)
    if (is_mild (ss_advice_entry (advice, i)->changes))
      return TRUE;
  return FALSE;
}

/* ---- two at once ---- */

typedef struct
{
  gboolean is_possible, fits;
  gboolean is_in_pieces;         /* there would be enough, if it lay together */
  guint found;
  double tokens_per_s;
} Alone;

static Alone *
remember (const Advising *a)
{
  Alone *alone = g_new0 (Alone, a->candidates->len + 1);

  for (guint i = 0; i < a->candidates->len; i++)
    {
      const SsTrialResult *result = &a->results[i];

      alone[i].is_possible = result->is_possible;
      alone[i].fits = result->entry != NULL;
      alone[i].is_in_pieces = result->entry == NULL && result->missing_bytes == 0;
      alone[i].found = result->found;
      alone[i].tokens_per_s = result->entry != NULL ? result->entry->tokens_per_s : 0;
    }
  return alone;
}

/* What fits in some strength, and may do in a weaker one beside something else that changes
 * nothing: worth telling if that makes it faster by a hundredth. */
static SsCandidate *
join_to_weaken (const SsCandidate *strong, const Alone *alone, const SsCandidate *other)
{
  SsCandidate *joined;

  if (alone->found == 0 || other->tries->len > 1 || strong->changes != SS_ADVICE_CHANGES_NOTHING
      || other->changes != SS_ADVICE_CHANGES_NOTHING)
    return NULL;
  joined = ss_candidate_join (strong, other);
  if (joined == NULL)
    return NULL;
  g_ptr_array_set_size (joined->tries, (gint) alone->found);
  joined->min_tokens_per_s = alone->tokens_per_s * 1.01;
  return joined;
}

/* What is only in pieces is helped by the allocator, whatever else there is. */
static gboolean
is_gathered (const SsCandidate *first, const Alone *alone_first, const SsCandidate *second,
             const Alone *alone_second)
{
  return (alone_first->is_in_pieces && g_str_equal (second->lever, "allocator"))
         || (alone_second->is_in_pieces && g_str_equal (first->lever, "allocator"));
}

typedef struct
{
  GPtrArray *first;              /* to be tried in any case, or if nothing mild fits alone */
  GPtrArray *rest;               /* if even then nothing mild fits */
} Pairs;

static void
join_two (Pairs *pairs, const SsCandidate *first, const Alone *alone_first,
          const SsCandidate *second, const Alone *alone_second, gboolean is_mild_enough)
{
  gboolean is_first = is_mild (MAX (first->changes, second->changes))
                      || is_gathered (first, alone_first, second, alone_second);
  SsCandidate *joined = NULL;

  if (!alone_first->is_possible || !alone_second->is_possible)
    return;
  if (alone_first->fits && !alone_second->fits)
    joined = join_to_weaken (first, alone_first, second);
  else if (alone_second->fits && !alone_first->fits)
    joined = join_to_weaken (second, alone_second, first);
  else if (!alone_first->fits
           && (!is_mild_enough || is_gathered (first, alone_first, second, alone_second)))
    joined = ss_candidate_join (first, second);
  if (joined != NULL)
    g_ptr_array_add (is_first ? pairs->first : pairs->rest, joined);
}

static Pairs
join_pairs (const Advising *a, const Alone *alone)
{
  gboolean is_mild_enough = has_mild_entry (a->advice);
  Pairs pairs = {
    .first = g_ptr_array_new_with_free_func ((GDestroyNotify) ss_candidate_free),
    .rest = g_ptr_array_new_with_free_func ((GDestroyNotify) ss_candidate_free),
  };

  for (guint i = 0; i < a->candidates->len; i++)
    for (guint j = i + 1; j < a->candidates->len; j++)
      join_two (&pairs, g_ptr_array_index (a->candidates, i), &alone[i],
                g_ptr_array_index (a->candidates, j), &alone[j], is_mild_enough);
  return pairs;
}

static void
advise_failure (Advising *a)
{
  g_autofree Alone *alone = NULL;
  Pairs pairs;

  run_stage (a, ss_advice_candidates (a->base.scenario));
  alone = remember (a);
  collect (a);
  pairs = join_pairs (a, alone);
  end_stage (a);
  run_stage (a, pairs.first);
  collect (a);
  end_stage (a);
  if (!has_mild_entry (a->advice))
    {
      run_stage (a, g_steal_pointer (&pairs.rest));
      collect (a);
      end_stage (a);
    }
  g_clear_pointer (&pairs.rest, g_ptr_array_unref);
  g_ptr_array_sort (a->advice->entries, compare_times);
  if (ss_advice_n_entries (a->advice) > 0)
    g_clear_pointer (&a->advice->nearest, g_free);
}

/* One more run than there are, at the most: what it is compared with is the run itself. */
static void
advise_success (Advising *a)
{
  const SsRecording *recording = a->recording;
  g_autoptr (SsCandidate) fewer = ss_advice_fewer_checkpoints (a->base.scenario);
  g_autoptr (SsAdviceEntry) entry = NULL;
  SsTrialResult result;

  if (fewer->tries->len == 0
      || ss_candidate_limit (fewer, &a->base, MAX_CANDIDATE_OPS) > MAX_CANDIDATE_OPS)
    return;
  a->base_tokens_per_s
    = g_array_index (recording->steps, SsStepRecord, recording->steps->len - 1).tokens_per_s;
  ss_candidate_run (fewer, &a->base, &result);
  entry = g_steal_pointer (&result.entry);
  if (entry == NULL || entry->tokens_per_s <= a->base_tokens_per_s)
    return;
  entry->time_change = a->base_tokens_per_s / entry->tokens_per_s - 1;
  g_ptr_array_add (a->advice->entries, g_steal_pointer (&entry));
}

/* A pipe, or a file that has changed, is another scenario when it is read again. */
static gboolean
can_derive (const SsTrialBase *base)
{
  g_autoptr (SsScenario) again = ss_scenario_derive (base->scenario, NULL, NULL);
  g_autofree char *key = again != NULL ? ss_trace_key (again) : NULL;

  return g_strcmp0 (key, base->key) == 0;
}

SsAdvice *
ss_advise (const SsRecording *recording, const SsScenario *scenario, SsProgram *program,
           const SsAdviceRun *run)
{
  g_autoptr (SsAdvice) advice = ss_advice_new ();
  Advising a = { .recording = recording, .advice = advice, .run = run };
  g_autofree char *key = NULL;

  g_return_val_if_fail (recording != NULL && scenario != NULL && program != NULL, NULL);
  g_return_val_if_fail (run != NULL && run->n_threads > 0, NULL);
  key = ss_trace_key (scenario);
  a.base = (SsTrialBase) { .scenario = scenario, .program = program, .key = key };
  if (recording->capacity_bytes >= G_MAXINT64 || !can_derive (&a.base))
    return g_steal_pointer (&advice);
  g_mutex_init (&a.mutex);
  if (recording->is_oom)
    advise_failure (&a);
  else if (recording->steps->len > 0)
    advise_success (&a);
  g_mutex_clear (&a.mutex);
  return g_steal_pointer (&advice);
}
