/* SPDX-License-Identifier: MIT
 *
 * What papers and frameworks say of checkpointing, where a chain can tell.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "plan/chain-optimal.h"
#include "plan/chain-policies.h"
#include "plan/revolve.h"
#include "tests/chain-fixture.h"

/* Chen et al. 2016, arXiv 1604.06174: cost (k) = n / k + k, at k = sqrt (n) 2 sqrt (n).  Here the
 * chain's input is held too. */
Test (chain_published, sqrt_n_segments_cost_2_sqrt_n)
{
  for (guint root = 2; root <= 20; root++)
    {
      g_autoptr (SsChain) chain = ss_chain_new_homogeneous ("n", root * root, 1, 0);

      cr_expect (eq (u64, run_policy (chain, "every_k_all", root).peak_bytes, 2 * root + 1));
    }
}

/* Chen et al.: g (n) = k + g (n / (k + 1)), at k = 1 log2 (n) memory, and every level runs forward
 * once more.  n a power of 2: x_0 and the one tensor of each level are held, and at a layer's
 * backward there are two gradients. */
Test (chain_published, halving_costs_log_n_memory_and_log_n_forwards)
{
  for (guint log = 2; log <= 7; log++)
    {
      g_autoptr (SsChain) chain = ss_chain_new_homogeneous ("n", 1u << log, 1, 0);
      SsCheckpointing nested = { .policy = ss_checkpoint_policy_find ("nested") };
      g_autoptr (SsChainSchedule) schedule = NULL;
      SsChainResult result;

      for (guint half = 1u << (log - 1); half > 0; half /= 2)
        nested.levels[nested.n_levels++] = half;
      schedule = ss_chain_schedule_of_plan (chain, &nested);
      result = run_schedule (chain, schedule);
      cr_expect (eq (u64, result.peak_bytes, log + 1 + 2), "n %u", 1u << log);
      cr_expect (eq (uint, result.n_recomputed, log << log), "n %u", 1u << log);
    }
}

/* firedrakeproject/checkpoint_schedules, tests/test_multistage.py. */
Test (chain_published, revolve_needs_15_extra_steps_for_10_with_3_slots)
{
  cr_assert (eq (u64, ss_revolve (10, 3).extra_forward_steps, 15));
  cr_assert (eq (u64, ss_revolve (4, 2).extra_forward_steps, 4));
}

/* A layer of the 22 B model, Korthikanti et al. 2022, arXiv 2205.05198, Table 4: 7.7 ms forward,
 * 11.9 backward.  Full recomputation was measured at 27.2 ms in all, 39 % more than 19.6: one
 * forward more, 7.7, where 7.6 was measured. */
Test (chain_published, full_recomputation_of_the_22b_layer_costs_39_percent)
{
  g_autoptr (SsChain) chain = ss_chain_new_homogeneous ("22b", 48, 1, 20);
  guint64 none, full;

  for (guint i = 1; i <= 48; i++)
    chain->stages[i] = (SsChainStage) { .saved_bytes = 20, .forward_time = 77,
                                        .recompute_time = 77, .backward_time = 119 };
  none = run_policy (chain, "none", 0).time;
  full = run_policy (chain, "every_k_all", 1).time;
  cr_assert (eq (u64, none, 48 * 196));
  cr_assert (eq (u64, full, 48 * (196 + 77)));
  /* rounded percent of both: 39.3 and (27.2 - 19.6) / 19.6 = 38.8 */
  cr_assert (eq (u64, (full - none) * 100 / none, 39));
}

/* Backward twice the forward: recomputing all is a third more, 6 N D becomes 8 N D. */
Test (chain_published, full_recomputation_adds_one_forward)
{
  g_autoptr (SsChain) chain = ss_chain_new_homogeneous ("n", 30, 2, 39);

  cr_assert (eq (u64, run_policy (chain, "none", 0).time, 6 * 30 / 2));
  cr_assert (eq (u64, run_policy (chain, "every_k_all", 1).time, 8 * 30 / 2));
}

/* jax-ml/jax docs/notebooks/autodiff_remat.md: checkpointing the last function of a chain saves no
 * memory.  With a loss that holds something it does. */
Test (chain_published, checkpointing_the_last_segment_saves_nothing_before_a_free_loss)
{
  for (guint k = 1; k <= 32; k++)
    {
      g_autoptr (SsChain) chain = ss_chain_new_homogeneous ("n", 32, 2, 39);

      cr_expect (le (u64, run_policy (chain, "every_k_lastfree", k).peak_bytes,
                     run_policy (chain, "every_k_all", k).peak_bytes));
      chain->stages[33].saved_bytes = 100 * 39;
      if (k < 32)
        cr_expect (lt (u64, run_policy (chain, "every_k_all", k).peak_bytes,
                       run_policy (chain, "every_k_lastfree", k).peak_bytes));
    }
}

/* NVIDIA/Megatron-LM megatron/core/recompute.py, "block", takes the first layers of a stage: a
 * chain says why not the last. */
Test (chain_published, the_first_layers_are_the_ones_to_checkpoint)
{
  g_autoptr (SsChain) chain = ss_chain_new_homogeneous ("n", 32, 2, 39);

  for (guint m = 1; m < 32; m++)
    cr_expect (eq (u64, run_policy (chain, "block_last", m).peak_bytes,
                   run_policy (chain, "block_first", m).peak_bytes + 39));
}

/* pytorch/pytorch torch/utils/checkpoint.py: the last of the segments runs as it is. */
Test (chain_published, checkpoint_sequential_keeps_the_last_segment)
{
  g_autoptr (SsChain) chain = ss_chain_new_homogeneous ("n", 8, 1, 0);

  cr_assert (eq (uint, run_policy (chain, "torch_sequential", 1).n_recomputed, 0));
  /* 5 segments of 8 layers: four of 1 and one of 4 */
  cr_assert (eq (uint, run_policy (chain, "torch_sequential", 5).n_recomputed, 4));
  cr_assert (eq (u64, run_policy (chain, "torch_sequential", 5).peak_bytes,
                 run_policy (chain, "none", 0).peak_bytes));
}

/* ---- Llama 3 8B at 8192 tokens, bf16, times in flops of products without attention ---- */

/* Embedding, 32 blocks, head with loss.  a = 2 s h; w = 2 s (5 h + 2 h_kv + 4 F), the input is not
 * in it; a block has 2 h^2 + 2 h h_kv + 3 h F weights. (transfer full) */
static SsChain *
llama_chain (void)
{
  guint64 s = 8192, h = 4096, kv = 1024, F = 14336, V = 128256;
  SsChain *chain = ss_chain_new ("llama3-8b", 34);

  chain->first_layer = 2;
  chain->last_layer = 33;
  /* ids of 8 bytes, without a gradient */
  chain->boundary_bytes[0] = 8 * s;
  for (guint i = 1; i < 34; i++)
    chain->boundary_bytes[i] = chain->gradient_bytes[i] = 2 * s * h;
  for (guint i = 2; i <= 33; i++)
    {
      chain->stages[i].saved_bytes = 2 * s * (5 * h + 2 * kv + 4 * F);
      chain->stages[i].forward_time = 2 * s * (2 * h * h + 2 * h * kv + 3 * h * F);
    }
  chain->stages[34].saved_bytes = 4 * s * V;
  chain->stages[34].forward_time = 2 * s * h * V;
  for (guint i = 1; i <= 34; i++)
    {
      chain->stages[i].recompute_time = chain->stages[i].forward_time;
      chain->stages[i].backward_time = 2 * chain->stages[i].forward_time;
    }
  cr_assert (ss_chain_check (chain, NULL));
  return chain;
}

/* w / a = 19.5: k* = sqrt (32 / 20.5) = 1.2, moved to 3 by the logits, which are alive where the
 * first segment is recomputed.  sqrt (32) is 6. */
Test (chain_published, sqrt_is_not_the_spacing_for_llama)
{
  g_autoptr (SsChain) chain = llama_chain ();
  SsChainChoice best;

  cr_assert (eq (u64, 2 * chain->stages[2].saved_bytes, 39 * chain->boundary_bytes[1]));
  ss_chain_policy_smallest (chain, ss_chain_policy_find ("every_k_all"), &best);
  cr_assert (eq (uint, best.param, 3));
  cr_assert (lt (u64, best.result.peak_bytes,
                 run_policy (chain, "every_k_all", 6).peak_bytes * 6 / 10));
  cr_assert (lt (u64, run_policy (chain, "every_k_all", 1).peak_bytes,
                 run_policy (chain, "every_k_all", 5).peak_bytes));
}

/* The table of docs/checkpointing.md, in hundredths of GiB. */
Test (chain_published, peaks_of_llama_by_spacing)
{
  static const struct { guint k; guint64 peak; } rows[] = {
    { 1, 604 }, { 2, 504 }, { 3, 473 }, { 4, 569 }, { 5, 684 }, { 6, 806 }, { 8, 1056 },
    { 16, 2069 },
  };
  g_autoptr (SsChain) chain = llama_chain ();
  guint64 gib = G_GUINT64_CONSTANT (1) << 30;

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      SsChainResult result = run_policy (chain, "every_k_all", rows[i].k);

      cr_expect (eq (u64, (result.peak_bytes * 100 + gib / 2) / gib, rows[i].peak));
      cr_expect (eq (uint, result.n_recomputed, 32));
    }
  cr_expect (eq (u64, (run_policy (chain, "none", 0).peak_bytes * 100 + gib / 2) / gib, 4504));
}

/* The head is not recomputed: 31.0 % more, not a third. */
Test (chain_published, full_recomputation_of_llama_costs_31_percent)
{
  g_autoptr (SsChain) chain = llama_chain ();
  SsChainResult full = run_policy (chain, "every_k_all", 1);
  guint64 once = full.time - full.recompute_time;

  cr_assert (eq (u64, (full.recompute_time * 1000 + once / 2) / once, 310));
}

/* The curve of the optimum lies below every spacing: with the memory of the best one there is a
 * schedule that repeats less. */
Test (chain_published, the_optimum_repeats_less_than_the_best_spacing)
{
  g_autoptr (SsChain) chain = llama_chain ();
  g_autoptr (SsChainOptimal) optimal = ss_chain_optimal_new (chain);
  SsChainChoice best;
  SsChainPoint point;

  ss_chain_policy_smallest (chain, ss_chain_policy_find ("every_k_all"), &best);
  cr_assert (ss_chain_optimal_find (optimal, best.result.peak_bytes, &point, NULL));
  cr_assert (le (u64, point.time, best.result.time));
  /* and reaches lower */
  cr_assert (lt (u64, ss_chain_optimal_point (optimal, 0).min_budget_bytes,
                 best.result.peak_bytes));
}
