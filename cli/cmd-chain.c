/* SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/console.h"
#include "cli/output-options.h"
#include "cli/scenario-options.h"
#include "plan/policy.h"
#include "plan/revolve.h"
#include "hw/units.h"
#include "scenarios/chain-report.h"
#include "scenarios/chain-table.h"
#include "sim/chain-extract.h"

/* What is asked of a chain; of nothing, the chain itself. */
typedef struct
{
  gboolean policies, pareto, skips_last, wants_json;
  gboolean is_scenario;          /* its chain is in bytes and ns: a table can be told of it */
  char *nested, *revolve, *schedule, *budget, *block;
} Questions;

static void
questions_clear (Questions *self)
{
  g_free (self->nested);
  g_free (self->revolve);
  g_free (self->schedule);
  g_free (self->budget);
  g_free (self->block);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Questions, questions_clear)

/* Whole numbers of 1 or more between separators; 0: they are not. */
static guint
read_numbers (const char *text, const char *separator, guint64 max, guint n_max, guint *numbers)
{
  g_auto (GStrv) words = g_strsplit (text, separator, (gint) n_max + 1);
  guint n = g_strv_length (words);

  if (n > n_max)
    return 0;
  for (guint i = 0; i < n; i++)
    {
      guint64 number;

      if (!g_ascii_string_to_unsigned (words[i], 10, 1, max, &number, NULL))
        return 0;
      numbers[i] = (guint) number;
    }
  return n;
}

static gboolean
answer_nested (const SsChain *chain, const Questions *asked, GString *out)
{
  SsCheckpointing nested = {
    .policy = ss_checkpoint_policy_find ("nested"),
    .skips_last_inner_forward = asked->skips_last,
  };
  g_autofree char *problem = NULL;
  const char *setting;

  nested.n_levels
      = read_numbers (asked->nested, "/", SS_CHAIN_MAX_STAGES, SS_MAX_LEVELS, nested.levels);
  if (nested.n_levels == 0)
    problem = g_strdup_printf ("\"%s\" is not at most %d numbers of layers such as 8/2",
                               asked->nested, SS_MAX_LEVELS);
  else if (nested.policy->check (&nested, ss_chain_n_layers (chain), &setting, &problem))
    ss_chain_append_nested (chain, &nested, out);
  if (problem != NULL)
    ss_console_error ("--nested: %s", problem);
  return problem == NULL;
}

static gboolean
answer_revolve (const Questions *asked, GString *out)
{
  guint numbers[2];

  if (read_numbers (asked->revolve, ",", SS_REVOLVE_MAX_STEPS, 2, numbers) != 2)
    {
      ss_console_error ("--revolve: \"%s\" is not two numbers from 1 to %d, STEPS,SLOTS",
                        asked->revolve, SS_REVOLVE_MAX_STEPS);
      return FALSE;
    }
  ss_chain_append_revolve (numbers[0], numbers[1], out);
  return TRUE;
}

static gboolean
answer_block (const Questions *asked, GString *out)
{
  guint n[5];
  SsBlockSizes sizes;

  if (read_numbers (asked->block, ",", G_MAXINT32, 5, n) != 5)
    {
      ss_console_error ("--block: \"%s\" is not five numbers from 1 to %d, S,B,H,HKV,F",
                        asked->block, G_MAXINT32);
      return FALSE;
    }
  sizes = (SsBlockSizes) { n[0], n[1], n[2], n[3], n[4] };
  if (ss_chain_append_block (&sizes, out))
    return TRUE;
  ss_console_error ("--block: the sums of %s do not fit into 63 bits", asked->block);
  return FALSE;
}

static gboolean
answer_schedule (const SsChain *chain, const Questions *asked, GString *out, GError **error)
{
  g_autoptr (SsChainSchedule) schedule = ss_chain_schedule_parse (asked->schedule, error);

  if (schedule == NULL || !ss_chain_append_schedule (chain, "custom", schedule, out, error))
    {
      g_prefix_error (error, "--schedule: ");
      return FALSE;
    }
  g_string_append_c (out, '\n');
  return TRUE;
}

static gboolean
answer_budget (const SsChain *chain, const Questions *asked, GString *out, GError **error)
{
  guint64 budget;
  g_autofree char *problem = NULL;

  /* "20 GiB", or a number in whatever the chain counts in */
  if ((!ss_units_bytes (asked->budget, &budget, &problem)
       && !g_ascii_string_to_unsigned (asked->budget, 10, 0, G_MAXUINT64, &budget, error))
      || !ss_chain_append_optimal (chain, budget, out, error))
    {
      g_prefix_error (error, "--budget: ");
      return FALSE;
    }
  g_string_append_c (out, '\n');
  return TRUE;
}

static gboolean
needs_no_file (const Questions *asked)
{
  return asked->revolve != NULL || asked->block != NULL;
}

/* All that is asked of the chain, in this order. FALSE: one cannot be answered, which is said. */
static gboolean
answer (const SsChainFile *file, const Questions *asked, GString *out)
{
  g_autoptr (GError) error = NULL;
  const SsChain *chain = file->chain;
  gboolean is_done = TRUE;

  if (asked->policies)
    ss_chain_append_policies (chain, out);
  if (asked->pareto)
    ss_chain_append_pareto (chain, out);
  if (asked->schedule != NULL)
    is_done = answer_schedule (chain, asked, out, &error);
  if (is_done && asked->budget != NULL)
    is_done = answer_budget (chain, asked, out, &error);
  if (is_done && asked->nested != NULL && !answer_nested (chain, asked, out))
    return FALSE;
  if (is_done && out->len == 0 && !needs_no_file (asked))
    {
      if (asked->is_scenario && !asked->wants_json)
        ss_chain_append_report (chain, SS_UNITS_GIB, out);
      else
        is_done = ss_chain_append_json (file, out, &error);
    }
  if (!is_done)
    ss_console_error ("%s", error->message);
  return is_done;
}

/* The chain of a scenario's layers, times in ns; what is wrong is said. (transfer full) */
static SsChainFile *
extract (const SsScenarioOptions *options, const char *path)
{
  g_autoptr (SsScenario) scenario = ss_scenario_options_load (options, path);
  g_autoptr (GError) error = NULL;
  SsChain *chain;

  if (scenario == NULL)
    return NULL;
  chain = ss_chain_extract (ss_scenario_trace_config (scenario), ss_scenario_device (scenario),
                            ss_scenario_name (scenario), &error);
  if (chain == NULL)
    {
      ss_console_error ("%s: %s", path, error->message);
      return NULL;
    }
  return ss_chain_file_new (chain, "B", "ns");
}

static SsChainFile *
load (const char *path)
{
  g_autoptr (GError) error = NULL;
  SsChainFile *file = ss_chain_file_load (path, &error);

  if (file == NULL)
    ss_console_error ("%s", error->message);
  return file;
}

static SsExit
answer_file (const SsScenarioOptions *options, const char *path, Questions *asked, GString *out)
{
  g_autoptr (SsChainFile) file = NULL;

  asked->is_scenario = !g_str_has_suffix (path, ".json");
  file = asked->is_scenario ? extract (options, path) : load (path);
  if (file == NULL)
    return SS_EXIT_INPUT;
  return answer (file, asked, out) ? SS_EXIT_FITS : SS_EXIT_INPUT;
}

static SsExit
run (int argc, char **argv)
{
  g_auto (SsScenarioOptions) scenario = { 0 };
  g_auto (SsOutputOptions) output = { 0 };
  g_auto (Questions) asked = { 0 };
  g_autoptr (GString) out = g_string_new (NULL);
  const GOptionEntry entries[] = {
    { "policies", 0, 0, G_OPTION_ARG_NONE, &asked.policies, "Every policy's peak and time",
      NULL },
    { "pareto", 0, 0, G_OPTION_ARG_NONE, &asked.pareto, "The least time for every budget", NULL },
    { "budget", 0, 0, G_OPTION_ARG_STRING, &asked.budget,
      "The fastest schedule within a budget: \"20 GiB\", or in the chain's unit", "SIZE" },
    { "json", 0, 0, G_OPTION_ARG_NONE, &asked.wants_json,
      "Print a scenario's chain as JSON, which chain reads again", NULL },
    { "schedule", 0, 0, G_OPTION_ARG_STRING, &asked.schedule,
      "Run a schedule: \"F1 S2 B2 S1 B1\"", "OPS" },
    { "nested", 0, 0, G_OPTION_ARG_STRING, &asked.nested,
      "Segments of so many layers, in segments of so many", "8/2" },
    { "skip-last-inner-forward", 0, 0, G_OPTION_ARG_NONE, &asked.skips_last,
      "With --nested: do not run again what nothing reads", NULL },
    { "revolve", 0, 0, G_OPTION_ARG_STRING, &asked.revolve,
      "Least extra steps with that many slots; needs no file", "STEPS,SLOTS" },
    { "block", 0, 0, G_OPTION_ARG_STRING, &asked.block,
      "What to keep within a Llama block; needs no file", "S,B,H,HKV,F" },
    SS_SCENARIO_OPTION_ENTRIES (scenario),
    SS_OUTPUT_OPTION_ENTRIES (output),
    G_OPTION_ENTRY_NULL
  };
  SsExit status;

  if (!ss_command_parse (&ss_command_chain, entries, &argc, &argv, &status))
    return status;
  if (asked.skips_last && asked.nested == NULL)
    {
      ss_console_error ("--skip-last-inner-forward wants --nested");
      return SS_EXIT_INPUT;
    }
  if (!ss_command_check_arguments (&ss_command_chain, argc, argv, !needs_no_file (&asked), 1))
    return SS_EXIT_INPUT;
  status = argc > 1 ? answer_file (&scenario, argv[1], &asked, out) : SS_EXIT_FITS;
  if (status == SS_EXIT_FITS
      && ((asked.revolve != NULL && !answer_revolve (&asked, out))
          || (asked.block != NULL && !answer_block (&asked, out))))
    status = SS_EXIT_INPUT;
  return status == SS_EXIT_FITS ? ss_output_options_write (&output, out->str) : status;
}

const SsCommand ss_command_chain = {
  .name = "chain",
  .arguments = "FILE|FILE.chain.json",
  .summary = "checkpointing on a chain of stages: policies, and the provable optimum",
  .run = run,
};
