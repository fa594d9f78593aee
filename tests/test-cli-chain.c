/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <string.h>

#include "tests/cli-fixture.h"

#define CHAIN SS_SOURCE_DIR "/tests/chain/three-stages.chain.json"

TestSuite (chain_cli, .init = ss_cli_make_folder, .fini = ss_cli_remove_folder);

/* The sums of every_k_all 1 and of none stand in tests/test-chain-simulate.c. */
Test (chain_cli, tables_follow_each_other)
{
  g_auto (SsCliResult) result = RUN ("chain", CHAIN, "--policies", "--pareto");

  cr_assert (eq (int, result.status, 0));
  cr_assert (g_str_has_prefix (
    result.out, "policy,param,peak,time,recompute_time,recompute_stages,peak_op\n"
                "none,0,42,18,0,0,B(3)\n"
                "every_k_all,1,32,23,5,2,B(2)\n"));
  /* F1 is run twice in the second: 2 more */
  cr_assert (g_str_has_suffix (result.out,
                               "\nmin_budget,opt_time,recompute_time,recompute_stages\n"
                               "32,23,5,2\n35,20,2,1\n42,18,0,0\n"));
}

Test (chain_cli, a_budget_gives_a_schedule_that_runs_again)
{
  g_auto (SsCliResult) result = RUN ("chain", CHAIN, "--budget=41");
  g_auto (SsCliResult) again = RUN ("chain", CHAIN, "--schedule=F1 S2 S3 B3 B2 S1 B1");
  const char *ops = "\"ops\":\"F1 S2 S3 B3 B2 S1 B1\",";

  cr_assert (eq (int, result.status, 0));
  cr_assert (g_str_has_prefix (result.out, "{\"name\":\"optimal\","));
  cr_assert (eq (str, strstr (result.out, ops), strstr (again.out, ops)));
}

Test (chain_cli, revolve_needs_no_file)
{
  g_auto (SsCliResult) result = RUN ("chain", "--revolve=10,3");

  cr_assert (eq (int, result.status, 0));
  cr_assert (eq (str, result.out, "steps,slots,extra_forward_steps,max_reps_r\n10,3,15,2\n"));
}

/* The figures stand in tests/test-chain-block.c: 1312 MiB with the input. */
Test (chain_cli, a_block_needs_no_file)
{
  g_auto (SsCliResult) result = RUN ("chain", "--block=8192,1,4096,1024,14336");

  cr_assert (eq (int, result.status, 0));
  cr_assert (g_str_has_prefix (result.out, "{\"s\":8192,\"b\":1,\"h\":4096,"));
  cr_assert (ne (ptr, strstr (result.out, "\"saved_bytes_incl_input\":1375731712,"), NULL));
}

static const struct
{
  const char *arguments[3];
  const char *err;
} refused[] = {
  { { CHAIN, "--budget=4" },
    "stepsim: --budget: a budget of 4 bytes is less than any schedule needs: 32\n" },
  { { CHAIN, "--schedule=S1 S3" }, "stepsim: --schedule: custom: op 1: nothing has made x2\n" },
  { { CHAIN, "--nested=2/x" },
    "stepsim: --nested: \"2/x\" is not at most 8 numbers of layers such as 8/2\n" },
  { { CHAIN, "--nested=2/2" },
    "stepsim: --nested: segments of 2 layers within segments of 2; wanted fewer layers at each "
    "level\n" },
  { { CHAIN, "--skip-last-inner-forward" },
    "stepsim: --skip-last-inner-forward wants --nested\n" },
  { { "--revolve=10" },
    "stepsim: --revolve: \"10\" is not two numbers from 1 to 10000000, STEPS,SLOTS\n" },
  { { "--block=1,2" },
    "stepsim: --block: \"1,2\" is not five numbers from 1 to 2147483647, S,B,H,HKV,F\n" },
  { { "--block=2147483647,2147483647,9,9,9" },
    "stepsim: --block: the sums of 2147483647,2147483647,9,9,9 do not fit into 63 bits\n" },
  { { "--policies" },
    "stepsim: stepsim chain wants FILE|FILE.chain.json (stepsim chain --help)\n" },
};

Test (chain_cli, what_cannot_be_answered_is_said)
{
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      const char *const argv[] = { SS_STEPSIM, "chain", refused[i].arguments[0],
                                   refused[i].arguments[1], NULL };
      g_auto (SsCliResult) result = ss_cli_spawn (argv);

      cr_expect (eq (int, result.status, 2), "case %u", i);
      cr_expect (eq (str, result.out, ""), "case %u", i);
      cr_expect (eq (str, result.err, (char *) refused[i].err), "case %u", i);
    }
}

/* A scenario's own chain: written, read back and printed again it is the same text. */
Test (chain_cli, a_scenarios_chain_can_be_read_back)
{
  g_autofree char *path = g_build_filename (ss_cli_folder (), "own.chain.json", NULL);
  g_auto (SsCliResult) printed = RUN ("chain", "--json",
                                       SS_SOURCE_DIR "/scenarios/teaching-4layer.xml");
  g_auto (SsCliResult) again = { 0 };

  cr_assert (eq (int, printed.status, 0));
  cr_assert (g_file_set_contents (path, printed.out, -1, NULL));
  again = RUN ("chain", path);
  cr_assert (eq (int, again.status, 0));
  cr_assert (eq (str, again.out, printed.out));
}

/* A person is told of a scenario's chain in a table, and a budget in the units that people use. */
Test (chain_cli, a_scenarios_chain_is_a_table)
{
  const char *scenario = SS_SOURCE_DIR "/scenarios/teaching-4layer.xml";
  g_auto (SsCliResult) table = RUN ("chain", scenario);
  g_auto (SsCliResult) budget = RUN ("chain", scenario, "--budget=100 GiB");
  g_auto (SsCliResult) bytes = RUN ("chain", scenario, "--budget=107374182400");

  cr_assert (eq (int, table.status, 0));
  cr_assert (ne (ptr, strstr (table.out, "\nno checkpoints "), NULL), "%s", table.out);
  cr_assert (ne (ptr, strstr (table.out, "\noptimal, 0 stages run again "), NULL), "%s", table.out);
  cr_assert (eq (int, budget.status, 0));
  cr_assert (eq (str, budget.out, bytes.out));
}
