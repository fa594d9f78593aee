/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "sim/replay-memory.h"
#include "sim/simulate.h"

static SsScenario *
load (const char *conf, const char *capacity)
{
  g_autofree char *a = g_strconcat ("allocator/alloc-conf=", conf, NULL);
  g_autofree char *b = g_strconcat ("hardware/capacity=", capacity, NULL);
  const char *overrides[] = { "model/layers=2", "training/sequence-length=2048", a, b, NULL };
  SsScenario *scenario
    = ss_scenario_load (SS_SOURCE_DIR "/scenarios/llama8b-h100.xml", overrides, NULL);

  cr_assert (ne (ptr, scenario, NULL));
  return scenario;
}

static SsRecording *
run (const char *conf, const char *capacity)
{
  g_autoptr (SsScenario) scenario = load (conf, capacity);
  SsRecording *recording = ss_simulate (scenario, NULL);

  cr_assert (ne (ptr, recording, NULL));
  return recording;
}

/* pytorch-kernels.md 9.1: the second backward peaks at 13,031,373,312 allocated; context
 * 697,303,040. Far below that nothing helps, and nothing is tried. */
Test (advice, plain_want_is_told_from_fragmentation)
{
  g_autoptr (SsRecording) poor = run ("", "8 GiB"), rich = run ("", "40 GiB");

  cr_assert (poor->is_oom);
  cr_assert (gt (u64, poor->least_bytes, G_GUINT64_CONSTANT (13000000000)));
  cr_assert (lt (u64, poor->least_bytes, G_GUINT64_CONSTANT (13031373312) + 697303040));
  cr_assert (eq (u32, poor->advice->len, 0));
  cr_assert (not (rich->is_oom));
  cr_assert (eq (u32, rich->advice->len, 0));
}

/* Just enough for what is asked at once, but not for what the cache keeps in pieces: what is
 * advised makes it fit when it is done. */
Test (advice, what_is_advised_holds)
{
  g_autoptr (SsRecording) recording = run ("", "13.0 GiB");

  cr_assert (recording->is_oom);
  cr_assert (le (u64, recording->least_bytes, recording->capacity_bytes));
  cr_assert (gt (u32, recording->advice->len, 0));
  for (guint i = 0; i < recording->advice->len; i++)
    {
      const SsAdvice *advice = recording->advice->pdata[i];
      g_autoptr (SsRecording) changed = run (advice->value, "13.0 GiB");

      cr_assert (not (changed->is_oom), "%s", advice->value);
      cr_assert (eq (u64, changed->peak_reserved_bytes, advice->peak_reserved_bytes));
      cr_assert (eq (u64, changed->peak.allocated_bytes, advice->peak_allocated_bytes));
    }
}

/* The clock changes nothing about memory. */
Test (replay_memory, agrees_with_the_replay_that_has_a_clock)
{
  g_autoptr (SsScenario) scenario = load ("", "40 GiB");
  g_autoptr (SsProgram) program = ss_simulate_trace (scenario, FALSE, NULL);
  g_autoptr (SsRecording) recording = ss_simulate_program (scenario, program, NULL);
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
  g_autoptr (SsProgram) program = ss_simulate_trace (scenario, FALSE, NULL);
  g_autoptr (GError) error = NULL;
  SsAllocatorSettings settings
    = { .capacity_bytes = G_MAXINT64, .conf = "expandable_segments:yes" };
  SsMemoryVerdict verdict;

  cr_assert (not (ss_replay_memory (program, ss_allocator_class_find ("caching", NULL), &settings,
                                    FALSE, &verdict, &error)));
  cr_assert (g_error_matches (error, SS_ALLOCATOR_ERROR, SS_ALLOCATOR_ERROR_CONF));
}
