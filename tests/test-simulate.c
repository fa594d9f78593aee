/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "sim/simulate.h"

#define SCENARIOS SS_SOURCE_DIR "/scenarios/"

static SsRecording *
simulate (const char *name, const char *const *overrides)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = g_strconcat (SCENARIOS, name, ".xml", NULL);
  g_autoptr (SsScenario) scenario = ss_scenario_load (path, overrides, &error);
  SsRecording *recording;

  cr_assert (ne (ptr, scenario, NULL), "%s", error != NULL ? error->message : "");
  recording = ss_simulate (scenario, NULL, &error);
  cr_assert (ne (ptr, recording, NULL), "%s", error != NULL ? error->message : "");
  return recording;
}

/* The name is the whole model's. */
Test (simulate, a_cut_stack_is_said)
{
  const char *overrides[] = { "model/layers=1", "training/sequence-length=64", NULL };
  g_autoptr (SsRecording) cut = simulate ("teaching-4layer", overrides);
  g_autoptr (SsRecording) whole = simulate ("teaching-4layer", overrides + 1);

  cr_expect (g_str_has_prefix (cut->summary, "1 of 4 layers, bf16 weights with fp32 masters, "),
             "%s", cut->summary);
  cr_expect (g_str_has_prefix (whole->summary, "bf16 weights with fp32 masters, "),
             "%s", whole->summary);
}

static const SsPhaseRecord *
phase_at (const SsRecording *recording, guint i)
{
  return &g_array_index (recording->phases, SsPhaseRecord, i);
}

static guint64
sum_of (const guint64 *by_category)
{
  guint64 sum = 0;

  for (guint i = 0; i < SS_N_CATEGORIES; i++)
    sum += by_category[i];
  return sum;
}

/* Everything that must hold of any run, said once. */
static void
expect_consistent (const SsRecording *recording)
{
  guint64 highest = 0, highest_reserved = 0;
  gint64 device_ns = 0;

  for (guint i = 1; i < recording->phases->len; i++)
    {
      cr_expect (eq (i64, phase_at (recording, i)->start_ns, phase_at (recording, i - 1)->end_ns),
                 "phase %u", i);
      cr_expect (eq (u64, phase_at (recording, i)->start_allocated_bytes,
                     phase_at (recording, i - 1)->end_allocated_bytes), "phase %u", i);
    }
  for (guint i = 0; i < recording->phases->len; i++)
    {
      highest = MAX (highest, phase_at (recording, i)->peak_allocated_bytes);
      highest_reserved = MAX (highest_reserved, phase_at (recording, i)->peak_reserved_bytes);
    }
  cr_expect (eq (u64, recording->peak.allocated_bytes, highest));
  cr_expect (eq (u64, recording->peak_reserved_bytes, highest_reserved));
  cr_expect (eq (u64, sum_of (recording->peak.by_category), highest));
  cr_expect (le (u64, recording->floor.allocated_bytes, highest));
  cr_expect (eq (u64, sum_of (recording->floor.by_category), recording->floor.allocated_bytes));
  for (guint i = 0; i < recording->memory->len; i++)
    {
      const SsMemoryEvent *event = &g_array_index (recording->memory, SsMemoryEvent, i);

      if (event->device_ns < device_ns || event->allocated_bytes > event->reserved_bytes)
        cr_fatal ("event %u", i);
      device_ns = event->device_ns;
    }
  for (guint i = 0; i < recording->ops->len; i++)
    {
      const SsOpEvent *op = &g_array_index (recording->ops, SsOpEvent, i);

      if (op->start_ns > op->end_ns || op->issue_ns > op->start_ns
          || op->phase >= recording->phases->len)
        cr_fatal ("op %u", i);
    }
}

Test (simulate, teaching_runs_through_both_steps)
{
  g_autoptr (SsRecording) recording
      = simulate ("teaching-4layer", (const char *const[]) { "hardware/capacity=unlimited", NULL });

  expect_consistent (recording);
  cr_expect (not (recording->is_oom));
  cr_expect (eq (uint, recording->steps->len, 2));
  cr_expect (eq (uint, recording->phases->len, 11));
  cr_expect (eq (uint, recording->n_layers, 4));
  /* each layer: the end of its forward and the begin of its backward, in both steps */
  cr_expect (eq (uint, recording->layers->len, 16));
  cr_expect (gt (u64, recording->state_bytes_new, 0));
  for (guint i = 0; i < recording->steps->len; i++)
    {
      const SsStepRecord *step = &g_array_index (recording->steps, SsStepRecord, i);

      cr_expect (step->is_complete);
      cr_expect (gt (dbl, step->mfu, 0));
      cr_expect (lt (dbl, step->mfu, 1));
      cr_expect (ge (dbl, step->hfu, step->mfu));
      cr_expect (gt (dbl, step->tokens_per_s, 0));
    }
}

/* PyTorch's own account of it: step 1 fits, step 2 dies in forward */
Test (simulate, llama8b_on_one_h100_dies_in_the_second_forward)
{
  g_autoptr (SsRecording) recording = simulate ("llama8b-h100", NULL);

  expect_consistent (recording);
  cr_assert (recording->is_oom);
  cr_expect (eq (uint, recording->oom.at.step, 2));
  cr_expect (eq (uint, recording->oom.at.micro_batch, 1));
  cr_expect (eq (str, (char *) recording->oom.at.phase, "forward"));
  cr_expect (eq (u64, sum_of (recording->oom.at.by_category), recording->oom.at.allocated_bytes));
  cr_expect (eq (u64, recording->n_parameters, 8030261248));
  cr_expect (eq (uint, recording->steps->len, 2));
}

Test (simulate, recomputation_costs_hardware_flops_only)
{
  const char *const none[] = { "hardware/capacity=unlimited", "checkpointing/policy=none", NULL };
  const char *const full[] = { "hardware/capacity=unlimited", "checkpointing/policy=full", NULL };
  g_autoptr (SsRecording) a = simulate ("teaching-4layer", none),
                          b = simulate ("teaching-4layer", full);
  const SsStepRecord *x = &g_array_index (a->steps, SsStepRecord, 1),
                     *y = &g_array_index (b->steps, SsStepRecord, 1);

  expect_consistent (b);
  cr_expect (eq (u64, x->model_flops, y->model_flops));
  /* fused attention's backward makes its scores again by itself */
  cr_expect (ge (u64, x->hardware_flops, x->model_flops));
  cr_expect (gt (u64, y->hardware_flops, x->hardware_flops));
  cr_expect (lt (u64, y->saved_activation_bytes, x->saved_activation_bytes));
}

/* What the report says that checkpoints can win at most is more than any of them wins. */
Test (simulate, no_policy_goes_below_the_floor)
{
  static const char *const policies[] = {
    "checkpointing/policy=full", "checkpointing/policy=sqrt", "checkpointing/policy=optimal"
  };
  g_autoptr (SsRecording) bare = simulate ("teaching-4layer", NULL);

  cr_assert (lt (u64, bare->floor.allocated_bytes, bare->peak.allocated_bytes));
  for (guint i = 0; i < G_N_ELEMENTS (policies); i++)
    {
      const char *const overrides[] = { policies[i], NULL };
      g_autoptr (SsRecording) recording = simulate ("teaching-4layer", overrides);

      cr_expect (ge (u64, recording->peak.allocated_bytes, bare->floor.allocated_bytes), "%s",
                 policies[i]);
    }
}

/* what a micro-batch saves does not depend on how many there are, and the last one is the one
 * that counts */
Test (simulate, accumulation_counts_the_last_micro_batch)
{
  const char *const one[]
      = { "hardware/capacity=unlimited", "training/gradient-accumulation=1", NULL };
  const char *const three[]
      = { "hardware/capacity=unlimited", "training/gradient-accumulation=3", NULL };
  g_autoptr (SsRecording) a = simulate ("teaching-4layer", one),
                          b = simulate ("teaching-4layer", three);
  const SsStepRecord *x = &g_array_index (a->steps, SsStepRecord, 0),
                     *y = &g_array_index (b->steps, SsStepRecord, 0);

  expect_consistent (b);
  cr_expect (eq (u64, b->tokens_per_step, 3 * a->tokens_per_step));
  cr_expect (eq (u64, y->model_flops, 3 * x->model_flops));
  cr_expect (eq (u64, x->saved_activation_bytes, y->saved_activation_bytes));
  /* forward, loss and backward three times, optimizer and zero_grad once, twice over, and load */
  cr_expect (eq (uint, b->phases->len, 23));
}

Test (simulate, one_trace_serves_two_capacities)
{
  g_autoptr (SsScenario) wide
      = ss_scenario_load (SCENARIOS "llama8b-h100.xml",
                          (const char *const[]) { "hardware/capacity=unlimited", NULL }, NULL);
  g_autoptr (SsScenario) narrow = ss_scenario_load (SCENARIOS "llama8b-h100.xml", NULL, NULL);
  g_autoptr (SsProgram) program = ss_scenario_trace (narrow, FALSE, NULL);
  g_autoptr (SsRecording) a
    = ss_simulate (wide, &(SsSimulateSettings) { .program = program }, NULL);
  g_autoptr (SsRecording) b
    = ss_simulate (narrow, &(SsSimulateSettings) { .program = program }, NULL);

  cr_expect (not (a->is_oom));
  cr_expect (b->is_oom);
  cr_expect (gt (u64, a->peak.allocated_bytes, b->peak.allocated_bytes));
}

/* The one is found with a clock, the other without. */
Test (simulate, outcome_says_where_memory_runs_out)
{
  static const struct
  {
    const char *capacity, *phase;
  } rows[] = {
    { "hardware/capacity=4 GiB", "load" },
    { "hardware/capacity=11 GiB", "forward" },
    { "hardware/capacity=13 GiB", "optimizer" },
    { "hardware/capacity=18 GiB", "forward" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const char *const overrides[] = { rows[i].capacity, NULL };
      g_autoptr (SsScenario) scenario
          = ss_scenario_load (SCENARIOS "teaching-4layer.xml", overrides, NULL);
      g_autoptr (SsProgram) program = ss_scenario_trace (scenario, FALSE, NULL);
      const SsSimulateSettings as_whole = { SS_SIMULATE_WHOLE, .program = program };
      g_autoptr (SsRecording) whole = ss_simulate (scenario, &as_whole, NULL);
      const SsSimulateSettings as_outcome = { SS_SIMULATE_OUTCOME, .program = program };
      const SsSimulateSettings as_verdict = { SS_SIMULATE_VERDICT, .program = program };
      g_autoptr (SsRecording) outcome = ss_simulate (scenario, &as_outcome, NULL);
      g_autoptr (SsRecording) verdict = ss_simulate (scenario, &as_verdict, NULL);

      cr_assert (whole->is_oom && outcome->is_oom, "%s", rows[i].capacity);
      cr_expect (eq (str, (char *) outcome->oom.at.phase, (char *) rows[i].phase));
      cr_expect (eq (str, (char *) outcome->oom.at.phase, (char *) whole->oom.at.phase));
      cr_expect (eq (uint, outcome->oom.at.step, whole->oom.at.step));
      cr_expect (eq (uint, outcome->oom.at.micro_batch, whole->oom.at.micro_batch));
      cr_expect (eq (int, outcome->oom.at.layer, whole->oom.at.layer));
      cr_expect (eq (u64, outcome->capacity_bytes, whole->capacity_bytes));
      cr_expect (verdict->is_oom && verdict->memory->len == 0);
      cr_expect (eq (int, verdict->oom.at.layer, whole->oom.at.layer));
      cr_expect (eq (u64, verdict->peak.allocated_bytes, whole->peak.allocated_bytes));
      cr_expect (eq (u64, verdict->peak_reserved_bytes, whole->peak_reserved_bytes));
    }
}

static SsRecording *
two_layers (const char *override)
{
  const char *overrides[] = { "model/layers=2", "training/sequence-length=2048", override, NULL };
  g_autoptr (SsScenario) scenario
      = ss_scenario_load (SS_SOURCE_DIR "/scenarios/llama8b-h100.xml", overrides, NULL);
  SsRecording *recording = ss_simulate (scenario, NULL, NULL);

  cr_assert (ne (ptr, recording, NULL));
  return recording;
}

/* What is cached after step 1 is gone before step 2, which asks for it again: no bytes change
 * hands for good, only time is lost, one driver call for each segment. */
Test (simulate, an_emptied_cache_costs_time_and_nothing_else)
{
  g_autoptr (SsRecording) kept = two_layers (NULL);
  g_autoptr (SsRecording) emptied = two_layers ("allocator/empty-cache=step");
  guint n_freed = 0;

  for (guint i = 0; i < emptied->memory->len; i++)
    n_freed += g_array_index (emptied->memory, SsMemoryEvent, i).action == SS_EVENT_SEGMENT_FREE;
  cr_assert (gt (u32, n_freed, 10));
  cr_assert (gt (i64, g_array_index (emptied->steps, SsStepRecord, 1).end_ns,
                 g_array_index (kept->steps, SsStepRecord, 1).end_ns));
}

/* 1 GiB that others hold is missing, and told apart from the context */
Test (simulate, memory_of_other_processes_is_gone_before_the_first_request)
{
  g_autoptr (SsRecording) alone = two_layers (NULL);
  g_autoptr (SsRecording) crowded = two_layers ("hardware/other-processes=1 GiB");

  cr_expect (eq (u64, crowded->context_bytes, alone->context_bytes + (1u << 30)));
  cr_expect (eq (u64, crowded->other_processes_bytes, 1u << 30));
  cr_expect (eq (u64, crowded->peak.allocated_bytes, alone->peak.allocated_bytes));
}
