/* SPDX-License-Identifier: MIT */
#include "tests/chain-fixture.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "plan/chain-policies.h"

static guint64
below (GRand *rand, gint32 end)
{
  return (guint64) g_rand_int_range (rand, 0, end);
}

SsChain *
random_chain (GRand *rand, guint n_stages, RandomKind kind)
{
  SsChain *chain = ss_chain_new ("random", n_stages);
  guint64 boundary = 4 * below (rand, 9);

  for (guint i = 0; i <= n_stages; i++)
    {
      gboolean is_free = kind == RANDOM_SIZES || i == 0;

      chain->boundary_bytes[i] = is_free ? 4 * below (rand, 9) : boundary;
      chain->gradient_bytes[i] = chain->boundary_bytes[i];
      chain->stages[i] = (SsChainStage) {
        .saved_bytes = 8 * below (rand, 20),
        .forward_bytes = 8 * below (rand, 4),
        .backward_bytes = 8 * below (rand, 4),
        .forward_time = 1 + below (rand, 30),
        .backward_time = 1 + below (rand, 60),
      };
      chain->stages[i].recompute_time = chain->stages[i].forward_time;
    }
  chain->boundary_bytes[n_stages] = chain->gradient_bytes[n_stages] = 0;
  if (below (rand, 2) == 0)
    chain->gradient_bytes[0] = 0;
  cr_assert (ss_chain_check (chain, NULL));
  return chain;
}

SsChainFile *
load_chain (const char *name_or_path)
{
  g_autofree char *path = g_path_is_absolute (name_or_path)
                            ? g_strdup (name_or_path)
                            : g_build_filename (SS_SOURCE_DIR "/tests/chain", name_or_path, NULL);
  g_autoptr (GError) error = NULL;
  SsChainFile *file = ss_chain_file_load (path, &error);

  cr_assert (file != NULL, "%s", error != NULL ? error->message : path);
  return file;
}

SsChainResult
run_schedule (const SsChain *chain, const SsChainSchedule *schedule)
{
  g_autoptr (GError) error = NULL;
  SsChainResult result;
  gboolean is_done = ss_chain_simulate (chain, schedule, SS_CHAIN_RULES_DEFAULT, NULL, &result,
                                        &error);

  cr_assert (is_done, "%s", error != NULL ? error->message : "");
  return result;
}

SsChainResult
run_policy (const SsChain *chain, const char *name, guint param)
{
  g_autoptr (SsChainSchedule) schedule
      = ss_chain_schedule_of_policy (chain, ss_chain_policy_find (name), param);

  return run_schedule (chain, schedule);
}

SsCheckpointing
nested_levels (const char *levels, gboolean skips_last)
{
  g_auto (GStrv) words = g_strsplit (levels, "/", -1);
  SsCheckpointing nested = {
    .policy = ss_checkpoint_policy_find ("nested"),
    .skips_last_inner_forward = skips_last,
  };

  for (; words[nested.n_levels] != NULL; nested.n_levels++)
    nested.levels[nested.n_levels]
        = (guint) g_ascii_strtoull (words[nested.n_levels], NULL, 10);
  return nested;
}
