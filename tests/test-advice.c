/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <glib/gstdio.h>
#include <string.h>

#include "output/formats/run-json.h"
#include "scenario-fixture.h"
#include "study/advice-private.h"
#include "study/advise.h"
#include "sim/replay-memory.h"
#include "sim/simulate.h"

/* A run and what is advised about it. */
typedef struct
{
  SsScenario *scenario;
  SsProgram *program;
  SsRecording *recording;
  SsAdvice *advice;
} Advised;

static void
advised_clear (Advised *self)
{
  ss_scenario_unref (self->scenario);
  ss_program_unref (self->program);
  ss_recording_unref (self->recording);
  ss_advice_free (self->advice);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Advised, advised_clear)

static Advised
simulate (const char *path, const char *const *overrides)
{
  Advised self = { .advice = NULL };

  self.scenario = fixture_load (path, overrides);
  self.program = ss_scenario_trace (self.scenario, FALSE, NULL);
  cr_assert (ne (ptr, self.program, NULL));
  self.recording
    = ss_simulate (self.scenario, &(SsSimulateSettings) { .program = self.program }, NULL);
  cr_assert (ne (ptr, self.recording, NULL));
  return self;
}

/* Four layers that need 19.4 GiB at one moment. */
static Advised
advise (const char *const *overrides, guint n_threads)
{
  g_autofree char *path = fixture_source ("scenarios/teaching-4layer.xml");
  const SsAdviceRun run = { .n_threads = n_threads };
  Advised self = simulate (path, overrides);

  self.advice = ss_advise (self.recording, self.scenario, self.program, &run);
  return self;
}
#define ADVISE(...) advise ((const char *const[]) { __VA_ARGS__, NULL }, 2)

static const SsAdviceEntry *
entry (const Advised *advised, guint i)
{
  return ss_advice_entry (advised->advice, i);
}

static const SsAdviceEntry *
find (const Advised *advised, const char *setting)
{
  for (guint i = 0; i < ss_advice_n_entries (advised->advice); i++)
    if (g_strv_contains ((const char *const *) entry (advised, i)->settings, setting))
      return entry (advised, i);
  return NULL;
}

/* What is advised makes the run fit when it is done, with the figures that were told. */
static void
expect_to_hold (const Advised *advised)
{
  for (guint i = 0; i < ss_advice_n_entries (advised->advice); i++)
    {
      const SsAdviceEntry *advice = entry (advised, i);
      g_autoptr (SsScenario) changed
        = ss_scenario_derive (advised->scenario, (const char *const *) advice->settings, NULL);
      g_autoptr (SsRecording) run = ss_simulate (changed, NULL, NULL);
      const SsStepRecord *last = &g_array_index (run->steps, SsStepRecord, run->steps->len - 1);

      cr_expect (not (run->is_oom), "%s", advice->what);
      cr_expect (eq (u64, run->peak_reserved_bytes, advice->peak_reserved_bytes));
      cr_expect (eq (u64, run->peak.allocated_bytes, advice->peak_allocated_bytes));
      cr_expect (eq (i64, last->end_ns - last->start_ns, advice->step_ns));
    }
}

/* One layer fewer runs out of memory. */
static void
expect_fewest_layers (const Advised *advised)
{
  const char *const *settings
    = (const char *const *) find (advised, "checkpointing/policy=block")->settings;
  guint64 n_layers;
  g_autofree char *fewer = NULL;
  g_autoptr (SsScenario) scenario = NULL;
  g_autoptr (SsRecording) run = NULL;

  cr_assert (g_str_has_prefix (settings[1], "checkpointing/layers="));
  n_layers = g_ascii_strtoull (strchr (settings[1], '=') + 1, NULL, 10);
  fewer = g_strdup_printf ("checkpointing/layers=%u", (guint) n_layers - 1);
  scenario = ss_scenario_derive (advised->scenario,
                                 (const char *const[]) { settings[0], fewer, NULL }, NULL);
  run = ss_simulate (scenario, NULL, NULL);
  cr_assert (run->is_oom);
}

Test (advice, what_is_advised_holds_and_says_what_it_changes)
{
  g_auto (Advised) advised = ADVISE ("hardware/capacity=18 GiB");

  cr_assert (advised.recording->is_oom);
  cr_assert (ge (u32, ss_advice_n_entries (advised.advice), 6));
  cr_assert (eq (ptr, advised.advice->nearest, NULL));
  expect_to_hold (&advised);
  expect_fewest_layers (&advised);
  for (guint i = 1; i < ss_advice_n_entries (advised.advice); i++)
    cr_expect (le (dbl, entry (&advised, i - 1)->time_change, entry (&advised, i)->time_change));
  cr_assert (eq (int, find (&advised, "checkpointing/policy=block")->changes,
                 SS_ADVICE_CHANGES_NOTHING));
  cr_assert (eq (int, find (&advised, "training/gradient-accumulation=2")->changes,
                 SS_ADVICE_CHANGES_NOTHING));
  cr_assert (eq (int, find (&advised, "optimizer/type=sgd")->changes,
                 SS_ADVICE_CHANGES_TRAINING));
  cr_assert (eq (int, find (&advised, "adapter/type=lora")->changes, SS_ADVICE_CHANGES_TRAINING));
  /* the scenario says itself how much memory there is */
  for (guint i = 0; i < ss_advice_n_entries (advised.advice); i++)
    cr_expect (ne (int, entry (&advised, i)->changes, SS_ADVICE_CHANGES_DEVICE));
}

Test (advice, threads_change_nothing)
{
  const char *const overrides[]
    = { "hardware/capacity=3 GiB", "model/layers=1", "training/steps=1", NULL };
  g_auto (Advised) one = advise (overrides, 1), three = advise (overrides, 3);
  g_autofree char *a = ss_run_to_json (one.recording, one.advice);
  g_autofree char *b = ss_run_to_json (three.recording, three.advice);

  cr_assert (gt (u32, ss_advice_n_entries (one.advice), 0));
  cr_assert (eq (str, a, b));
}

/* States alone do not fit: nothing that keeps the training helps, and little does by itself. */
Test (advice, two_changes_at_once_where_one_is_not_enough)
{
  g_auto (Advised) advised
    = ADVISE ("hardware/capacity=3 GiB", "model/layers=1", "training/steps=1");
  const SsAdviceEntry *both = NULL;

  for (guint i = 0; both == NULL && i < ss_advice_n_entries (advised.advice); i++)
    if (g_strv_contains ((const char *const *) entry (&advised, i)->settings,
                         "precision/recipe=bf16"))
      both = entry (&advised, i);
  cr_assert (both != NULL);
  cr_assert (ge (u32, g_strv_length (both->settings), 2));
  cr_assert (ne (ptr, strstr (both->what, ", "), NULL));
  cr_assert (gt (u64, advised.recording->least_state_bytes, advised.recording->capacity_bytes));
  expect_to_hold (&advised);
}

/* Checkpoints beside smaller micro-batches or other kernels are enough: nobody has to change the
 * training in two ways. */
Test (advice, two_changes_that_leave_the_training_come_before_others)
{
  g_auto (Advised) advised = ADVISE ("hardware/capacity=16 GiB");
  guint n_pairs = 0;

  for (guint i = 0; i < ss_advice_n_entries (advised.advice); i++)
    {
      gboolean is_pair = strstr (entry (&advised, i)->lever, ", ") != NULL;

      cr_expect (eq (int, entry (&advised, i)->changes,
                     is_pair ? SS_ADVICE_CHANGES_NOTHING : SS_ADVICE_CHANGES_TRAINING));
      n_pairs += is_pair;
    }
  cr_assert (ge (u32, n_pairs, 2));
  expect_to_hold (&advised);
}

/* Parameters and what is outside the allocator are more than there is, whatever is done. */
Test (advice, where_nothing_fits_it_says_what_comes_nearest)
{
  g_auto (Advised) advised = ADVISE ("hardware/capacity=1 GiB", "model/layers=1");

  cr_assert (advised.recording->is_oom);
  cr_assert (eq (u32, ss_advice_n_entries (advised.advice), 0));
  cr_assert (ne (ptr, advised.advice->nearest, NULL));
  cr_assert (gt (u64, advised.advice->nearest_missing_bytes, 0));
  cr_assert (lt (u64, advised.advice->nearest_missing_bytes,
                 advised.recording->least_bytes - advised.recording->capacity_bytes));
}

/* Asked for at one moment is less than there is: options of the allocator, the one that the
 * scenario has already not among them. */
Test (advice, options_of_the_allocator_help_against_pieces)
{
  g_auto (Advised) advised
    = ADVISE ("hardware/capacity=19.6 GiB", "allocator/alloc-conf=max_split_size_mb:2048");
  const SsAdviceEntry *grown = find (&advised, "allocator/alloc-conf=max_split_size_mb:2048,"
                                          "expandable_segments:True");

  cr_assert (advised.recording->is_oom);
  cr_assert (le (u64, advised.recording->least_bytes, advised.recording->capacity_bytes));
  cr_assert (grown != NULL);
  for (guint i = 0; i < ss_advice_n_entries (advised.advice); i++)
    for (char **setting = entry (&advised, i)->settings; *setting != NULL; setting++)
      cr_expect (eq (ptr, strstr (*setting, "2048,max_split_size_mb"), NULL));
}

/* ---- a run that fits ---- */

Test (advice, fewer_checkpoints_that_fit_as_well)
{
  g_auto (Advised) advised = ADVISE ("hardware/capacity=18 GiB", "checkpointing/policy=full");
  const SsStepRecord *last = &g_array_index (advised.recording->steps, SsStepRecord, 1);

  cr_assert (not (advised.recording->is_oom));
  cr_assert (eq (u32, ss_advice_n_entries (advised.advice), 1));
  cr_assert (eq (str, entry (&advised, 0)->settings[0], (char *) "checkpointing/policy=block"));
  cr_assert (lt (i64, entry (&advised, 0)->step_ns, last->end_ns - last->start_ns));
  cr_assert (lt (dbl, entry (&advised, 0)->time_change, 0));
  expect_to_hold (&advised);
}

Test (advice, a_run_that_fits_without_checkpoints_or_limit_needs_none)
{
  g_auto (Advised) plain = ADVISE ("hardware/capacity=22 GiB");
  g_auto (Advised) roomy = ADVISE ("hardware/capacity=22 GiB", "checkpointing/policy=full");
  g_auto (Advised) unlimited
    = ADVISE ("hardware/capacity=unlimited", "checkpointing/policy=full");

  cr_assert (eq (u32, ss_advice_n_entries (plain.advice), 0));
  cr_assert (eq (u32, ss_advice_n_entries (unlimited.advice), 0));
  cr_assert (eq (u32, ss_advice_n_entries (roomy.advice), 1));
  cr_assert (eq (str, entry (&roomy, 0)->settings[0], (char *) "checkpointing/policy=none"));
}

/* ---- bounds ---- */

/* The strongest where it is no longer than others, else the weaker ones. */
Test (advice, a_long_run_has_fewer_strengths_tried)
{
  g_autofree char *path = fixture_source ("scenarios/teaching-4layer.xml");
  g_auto (Advised) run
    = simulate (path, (const char *const[]) { "training/micro-batch=8", NULL });
  g_autoptr (GPtrArray) all = ss_advice_candidates (run.scenario);
  const SsTrialBase base = { .scenario = run.scenario, .program = run.program };
  guint n_found = 0;

  for (guint i = 0; i < all->len; i++)
    {
      SsCandidate *candidate = g_ptr_array_index (all, i);
      const SsCandidateTry *try;
      double n_ops = ss_candidate_limit (candidate, &base, 3.0 * ss_program_n_ops (run.program));

      cr_expect (gt (dbl, n_ops, 0));
      cr_expect (eq (u32, candidate->tries->len, 1));
      try = g_ptr_array_index (candidate->tries, 0);
      if (g_str_equal (candidate->lever, "checkpointing"))
        n_found += g_str_equal (try->settings[0], "checkpointing/policy=full");
      if (g_str_equal (candidate->lever, "micro-batch"))
        n_found += g_str_equal (try->settings[0], "training/micro-batch=4");
    }
  cr_assert (eq (u32, n_found, 2));
}

/* What cannot be read again cannot be changed. */
Test (advice, a_file_that_is_gone_has_none)
{
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "stepsim-advice-XXXXXX.xml", NULL);
  g_autofree char *source = fixture_source ("scenarios/teaching-4layer.xml"), *text = NULL;
  const SsAdviceRun run = { .n_threads = 1 };
  g_auto (Advised) advised = { 0 };
  int fd = g_mkstemp (path);

  cr_assert (ge (int, fd, 0));
  g_close (fd, NULL);
  cr_assert (g_file_get_contents (source, &text, NULL, NULL));
  cr_assert (g_file_set_contents (path, text, -1, NULL));
  advised = simulate (path, (const char *const[]) { "hardware/capacity=18 GiB", NULL });
  g_unlink (path);
  advised.advice = ss_advise (advised.recording, advised.scenario, advised.program, &run);
  cr_assert (advised.recording->is_oom);
  cr_assert (eq (u32, ss_advice_n_entries (advised.advice), 0));
  cr_assert (eq (ptr, advised.advice->nearest, NULL));
}

/* ---- want and pieces ---- */

static SsScenario *
load (const char *conf, const char *capacity)
{
  g_autofree char *path = fixture_source ("scenarios/llama8b-h100.xml");
  g_autofree char *a = g_strconcat ("allocator/alloc-conf=", conf, NULL);
  g_autofree char *b = g_strconcat ("hardware/capacity=", capacity, NULL);
  const char *overrides[] = { "model/layers=2", "training/sequence-length=2048", a, b, NULL };

  return fixture_load (path, overrides);
}

/* pytorch-kernels.md 9.1: the second backward peaks at 13,031,373,312 allocated; context
 * 697,303,040. */
Test (advice, plain_want_is_told_from_fragmentation)
{
  g_autoptr (SsScenario) poor = load ("", "8 GiB"), rich = load ("", "40 GiB");
  g_autoptr (SsRecording) died = ss_simulate (poor, NULL, NULL);
  g_autoptr (SsRecording) lived = ss_simulate (rich, NULL, NULL);

  cr_assert (died->is_oom);
  cr_assert (gt (u64, died->least_bytes, G_GUINT64_CONSTANT (13000000000)));
  cr_assert (lt (u64, died->least_bytes, G_GUINT64_CONSTANT (13031373312) + 697303040));
  cr_assert (not (lived->is_oom));
}
/* The clock changes nothing about memory. */
Test (replay_memory, agrees_with_the_replay_that_has_a_clock)
{
  g_autoptr (SsScenario) scenario = load ("", "40 GiB");
  g_autoptr (SsProgram) program = ss_scenario_trace (scenario, FALSE, NULL);
  g_autoptr (SsRecording) recording
    = ss_simulate (scenario, &(SsSimulateSettings) { .program = program }, NULL);
  SsAllocatorSettings settings = {
    .capacity_bytes = ss_scenario_capacity_bytes (scenario),
    .external_bytes = ss_scenario_context_bytes (scenario),
  };
  SsMemoryVerdict verdict;

  cr_assert (ss_replay_memory (program, ss_allocator_class_find ("caching", NULL), &settings,
                               FALSE, &verdict, NULL));
  cr_assert (verdict.fits);
  cr_assert (eq (u64, verdict.peak_allocated_bytes, recording->peak.allocated_bytes));
  cr_assert (eq (u64, verdict.peak_reserved_bytes, recording->peak_reserved_bytes));
}

Test (replay_memory, a_bad_option_is_an_error)
{
  g_autoptr (SsScenario) scenario = load ("", "40 GiB");
  g_autoptr (SsProgram) program = ss_scenario_trace (scenario, FALSE, NULL);
  g_autoptr (GError) error = NULL;
  SsAllocatorSettings settings
    = { .capacity_bytes = G_MAXINT64, .conf = "expandable_segments:yes" };
  SsMemoryVerdict verdict;

  cr_assert (not (ss_replay_memory (program, ss_allocator_class_find ("caching", NULL), &settings,
                                    FALSE, &verdict, &error)));
  cr_assert (g_error_matches (error, SS_ALLOCATOR_ERROR, SS_ALLOCATOR_ERROR_CONF));
}
