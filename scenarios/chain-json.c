/* SPDX-License-Identifier: MIT */
#include "scenarios/chain-json-private.h"

#include <json-glib/json-glib.h>

#include "plan/chain-exhaustive.h"
#include "plan/chain-optimal.h"
#include "plan/chain-policies.h"
#include "scenarios/chain-table.h"

#define U64 "%" G_GUINT64_FORMAT

char *
ss_chain_json_quote (const char *text)
{
  g_autoptr (JsonNode) node = json_node_alloc ();

  json_node_init_string (node, text);
  return json_to_string (node, FALSE);
}

static void
append_text (GString *out, const char *name, const char *text)
{
  g_autofree char *quoted = ss_chain_json_quote (text);

  g_string_append_printf (out, "\"%s\":%s,", name, quoted);
}

/* n numbers that lie `stride` bytes apart. */
static void
append_numbers (GString *out, const char *name, guint n, const guint64 *numbers, gsize stride)
{
  g_string_append_printf (out, "\"%s\":[", name);
  for (guint i = 0; i < n; i++)
    {
      const char *at = (const char *) numbers + i * stride;

      g_string_append_printf (out, "%s" U64, i > 0 ? "," : "",
                              *(const guint64 *) (gconstpointer) at);
    }
  g_string_append (out, "],");
}

static gboolean
has_recompute_times (const SsChain *chain)
{
  for (guint i = 1; i <= chain->n_stages; i++)
    if (chain->stages[i].recompute_time != chain->stages[i].forward_time)
      return TRUE;
  return FALSE;
}

static void
append_stages (const SsChain *chain, GString *out)
{
  guint n = chain->n_stages;
  const SsChainStage *first = &chain->stages[1];
  gsize stride = sizeof *first;

  append_numbers (out, "a", n + 1, chain->boundary_bytes, sizeof (guint64));
  append_numbers (out, "d", n + 1, chain->gradient_bytes, sizeof (guint64));
  append_numbers (out, "w", n, &first->saved_bytes, stride);
  append_numbers (out, "f", n, &first->forward_time, stride);
  if (has_recompute_times (chain))
    append_numbers (out, "fr", n, &first->recompute_time, stride);
  append_numbers (out, "b", n, &first->backward_time, stride);
  append_numbers (out, "tf", n, &first->forward_bytes, stride);
  append_numbers (out, "tb", n, &first->backward_bytes, stride);
}

static SsChainResult
run_policy (const SsChain *chain, const char *name, guint param)
{
  g_autoptr (SsChainSchedule) schedule
      = ss_chain_schedule_of_policy (chain, ss_chain_policy_find (name), param);
  SsChainResult result;

  if (!ss_chain_simulate (chain, schedule, SS_CHAIN_RULES_DEFAULT, NULL, &result, NULL))
    g_assert_not_reached ();
  return result;
}

static void
append_sqrt_peaks (const SsChain *chain, const char *policy, const guint *spacings, GString *out)
{
  g_string_append_printf (out, ",\"%s\":{", policy);
  for (guint i = 0; i < 3; i++)
    if (i == 0 || spacings[i] != spacings[i - 1])
      g_string_append_printf (out, "%s\"%u\":" U64, i > 0 ? "," : "", spacings[i],
                              run_policy (chain, policy, spacings[i]).peak_bytes);
  g_string_append_c (out, '}');
}

static void
append_policies (const SsChain *chain, GString *out)
{
  guint n = ss_chain_n_layers (chain);
  const guint spacings[] = { ss_chain_sqrt_spacing (n, SS_SQRT_FLOOR),
                             ss_chain_sqrt_spacing (n, SS_SQRT_ROUND),
                             ss_chain_sqrt_spacing (n, SS_SQRT_CEIL) };
  SsChainResult none = run_policy (chain, "none", 0);
  SsChainChoice all, last_free;

  g_string_append_printf (out, "\"sqrt\":{\"k_floor\":%u,\"k_round\":%u,\"k_ceil\":%u",
                          spacings[0], spacings[1], spacings[2]);
  append_sqrt_peaks (chain, "every_k_all", spacings, out);
  append_sqrt_peaks (chain, "every_k_lastfree", spacings, out);
  ss_chain_policy_smallest (chain, ss_chain_policy_find ("every_k_all"), &all);
  ss_chain_policy_smallest (chain, ss_chain_policy_find ("every_k_lastfree"), &last_free);
  g_string_append_printf (out, "},\"best_every_k_all\":{\"k\":%u,\"peak\":" U64 "},", all.param,
                          all.result.peak_bytes);
  g_string_append_printf (out,
                          "\"best_every_k_lastfree\":{\"k\":%u,\"peak\":" U64
                          ",\"recompute_stages\":%u},",
                          last_free.param, last_free.result.peak_bytes,
                          last_free.result.n_recomputed);
  g_string_append_printf (out, "\"none\":{\"peak\":" U64 ",\"time\":" U64 "},", none.peak_bytes,
                          none.time);
}

static void
append_curve (const char *name, const GArray *curve, GString *out)
{
  g_string_append_printf (out, ",\"%s\":[", name);
  for (guint i = 0; i < curve->len; i++)
    {
      const SsChainTrade *trade = &g_array_index (curve, SsChainTrade, i);

      g_string_append_printf (out, "%s[" U64 "," U64 "]", i > 0 ? "," : "", trade->peak_bytes,
                              trade->time);
    }
  g_string_append_c (out, ']');
}

static gboolean
is_curve (const SsChainOptimal *optimal, const GArray *curve)
{
  if (ss_chain_optimal_n_points (optimal) != curve->len)
    return FALSE;
  for (guint i = 0; i < curve->len; i++)
    {
      SsChainPoint point = ss_chain_optimal_point (optimal, i);
      const SsChainTrade *trade = &g_array_index (curve, SsChainTrade, i);

      if (point.min_budget_bytes != trade->peak_bytes || point.time != trade->time)
        return FALSE;
    }
  return TRUE;
}

static void
append_optimum (const SsChain *chain, GString *out)
{
  g_autoptr (SsChainOptimal) optimal = ss_chain_optimal_new (chain);
  guint n = ss_chain_optimal_n_points (optimal);
  SsChainPoint first = ss_chain_optimal_point (optimal, 0);

  g_string_append_printf (out,
                          "\"pareto_points_total\":%u,\"pareto_points_written\":%u,"
                          "\"min_budget\":" U64 ",\"time_at_min_budget\":" U64
                          ",\"max_useful_budget\":" U64 ",\"optimality\":\"%s\"",
                          n, n, first.min_budget_bytes, first.time,
                          ss_chain_optimal_point (optimal, n - 1).min_budget_bytes,
                          ss_chain_has_uniform_boundary (chain)
                            ? "exhaustively confirmed class: uniform boundary sizes"
                            : "optimal among persistent schedules only");
  if (chain->n_stages <= SS_CHAIN_EXHAUSTIVE_MAX_STAGES)
    {
      g_autoptr (GArray) atomic = ss_chain_exhaustive_curve (chain, SS_CHAIN_RULES_DEFAULT);
      g_autoptr (GArray) detached = ss_chain_exhaustive_curve (chain, SS_CHAIN_RULES_DETACHED);

      append_curve ("exact_atomic_pareto", atomic, out);
      append_curve ("exact_detached_pareto", detached, out);
      g_string_append_printf (out, ",\"dp_equals_exact_atomic\":%s",
                              is_curve (optimal, atomic) ? "true" : "false");
    }
}

static gboolean
append_schedules (const SsChainFile *file, GString *out, GError **error)
{
  g_string_append (out, ",\"schedules\":[");
  for (guint i = 0; i < file->schedules->len; i++)
    {
      const SsNamedSchedule *named = file->schedules->pdata[i];

      if (i > 0)
        g_string_append_c (out, ',');
      if (!ss_chain_append_schedule (file->chain, named->name, named->schedule, out, error))
        return FALSE;
    }
  g_string_append_c (out, ']');
  return TRUE;
}

gboolean
ss_chain_append_json (const SsChainFile *file, GString *out, GError **error)
{
  const SsChain *chain = file->chain;

  g_string_append_c (out, '{');
  append_text (out, "name", chain->name);
  if (file->mark != NULL)
    append_text (out, "mark", file->mark);
  g_string_append_printf (out, "\"n_stages\":%u,\"layers\":[%u,%u],", chain->n_stages,
                          chain->first_layer, chain->last_layer);
  append_text (out, "unit", file->unit);
  append_text (out, "time_unit", file->time_unit);
  if (file->meta != NULL)
    g_string_append_printf (out, "\"meta\":%s,", file->meta);
  append_stages (chain, out);
  append_policies (chain, out);
  append_optimum (chain, out);
  if (file->schedules->len > 0 && !append_schedules (file, out, error))
    return FALSE;
  g_string_append (out, "}\n");
  return TRUE;
}
