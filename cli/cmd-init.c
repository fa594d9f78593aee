/* SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/console.h"
#include "cli/output-options.h"
#include "cli/scenario-options.h"

static SsExit
run (int argc, char **argv)
{
  g_auto (SsScenarioOptions) options = { 0 };
  g_auto (SsOutputOptions) output = { 0 };
  g_autoptr (SsScenario) scenario = NULL;
  g_autofree char *xml = NULL;
  const GOptionEntry entries[] = {
    SS_SCENARIO_OPTION_ENTRIES (options),
    SS_OUTPUT_OPTION_ENTRIES (output),
    G_OPTION_ENTRY_NULL
  };
  SsExit status;

  if (!ss_command_parse (&ss_command_init, entries, &argc, &argv, &status))
    return status;
  if (!ss_command_check_arguments (&ss_command_init, argc, argv, 1, 1)
      || !ss_output_options_check (&output))
    return SS_EXIT_INPUT;
  scenario = ss_scenario_options_load (&options, argv[1]);
  if (scenario == NULL)
    return SS_EXIT_INPUT;
  xml = ss_scenario_to_commented_xml (scenario);
  return ss_output_options_write (&output, xml);
}

const SsCommand ss_command_init = {
  .name = "init",
  .arguments = "FILE",
  .summary = "write a scenario, explained, of a config.json or a trainer's settings",
  .run = run,
};
