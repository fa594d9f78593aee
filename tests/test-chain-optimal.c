/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "plan/chain-exhaustive.h"
#include "plan/chain-optimal.h"
#include "plan/chain-policies.h"
#include "plan/revolve.h"
#include "tests/chain-fixture.h"

/* Every point's schedule keeps what the point promises. */
static void
assert_promises_kept (const SsChain *chain, const SsChainOptimal *optimal)
{
  for (guint i = 0; i < ss_chain_optimal_n_points (optimal); i++)
    {
      SsChainPoint point = ss_chain_optimal_point (optimal, i);
      g_autoptr (SsChainSchedule) schedule
          = ss_chain_optimal_schedule (optimal, point.min_budget_bytes, NULL);
      SsChainResult result = run_schedule (chain, schedule);

      cr_expect (eq (u64, result.peak_bytes, point.min_budget_bytes));
      cr_expect (eq (u64, result.time, point.time));
      cr_expect (eq (u64, result.recompute_time, point.recompute_time));
      cr_expect (eq (uint, result.n_recomputed, point.n_recomputed));
    }
}

static void
assert_not_beaten (const SsChainOptimal *optimal, const SsChainResult *result, const char *name)
{
  SsChainPoint point;
  gboolean is_found = ss_chain_optimal_find (optimal, result->peak_bytes, &point, NULL);

  cr_assert (is_found, "%s needs %" G_GUINT64_FORMAT, name, result->peak_bytes);
  cr_expect (ge (u64, result->time, point.time), "%s", name);
}

static void
assert_no_policy_beats (const SsChain *chain, const SsChainOptimal *optimal)
{
  guint n = ss_chain_n_layers (chain);

  for (const SsChainPolicy *const *policy = ss_chain_policies (); *policy != NULL; policy++)
    for (guint k = (*policy)->min_param; k <= ss_chain_policy_max_param (*policy, n); k++)
      {
        SsChainResult result = run_policy (chain, (*policy)->name, k);

        assert_not_beaten (optimal, &result, (*policy)->name);
      }
  for (guint k = 3; k <= n; k++)
    for (guint skips = 0; skips < 2; skips++)
      {
        g_autofree char *levels = g_strdup_printf ("%u/%u/1", k, (k + 1) / 2);
        SsCheckpointing settings = nested_levels (levels, skips == 1);
        g_autoptr (SsChainSchedule) schedule = ss_chain_schedule_of_plan (chain, &settings);
        SsChainResult result = run_schedule (chain, schedule);

        assert_not_beaten (optimal, &result, "nested");
      }
}

Test (chain_optimal, promises_are_kept_and_no_policy_does_better)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (20260);

  for (guint i = 0; i < 120; i++)
    {
      g_autoptr (SsChain) chain = random_chain (rand, 1 + i % 14, (RandomKind) (i / 14 % 2));
      g_autoptr (SsChainOptimal) optimal = ss_chain_optimal_new (chain);

      if (chain->n_stages > 4)
        {
          chain->first_layer = 2;
          chain->last_layer = chain->n_stages - 2;
        }
      assert_promises_kept (chain, optimal);
      assert_no_policy_beats (chain, optimal);
    }
}

/* With times of recomputation that differ from those of the first forward. */
Test (chain_optimal, promises_are_kept_where_recomputing_takes_less)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (20261);

  for (guint i = 0; i < 40; i++)
    {
      g_autoptr (SsChain) chain = random_chain (rand, 1 + i % 10, RANDOM_SIZES);
      g_autoptr (SsChainOptimal) optimal = NULL;

      for (guint s = 1; s <= chain->n_stages; s++)
        chain->stages[s].recompute_time = (guint64) g_rand_int_range (rand, 0, 20);
      optimal = ss_chain_optimal_new (chain);
      assert_promises_kept (chain, optimal);
      assert_no_policy_beats (chain, optimal);
    }
}

/* The chain's size times the number of stages, or less: parts that are alike are solved once. */
Test (chain_optimal, a_homogeneous_chain_has_two_parts_of_each_length)
{
  g_autoptr (SsChain) chain = ss_chain_new_homogeneous ("fat", 64, 2, 39);
  g_autoptr (SsChainOptimal) optimal = ss_chain_optimal_new (chain);

  /* of lengths 1 .. 64 with the loss and without, and the whole */
  cr_assert (eq (uint, ss_chain_optimal_n_parts (optimal), 2 * 64 + 1));
  assert_promises_kept (chain, optimal);
}

static void
assert_curve_is (const SsChainOptimal *optimal, const GArray *curve)
{
  cr_assert (eq (uint, ss_chain_optimal_n_points (optimal), curve->len));
  for (guint i = 0; i < curve->len; i++)
    {
      const SsChainTrade *trade = &g_array_index (curve, SsChainTrade, i);
      SsChainPoint point = ss_chain_optimal_point (optimal, i);

      cr_expect (eq (u64, point.min_budget_bytes, trade->peak_bytes));
      cr_expect (eq (u64, point.time, trade->time));
    }
}

Test (chain_optimal, search_finds_nothing_better_where_boundaries_are_of_one_size)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (20262);

  for (guint i = 0; i < 160; i++)
    {
      guint n = i < 150 ? 1 + i % 7 : 8 + i % 2;
      g_autoptr (SsChain) chain = random_chain (rand, n, RANDOM_UNIFORM_BOUNDARY);
      g_autoptr (SsChainOptimal) optimal = NULL;
      g_autoptr (GArray) curve = NULL;

      for (guint s = 1; i % 3 == 0 && s <= n; s++)
        chain->stages[s].recompute_time = (guint64) g_rand_int_range (rand, 0, 20);
      optimal = ss_chain_optimal_new (chain);
      curve = ss_chain_exhaustive_curve (chain, SS_CHAIN_RULES_DEFAULT);
      cr_assert (ss_chain_has_uniform_boundary (chain));
      assert_curve_is (optimal, curve);
    }
}

/* There schedules that drop a checkpoint before its backward, and make it again, can win; the least
 * memory is the same. */
Test (chain_optimal, search_is_never_worse_where_boundaries_differ)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (20263);
  guint n_won = 0;

  for (guint i = 0; i < 100; i++)
    {
      g_autoptr (SsChain) chain = random_chain (rand, 2 + i % 6, RANDOM_SIZES);
      g_autoptr (SsChainOptimal) optimal = ss_chain_optimal_new (chain);
      g_autoptr (GArray) curve = ss_chain_exhaustive_curve (chain, SS_CHAIN_RULES_DEFAULT);

      cr_expect (eq (u64, g_array_index (curve, SsChainTrade, 0).peak_bytes,
                     ss_chain_optimal_point (optimal, 0).min_budget_bytes));
      for (guint k = 0; k < curve->len; k++)
        {
          const SsChainTrade *trade = &g_array_index (curve, SsChainTrade, k);
          SsChainPoint point;

          cr_assert (ss_chain_optimal_find (optimal, trade->peak_bytes, &point, NULL));
          cr_expect (le (u64, trade->time, point.time));
          n_won += trade->time < point.time;
        }
    }
  cr_assert (gt (uint, n_won, 0));
}

/* An x that may go while a saved set still stands for it: never dearer, and sometimes cheaper. */
Test (chain_optimal, detached_inputs_widen_the_choice)
{
  g_autoptr (SsChain) chain = ss_chain_new_homogeneous ("unit", 6, 1, 1);
  g_autoptr (GArray) atomic = ss_chain_exhaustive_curve (chain, SS_CHAIN_RULES_DEFAULT);
  g_autoptr (GArray) detached = ss_chain_exhaustive_curve (chain, SS_CHAIN_RULES_DETACHED);
  guint n_won = 0;

  for (guint i = 0, k = 0; i < atomic->len; i++)
    {
      const SsChainTrade *trade = &g_array_index (atomic, SsChainTrade, i);

      while (k + 1 < detached->len
             && g_array_index (detached, SsChainTrade, k + 1).peak_bytes <= trade->peak_bytes)
        k++;
      cr_expect (le (u64, g_array_index (detached, SsChainTrade, k).time, trade->time));
      n_won += g_array_index (detached, SsChainTrade, k).time < trade->time;
    }
  cr_assert (gt (uint, n_won, 0));
}

Test (chain_optimal, too_small_a_budget_is_refused_with_what_is_needed)
{
  g_autoptr (SsChain) chain = ss_chain_new_homogeneous ("unit", 6, 1, 1);
  g_autoptr (SsChainOptimal) optimal = ss_chain_optimal_new (chain);
  g_autoptr (GError) error = NULL;
  SsChainPoint point;

  /* least: w + 4 a */
  cr_assert (ss_chain_optimal_find (optimal, 5, &point, NULL));
  cr_assert (eq (ptr, ss_chain_optimal_schedule (optimal, 4, &error), NULL));
  cr_assert (g_error_matches (error, SS_CHAIN_ERROR, SS_CHAIN_ERROR_BUDGET));
  cr_assert (eq (str, error->message,
                 "a budget of 4 bytes is less than any schedule needs: 5"));
}

/* t(l, c) = min over k of k + t(l - k, c - 1) + t(k, c): one snapshot at k, the rest with one slot
 * less. */
Test (chain_optimal, revolve_is_the_solution_of_its_recurrence)
{
  enum { N = 128 };
  static guint64 t[N + 1][N + 1];

  for (guint64 l = 1; l <= N; l++)
    for (guint c = 1; c <= l; c++)
      {
        t[l][c] = l * (l - 1) / 2;
        for (guint k = 1; c > 1 && k < l; k++)
          t[l][c] = MIN (t[l][c], k + t[l - k][MIN (c - 1, l - k)] + t[k][MIN (c, k)]);
        cr_expect (eq (u64, ss_revolve ((guint) l, c).extra_forward_steps, t[l][c]),
                   "t(%u, %u)", (guint) l, c);
      }
}

/* w + (c + 3) a is enough for L + t(L, c) forwards, and no fewer do while c a < w + a; w + 4 a is
 * the least. */
Test (chain_optimal, a_homogeneous_chain_is_revolve)
{
  static const guint64 sizes[][2] = { { 1, 0 }, { 1, 1 }, { 2, 39 }, { 3, 5 } };

  for (guint s = 0; s < G_N_ELEMENTS (sizes); s++)
    for (guint L = 1; L <= 40; L += 3)
      {
        guint64 a = sizes[s][0], w = sizes[s][1];
        g_autoptr (SsChain) chain = ss_chain_new_homogeneous ("h", L, a, w);
        g_autoptr (SsChainOptimal) optimal = ss_chain_optimal_new (chain);

        for (guint c = 1; c <= L; c++)
          {
            guint64 extra = ss_revolve (L, c).extra_forward_steps;
            SsChainPoint point;

            cr_assert (ss_chain_optimal_find (optimal, w + (c + 3) * a, &point, NULL));
            cr_expect (le (u64, point.n_recomputed, extra), "L %u, c %u", L, c);
            if (c * a < w + a)
              cr_expect (eq (u64, point.n_recomputed, extra), "L %u, c %u", L, c);
          }
        if (L > 1)
          cr_expect (eq (u64, ss_chain_optimal_point (optimal, 0).min_budget_bytes, w + 4 * a));
      }
}
