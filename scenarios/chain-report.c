/* SPDX-License-Identifier: MIT */
#include "scenarios/chain-report.h"

#include "hw/units.h"
#include "plan/chain-optimal.h"
#include "plan/chain-policies.h"

#define NAME_COLUMNS 40
#define N_BUDGETS 6              /* rows of the optimum's curve, its two ends among them */

typedef struct
{
  const SsChain *chain;
  SsByteUnit unit;
  guint64 least_time;            /* of all stages once */
  GString *out;
} Report;

static void
append_row (const Report *self, const char *name, guint64 bytes, guint64 time_ns)
{
  g_autofree char *memory = ss_units_format_bytes (bytes, self->unit, 2);
  g_autofree char *time = g_strdup_printf ("%.1f", (double) time_ns / 1e6);
  double more = self->least_time > 0
                  ? 100 * ((double) time_ns / (double) self->least_time - 1) : 0;

  g_string_append_printf (self->out, "%-*s%12s%12s%+10.1f %%\n", NAME_COLUMNS, name, memory, time,
                          more);
}

/* Of a policy whose every number was tried, the one with the least memory. */
static void
append_smallest (const Report *self, const char *policy, const char *words)
{
  SsChainChoice choice;
  g_autofree char *name = NULL;

  ss_chain_policy_smallest (self->chain, ss_chain_policy_find (policy), &choice);
  name = g_strdup_printf ("%s %u", words, choice.param);
  append_row (self, name, choice.result.peak_bytes, choice.result.time);
}

static SsChainResult
run_policy (const SsChain *chain, const char *policy, guint param)
{
  g_autoptr (SsChainSchedule) schedule
    = ss_chain_schedule_of_policy (chain, ss_chain_policy_find (policy), param);
  SsChainResult result;

  if (!ss_chain_simulate (chain, schedule, SS_CHAIN_RULES_DEFAULT, NULL, &result, NULL))
    g_assert_not_reached ();
  return result;
}

static void
append_policies (Report *self)
{
  SsChainResult none = run_policy (self->chain, "none", 0);
  SsChainResult full = run_policy (self->chain, "every_k_all", 1);

  self->least_time = none.time;
  append_row (self, "no checkpoints", none.peak_bytes, none.time);
  append_row (self, "every layer", full.peak_bytes, full.time);
  append_smallest (self, "every_k_all", "segments, least memory: layers");
  append_smallest (self, "every_k_lastfree", "the same, the last one kept: layers");
}

/* Points of the curve, evenly chosen. */
static void
append_optimum (const Report *self)
{
  g_autoptr (SsChainOptimal) optimal = ss_chain_optimal_new (self->chain);
  guint n = ss_chain_optimal_n_points (optimal), n_rows = MIN (n, N_BUDGETS);

  for (guint i = 0; i < n_rows; i++)
    {
      guint at = n_rows > 1 ? (guint) ((guint64) (n - 1) * i / (n_rows - 1)) : 0;
      SsChainPoint point = ss_chain_optimal_point (optimal, at);
      g_autofree char *name = g_strdup_printf ("optimal, %u stage%s run again", point.n_recomputed,
                                               point.n_recomputed == 1 ? "" : "s");

      append_row (self, name, point.min_budget_bytes, point.time);
    }
  g_string_append_printf (self->out, "\n%u budgets make a difference: --pareto has all of them, "
                                     "--budget=SIZE the\nschedule of one, --json the chain.\n", n);
}

void
ss_chain_append_report (const SsChain *chain, SsByteUnit unit, GString *out)
{
  Report report = { .chain = chain, .unit = unit, .out = out };

  g_string_append_printf (out, "%s: %u stages of one micro-batch\n\n", chain->name,
                          chain->n_stages);
  g_string_append_printf (out, "%-*s%12s%12s%12s\n", NAME_COLUMNS, "", "memory", "time ms",
                          "more time");
  append_policies (&report);
  append_optimum (&report);
}
