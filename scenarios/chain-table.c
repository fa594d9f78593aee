/* SPDX-License-Identifier: MIT */
#include "scenarios/chain-table.h"

#include <string.h>

#include "plan/chain-optimal.h"
#include "plan/chain-policies.h"
#include "plan/revolve.h"
#include "scenarios/chain-json-private.h"

#define U64 "%" G_GUINT64_FORMAT

/* What policies and the optimum make can be run. */
static SsChainResult
simulate (const SsChain *chain, const SsChainSchedule *schedule)
{
  SsChainResult result;

  if (!ss_chain_simulate (chain, schedule, SS_CHAIN_RULES_DEFAULT, NULL, &result, NULL))
    g_assert_not_reached ();
  return result;
}

static void
append_policy (const SsChain *chain, const SsChainPolicy *policy, guint param, GString *out)
{
  static const char *const words[] = { "F_n", "F_a", "B" };
  g_autoptr (SsChainSchedule) schedule = ss_chain_schedule_of_policy (chain, policy, param);
  SsChainResult result = simulate (chain, schedule);
  const SsChainOp *op = ss_chain_schedule_op (schedule, result.peak_op);

  g_string_append_printf (out, "%s,%u," U64 "," U64 "," U64 ",%u,%s(%u)\n", policy->name, param,
                          result.peak_bytes, result.time, result.recompute_time,
                          result.n_recomputed, words[op->kind], op->stage);
}

void
ss_chain_append_policies (const SsChain *chain, GString *out)
{
  guint n = ss_chain_n_layers (chain);

  g_string_append (out, "policy,param,peak,time,recompute_time,recompute_stages,peak_op\n");
  for (const SsChainPolicy *const *policy = ss_chain_policies (); *policy != NULL; policy++)
    for (guint param = (*policy)->min_param; param <= ss_chain_policy_max_param (*policy, n);
         param++)
      append_policy (chain, *policy, param, out);
}

void
ss_chain_append_pareto (const SsChain *chain, GString *out)
{
  g_autoptr (SsChainOptimal) optimal = ss_chain_optimal_new (chain);

  g_string_append (out, "min_budget,opt_time,recompute_time,recompute_stages\n");
  for (guint i = 0; i < ss_chain_optimal_n_points (optimal); i++)
    {
      SsChainPoint point = ss_chain_optimal_point (optimal, i);

      g_string_append_printf (out, U64 "," U64 "," U64 ",%u\n", point.min_budget_bytes,
                              point.time, point.recompute_time, point.n_recomputed);
    }
}

/* A name as a field of CSV. */
static void
append_field (GString *out, const char *text)
{
  if (strpbrk (text, ",\"\r\n") == NULL)
    {
      g_string_append (out, text);
      return;
    }
  g_string_append_c (out, '"');
  for (const char *p = text; *p != '\0'; p++)
    g_string_append_printf (out, *p == '"' ? "\"%c" : "%c", *p);
  g_string_append_c (out, '"');
}

void
ss_chain_append_nested (const SsChain *chain, const SsCheckpointing *nested, GString *out)
{
  g_autoptr (SsChainSchedule) schedule = ss_chain_schedule_of_plan (chain, nested);
  SsChainResult result = simulate (chain, schedule);

  g_string_append (out, "chain,ks,skip_last_inner_forward,peak,time,recompute_time,"
                        "recompute_stages\n");
  append_field (out, chain->name);
  for (guint i = 0; i < nested->n_levels; i++)
    g_string_append_printf (out, "%c%u", i == 0 ? ',' : '/', nested->levels[i]);
  g_string_append_printf (out, ",%d," U64 "," U64 "," U64 ",%u\n",
                          nested->skips_last_inner_forward, result.peak_bytes, result.time,
                          result.recompute_time, result.n_recomputed);
}

void
ss_chain_append_revolve (guint n_steps, guint n_slots, GString *out)
{
  SsRevolve revolve = ss_revolve (n_steps, n_slots);

  g_string_append (out, "steps,slots,extra_forward_steps,max_reps_r\n");
  g_string_append_printf (out, "%u,%u," U64 "," U64 "\n", n_steps, n_slots,
                          revolve.extra_forward_steps, revolve.max_repetitions);
}

static void
append_run (const char *name, const SsChainSchedule *schedule, const guint64 *resident_bytes,
            const SsChainResult *result, GString *out)
{
  g_autofree char *quoted = ss_chain_json_quote (name);
  g_autofree char *ops = ss_chain_schedule_to_string (schedule);

  g_string_append_printf (out, "{\"name\":%s,\"ops\":\"%s\",\"resident_during_op\":[", quoted,
                          ops);
  for (guint i = 0; i < ss_chain_schedule_n_ops (schedule); i++)
    g_string_append_printf (out, "%s" U64, i > 0 ? "," : "", resident_bytes[i]);
  g_string_append_printf (out,
                          "],\"peak\":" U64 ",\"time\":" U64 ",\"recompute_time\":" U64
                          ",\"recompute_stages\":%u}",
                          result->peak_bytes, result->time, result->recompute_time,
                          result->n_recomputed);
}

gboolean
ss_chain_append_schedule (const SsChain *chain, const char *name,
                          const SsChainSchedule *schedule, GString *out, GError **error)
{
  g_autofree guint64 *resident_bytes = g_new (guint64, ss_chain_schedule_n_ops (schedule));
  SsChainResult result;

  if (!ss_chain_simulate (chain, schedule, SS_CHAIN_RULES_DEFAULT, resident_bytes, &result,
                          error))
    {
      g_prefix_error (error, "%s: ", name);
      return FALSE;
    }
  append_run (name, schedule, resident_bytes, &result, out);
  return TRUE;
}

gboolean
ss_chain_append_optimal (const SsChain *chain, guint64 budget_bytes, GString *out,
                         GError **error)
{
  g_autoptr (SsChainOptimal) optimal = ss_chain_optimal_new (chain);
  g_autoptr (SsChainSchedule) schedule
      = ss_chain_optimal_schedule (optimal, budget_bytes, error);

  return schedule != NULL
         && ss_chain_append_schedule (chain, "optimal", schedule, out, error);
}
