/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "plan/chain-optimal.h"
#include "plan/chain-simulate.h"
#include "sim/chain-extract.h"
#include "sim/simulate.h"
#include "study/optimal-plan.h"

static char *
plan_text (const char *ops, guint first_layer, guint last_layer)
{
  g_autoptr (SsChainSchedule) schedule = ss_chain_schedule_parse (ops, NULL);
  g_autoptr (GArray) ranges = ss_plan_from_schedule (schedule, first_layer, last_layer);
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < ranges->len; i++)
    {
      const SsLayerRange *r = &g_array_index (ranges, SsLayerRange, i);

      g_string_append_printf (text, "%s%s%u-%u/%u", i ? " " : "", r->is_checkpointed ? "" : "save:",
                              r->first, r->last, r->depth);
    }
  return g_string_free (text, FALSE);
}

/* Stages 2 .. 5 are layers 0 .. 3: 2 and 3 are dropped together, 4 and 5 kept. */
Test (optimal_plan, a_dropped_run_of_stages_is_one_range)
{
  g_autofree char *text = plan_text ("S1 F2 F3 S4 S5 S6 B6 B5 B4 S2 S3 B3 B2 B1", 2, 5);

  cr_assert (eq (str, text, "0-1/0 save:2-2/0 save:3-3/0"));
}

/* Two ranges side by side look alike in the first pass; where each repetition starts tells them
 * apart. */
Test (optimal_plan, neighbouring_ranges_are_told_apart)
{
  g_autofree char *text
    = plan_text ("S1 F2 F3 F4 F5 S6 B6 F4 S5 B5 S4 B4 S2 S3 B3 B2 B1", 2, 5);

  /* layers 2-3 are repeated, layer 2 forgotten once more; then 0-1 */
  cr_assert (eq (str, text, "0-1/0 2-3/0 2-2/1 save:3-3/1"));
}

static SsScenario *
small (const char *override)
{
  const char *overrides[] = { "model/layers=6", "training/sequence-length=2048", override, NULL };

  return ss_scenario_load (SS_SOURCE_DIR "/scenarios/llama8b-h100.xml", overrides, NULL);
}

static SsRecording *
simulate (SsScenario *scenario, GError **error)
{
  g_autoptr (SsScenario) planned = ss_optimal_plan (scenario, error);

  return planned != NULL ? ss_simulate (planned, NULL, error) : NULL;
}

static SsChain *
extracted (const SsScenario *scenario)
{
  return ss_chain_extract (ss_scenario_trace_config (scenario), ss_scenario_device (scenario), "x",
                           NULL);
}

/* Llama 3 8B at 1 x 2048, bf16, by hand: x is 2048 x 4096 x 2; a layer leaves two norms (f32
 * input 4 TH, rstd 4 T, cast and output 2 TH each), q, k, v, attention output, log-sum-exp 4 T
 * heads, 24 bytes of random state, gate, silu, up, product: 2 * 67,125,248 + 16,777,216 * 2 +
 * 4,194,304 * 2 + 262,144 + 24 + 4 * 58,720,256 */
Test (chain_extract, a_layer_keeps_what_pytorch_keeps)
{
  g_autoptr (SsScenario) scenario = small (NULL);
  g_autoptr (SsChain) chain = extracted (scenario);
  const guint64 x = 2048 * 4096 * 2, norm = 2 * x + 4 * 2048 + x + x;
  const guint64 kept = 2 * norm + 2 * x + 2 * (x / 4) + 4 * 2048 * 32 + 24 + 4 * (2048 * 14336 * 2);

  cr_assert (eq (u32, chain->n_stages, 8));
  cr_assert (eq (u64, chain->boundary_bytes[0], 2048 * 8));
  cr_assert (eq (u64, chain->boundary_bytes[3], x));
  cr_assert (eq (u64, chain->stages[4].saved_bytes, kept - x));
  cr_assert (eq (u64, chain->stages[4].saved_bytes, chain->stages[6].saved_bytes));
  cr_assert (gt (u64, chain->stages[4].backward_time, chain->stages[4].forward_time));
}

/* With memory to spare nothing is dropped; with less, what is chosen fits and is faster than
 * dropping all. */
Test (optimal_plan, fits_its_budget_and_beats_full_recomputation)
{
  g_autoptr (SsScenario) rich = small ("checkpointing/policy=optimal");
  g_autoptr (SsScenario) none = small (NULL), full = small ("checkpointing/policy=full");
  g_autoptr (SsRecording) free_run = simulate (rich, NULL), plain = simulate (none, NULL);
  g_autoptr (SsRecording) dropped = simulate (full, NULL), chosen = NULL;
  g_autoptr (SsScenario) poor = NULL;
  guint64 budget = (plain->peak.allocated_bytes + dropped->peak.allocated_bytes) / 2;
  g_autofree char *override
    = g_strdup_printf ("checkpointing/budget=%" G_GUINT64_FORMAT " B", budget);

  cr_assert (eq (u64, free_run->peak.allocated_bytes, plain->peak.allocated_bytes));
  poor = small (override);
  chosen = simulate (poor, NULL);
  cr_assert (ne (ptr, chosen, NULL));
  cr_assert (le (u64, chosen->peak.allocated_bytes, budget));
  cr_assert (lt (i64, g_array_index (chosen->steps, SsStepRecord, 1).end_ns,
                 g_array_index (dropped->steps, SsStepRecord, 1).end_ns));
}

/* What the first layers, each by itself, come to, the optimum comes to at that budget too: of the
 * device's time, which a host that keeps up leaves to decide; a call of the driver more or less is
 * no part of the plan (100 us each). */
Test (optimal_plan, no_block_of_layers_is_faster_within_its_own_peak)
{
  for (guint m = 0; m <= 6; m++)
    {
      g_autofree char *layers = g_strdup_printf ("checkpointing/layers=%u", m), *budget = NULL;
      const char *block[] = { "model/layers=6", "training/sequence-length=2048",
                              "checkpointing/policy=block", layers, "kernels/host=cuda-graph",
                              NULL };
      g_autoptr (SsScenario) of_block
        = ss_scenario_load (SS_SOURCE_DIR "/scenarios/llama8b-h100.xml", block, NULL);
      g_autoptr (SsRecording) a = simulate (of_block, NULL), b = NULL;
      const char *optimal[] = { "model/layers=6", "training/sequence-length=2048",
                                "checkpointing/policy=optimal", NULL,
                                "kernels/host=cuda-graph", NULL };
      g_autoptr (SsScenario) of_optimal = NULL;

      optimal[3] = budget = g_strdup_printf ("checkpointing/budget=%" G_GUINT64_FORMAT "B",
                                             a->peak.allocated_bytes);
      of_optimal = ss_scenario_load (SS_SOURCE_DIR "/scenarios/llama8b-h100.xml", optimal, NULL);
      b = simulate (of_optimal, NULL);
      cr_assert (ne (ptr, b, NULL), "%u", m);
      cr_expect (le (u64, b->peak.allocated_bytes, a->peak.allocated_bytes), "%u", m);
      cr_expect (le (i64, g_array_index (b->steps, SsStepRecord, 1).end_ns,
                     g_array_index (a->steps, SsStepRecord, 1).end_ns + 4 * 100000), "%u", m);
    }
}

Test (optimal_plan, a_budget_that_nothing_fits_is_an_error_with_the_least)
{
  g_autoptr (SsScenario) scenario = small ("checkpointing/budget=2 GiB");
  g_autoptr (GError) error = NULL;
  g_autoptr (SsRecording) recording = simulate (scenario, &error);

  cr_assert (eq (ptr, recording, NULL));
  cr_assert (g_error_matches (error, SS_CHAIN_ERROR, SS_CHAIN_ERROR_BUDGET));
}
