/* SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/console.h"
#include "cli/simulation.h"

/* A file whose sizes no kernel takes reads well and cannot be run: only its trace tells. */
static gboolean
is_valid (const char *path)
{
  const SsScenarioOptions as_written = { 0 };
  g_autoptr (SsScenario) scenario = ss_scenario_options_load (&as_written, path);
  g_autoptr (SsProgram) program = NULL;

  if (scenario == NULL)
    return FALSE;
  program = ss_simulation_trace (scenario, path, FALSE);
  return program != NULL;
}

static SsExit
run (int argc, char **argv)
{
  const GOptionEntry entries[] = { G_OPTION_ENTRY_NULL };
  g_autoptr (GString) valid = g_string_new (NULL);
  gboolean all_valid = TRUE;
  SsExit status;

  if (!ss_command_parse (&ss_command_validate, entries, &argc, &argv, &status))
    return status;
  if (!ss_command_check_arguments (&ss_command_validate, argc, argv, 1, G_MAXINT))
    return SS_EXIT_INPUT;
  for (int i = 1; i < argc; i++)
    if (is_valid (argv[i]))
      g_string_append_printf (valid, "%s: valid\n", argv[i]);
    else
      all_valid = FALSE;
  if (!ss_console_print (valid->str))
    return SS_EXIT_OUTPUT;
  return all_valid ? SS_EXIT_FITS : SS_EXIT_INPUT;
}

const SsCommand ss_command_validate = {
  .name = "validate",
  .arguments = "FILE...",
  .summary = "check scenario files and what they refer to",
  .run = run,
};
