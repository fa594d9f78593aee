/* SPDX-License-Identifier: MIT
 *
 * Every change that makes a run fit, or a run that fits faster, as a command to paste.
 */
#include "cli/command.h"
#include "cli/console.h"
#include "cli/progress.h"
#include "cli/scenario-options.h"
#include "cli/simulation.h"
#include "cli/terminal.h"
#include "output/tables/report.h"
#include "study/advise.h"

typedef struct
{
  SsScenarioOptions scenario;
  SsTerminalOptions terminal;
  SsReportStyle style;
} AdviceOptions;

static void
advice_options_clear (AdviceOptions *self)
{
  ss_scenario_options_clear (&self->scenario);
  ss_terminal_options_clear (&self->terminal);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AdviceOptions, advice_options_clear)

static void
on_trial (guint n_done, guint n_all, gpointer user_data)
{
  ss_progress_say (user_data, "trying changes", n_done, n_all);
}

static SsAdvice *
advise (const SsRecording *recording, const SsScenario *scenario, SsProgram *program)
{
  SsProgress progress;
  SsAdviceRun run = {
    .n_threads = g_get_num_processors (), .progress = on_trial, .user_data = &progress,
  };
  SsAdvice *advice;

  ss_progress_begin (&progress, FALSE);
  advice = ss_advise (recording, scenario, program, &run);
  ss_progress_end (&progress);
  return advice;
}

/* What it is as a comment of the shell, then the command. */
static char *
commands (const AdviceOptions *options, const SsAdvice *advice, const char *path)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < ss_advice_n_entries (advice); i++)
    {
      const SsAdviceEntry *entry = ss_advice_entry (advice, i);
      g_autofree char *words = ss_advice_words (entry, options->style.units);
      g_autofree char *set = ss_advice_options (entry);
      g_autofree char *rest = ss_scenario_options_words (&options->scenario, set, path);

      g_string_append_printf (text, "%s# %s\nstepsim %s\n", i > 0 ? "\n" : "", words, rest);
    }
  return g_string_free (text, FALSE);
}

static char *
answer (const AdviceOptions *options, const SsRecording *recording, const SsAdvice *advice,
        const char *path)
{
  if (ss_advice_n_entries (advice) > 0)
    return commands (options, advice, path);
  if (recording->is_oom && advice->nearest != NULL)
    return ss_report_advice (recording, advice, &options->style);
  if (recording->is_oom)
    return g_strdup ("Out of memory, and no change was tried.\n");
  return g_strdup ("It fits, and none of the changes that are tried makes it faster.\n");
}

static SsExit
give (const AdviceOptions *options, const char *path)
{
  g_autoptr (SsScenario) scenario = ss_scenario_options_load (&options->scenario, path);
  g_autoptr (SsScenario) planned
    = scenario != NULL ? ss_simulation_plan (scenario, path) : NULL;
  g_autoptr (SsProgram) program = NULL;
  g_autoptr (SsRecording) recording = NULL;
  g_autoptr (SsAdvice) advice = NULL;
  const SsSimulateSettings settings = { .traced = &program };
  g_autofree char *text = NULL;

  if (planned == NULL)
    return SS_EXIT_INPUT;
  recording = ss_simulation_run (planned, path, &settings);
  if (recording == NULL)
    return SS_EXIT_INPUT;
  advice = advise (recording, planned, program);
  text = answer (options, recording, advice, path);
  if (!ss_console_print (text))
    return SS_EXIT_OUTPUT;
  return recording->is_oom ? SS_EXIT_OUT_OF_MEMORY : SS_EXIT_FITS;
}

static SsExit
run (int argc, char **argv)
{
  g_auto (AdviceOptions) options = { 0 };
  const GOptionEntry entries[] = {
    SS_SCENARIO_OPTION_ENTRIES (options.scenario),
    SS_TERMINAL_OPTION_ENTRIES (options.terminal),
    G_OPTION_ENTRY_NULL
  };
  SsExit status;

  if (!ss_command_parse (&ss_command_advice, entries, &argc, &argv, &status))
    return status;
  if (!ss_command_check_arguments (&ss_command_advice, argc, argv, 1, 1)
      || !ss_terminal_style (&options.terminal, &options.style))
    return SS_EXIT_INPUT;
  return give (&options, argv[1]);
}

const SsCommand ss_command_advice = {
  .name = "advice",
  .arguments = "FILE",
  .summary = "every change that makes a run fit, as commands to paste",
  .run = run,
};
