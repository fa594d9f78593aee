/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "plan/chain-policies.h"
#include "tests/chain-fixture.h"

static const struct
{
  const char *policy;
  guint param;
  const char *ops;
} schedules[] = {
  { "none", 0, "S1 S2 S3 S4 S5 S6 B6 B5 B4 B3 B2 B1" },
  { "every_k_all", 2, "F1 F2 F3 F4 F5 S6 B6 S5 B5 S3 S4 B4 B3 S1 S2 B2 B1" },
  { "every_k_lastfree", 2, "F1 F2 F3 F4 S5 S6 B6 B5 S3 S4 B4 B3 S1 S2 B2 B1" },
  /* 5 / 3 = 1 layer a segment; two of them, and three layers are left */
  { "torch_sequential", 3, "F1 F2 S3 S4 S5 S6 B6 B5 B4 B3 S2 B2 S1 B1" },
  { "block_first", 2, "F1 F2 S3 S4 S5 S6 B6 B5 B4 B3 S2 B2 S1 B1" },
  { "block_last", 2, "S1 S2 S3 F4 F5 S6 B6 S5 B5 S4 B4 B3 B2 B1" },
};

Test (chain_policies, schedules_are_what_the_names_say)
{
  g_autoptr (SsChain) chain = ss_chain_new_homogeneous ("five", 5, 1, 1);

  for (guint i = 0; i < G_N_ELEMENTS (schedules); i++)
    {
      const SsChainPolicy *policy = ss_chain_policy_find (schedules[i].policy);
      g_autoptr (SsChainSchedule) schedule
          = ss_chain_schedule_of_policy (chain, policy, schedules[i].param);
      g_autofree char *ops = ss_chain_schedule_to_string (schedule);

      cr_expect (eq (str, ops, (char *) schedules[i].ops), "%s", schedules[i].policy);
    }
}

Test (chain_policies, stages_outside_the_layers_are_always_kept)
{
  g_autoptr (SsChain) chain = ss_chain_new_homogeneous ("five", 5, 1, 1);
  g_autoptr (SsChainSchedule) schedule = NULL;
  g_autofree char *ops = NULL;

  chain->first_layer = 2;
  chain->last_layer = 4;
  schedule = ss_chain_schedule_of_policy (chain, ss_chain_policy_find ("every_k_all"), 2);
  ops = ss_chain_schedule_to_string (schedule);
  cr_assert (eq (str, ops, "S1 F2 F3 F4 S5 S6 B6 B5 S4 B4 S2 S3 B3 B2 B1"));
}

/* Closed forms of a homogeneous chain with gradients as large as their tensors and a free loss;
 * n segments of k, the last of r layers.
 *   none             (L + 2) a + L w
 *   every_k_all      max ((n + 1) a + r (w + a),  n >= 2: n a + k (w + a),  r >= 2: (n + 2) a)
 *   every_k_lastfree the first two of these
 *   block_first      (L + 2) a + (L - m) w, or w more where m = L
 *   block_last       (L + 2) a + (L - m + 1) w for m >= 1 */
static guint64
closed_form (const char *policy, guint64 L, guint64 k, guint64 a, guint64 w)
{
  guint64 n = k > 0 ? (L + k - 1) / k : 0, r = L - (n - 1) * k, peak;

  if (g_str_equal (policy, "none"))
    return (L + 2) * a + L * w;
  if (g_str_equal (policy, "block_first"))
    return (L + 2) * a + (k < L ? (L - k) * w : w);
  if (g_str_equal (policy, "block_last"))
    return (L + 2) * a + (k > 0 ? L - k + 1 : L) * w;
  peak = (n + 1) * a + r * (w + a);
  if (n >= 2)
    peak = MAX (peak, n * a + k * (w + a));
  if (r >= 2 && g_str_equal (policy, "every_k_all"))
    peak = MAX (peak, (n + 2) * a);
  return peak;
}

static const struct
{
  const char *name;
  guint64 a, w;
} homogeneous[] = { { "thin", 1, 0 }, { "unit", 1, 1 }, { "fat", 2, 39 }, { "wide", 7, 3 } };

Test (chain_policies, peaks_of_homogeneous_chains_are_the_closed_forms)
{
  static const char *const names[]
      = { "none", "every_k_all", "every_k_lastfree", "block_first", "block_last" };

  for (guint c = 0; c < G_N_ELEMENTS (homogeneous); c++)
    for (guint L = 1; L <= 33; L += L < 12 ? 1 : 7)
      {
        guint64 a = homogeneous[c].a, w = homogeneous[c].w;
        g_autoptr (SsChain) chain = ss_chain_new_homogeneous (homogeneous[c].name, L, a, w);

        for (guint p = 0; p < G_N_ELEMENTS (names); p++)
          {
            const SsChainPolicy *policy = ss_chain_policy_find (names[p]);

            for (guint k = policy->min_param; k <= ss_chain_policy_max_param (policy, L); k++)
              cr_expect (eq (u64, run_policy (chain, names[p], k).peak_bytes,
                             closed_form (names[p], L, k, a, w)),
                         "%s, L %u: %s %u", homogeneous[c].name, L, names[p], k);
          }
      }
}

/* Where nothing but boundary tensors is kept, no spacing has a lower peak than sqrt (L),
 * rounded. */
Test (chain_policies, sqrt_is_the_best_spacing_where_w_is_0)
{
  for (guint L = 1; L <= 150; L++)
    {
      g_autoptr (SsChain) chain = ss_chain_new_homogeneous ("thin", L, 1, 0);
      guint k = ss_chain_sqrt_spacing (L, SS_SQRT_ROUND);
      SsChainChoice best;

      ss_chain_policy_smallest (chain, ss_chain_policy_find ("every_k_all"), &best);
      cr_expect (eq (u64, run_policy (chain, "every_k_all", k).peak_bytes,
                     best.result.peak_bytes),
                 "L %u, k %u", L, k);
    }
}

/* Else the peak is about (L / k) a + k (w + a), least at k = sqrt (L a / (a + w)).  fat, L = 128:
 * sqrt (128 * 2 / 41) = 2.5, sqrt (128) = 11.3. */
Test (chain_policies, sqrt_is_not_the_best_spacing_where_a_layer_keeps_much)
{
  g_autoptr (SsChain) chain = ss_chain_new_homogeneous ("fat", 128, 2, 39);
  SsChainChoice best;

  ss_chain_policy_smallest (chain, ss_chain_policy_find ("every_k_all"), &best);
  cr_assert (eq (uint, best.param, 3));
  /* n = 43, r = 2: 43 * 2 + 3 * 41; at k = 11, n = 12, r = 7: 12 * 2 + 11 * 41 */
  cr_assert (eq (u64, best.result.peak_bytes, 209));
  cr_assert (eq (u64, run_policy (chain, "every_k_all", 11).peak_bytes, 475));
}

Test (chain_policies, roots_are_rounded_exactly)
{
  cr_assert (eq (uint, ss_chain_sqrt_spacing (32, SS_SQRT_FLOOR), 5));
  cr_assert (eq (uint, ss_chain_sqrt_spacing (32, SS_SQRT_ROUND), 6));
  cr_assert (eq (uint, ss_chain_sqrt_spacing (32, SS_SQRT_CEIL), 6));
  /* 5.5^2 = 30.25 */
  cr_assert (eq (uint, ss_chain_sqrt_spacing (30, SS_SQRT_ROUND), 5));
  cr_assert (eq (uint, ss_chain_sqrt_spacing (31, SS_SQRT_ROUND), 6));
  cr_assert (eq (uint, ss_chain_sqrt_spacing (36, SS_SQRT_CEIL), 6));
  cr_assert (eq (uint, ss_chain_sqrt_spacing (1, SS_SQRT_FLOOR), 1));
}

Test (chain_policies, the_best_within_a_budget_is_the_fastest_then_the_smallest)
{
  g_autoptr (SsChain) chain = ss_chain_new_homogeneous ("thin", 8, 1, 0);
  const SsChainPolicy *policy = ss_chain_policy_find ("every_k_lastfree");
  SsChainChoice choice;

  /* k = 4: 4 * 1 + ... = 7, and only 4 of 8 layers are run again */
  cr_assert (ss_chain_policy_fastest (chain, policy, 7, &choice));
  cr_assert (eq (uint, choice.param, 4));
  cr_assert (ss_chain_policy_fastest (chain, policy, 6, &choice));
  cr_assert (eq (uint, choice.param, 3));
  cr_assert (not (ss_chain_policy_fastest (chain, policy, 5, &choice)));
}

static const struct
{
  const char *levels;
  gboolean skips_last;
  const char *ops;
} nested[] = {
  { "2", FALSE, "F1 F2 F3 F4 F5 S6 B6 S5 B5 S3 S4 B4 B3 S1 S2 B2 B1" },
  { "3/1", FALSE, "F1 F2 F3 F4 F5 S6 B6 F4 F5 S5 B5 S4 B4 F1 F2 F3 S3 B3 S2 B2 S1 B1" },
  { "3/1", TRUE, "F1 F2 F3 F4 F5 S6 B6 F4 S5 B5 S4 B4 F1 F2 S3 B3 S2 B2 S1 B1" },
  { "4/2/1", TRUE,
    "F1 F2 F3 F4 F5 S6 B6 S5 B5 F1 F2 F3 S4 B4 S3 B3 F1 S2 B2 S1 B1" },
};

Test (chain_policies, nested_segments_are_run_again_in_segments)
{
  g_autoptr (SsChain) chain = ss_chain_new_homogeneous ("five", 5, 1, 1);

  for (guint i = 0; i < G_N_ELEMENTS (nested); i++)
    {
      SsCheckpointing settings = nested_levels (nested[i].levels, nested[i].skips_last);
      g_autoptr (SsChainSchedule) schedule = ss_chain_schedule_of_plan (chain, &settings);
      g_autofree char *ops = ss_chain_schedule_to_string (schedule);

      cr_expect (eq (str, ops, (char *) nested[i].ops), "case %u", i);
      run_schedule (chain, schedule);
    }
}
