/* SPDX-License-Identifier: MIT */
#include "cli/recording-file.h"

#include <unistd.h>

#include "cli/console.h"
#include "cli/output-options.h"
#include "cli/scenario-options.h"
#include "cli/simulation.h"

static gboolean
check_terminal (const SsCommand *command, const SsOutputOptions *output)
{
  if (output->path != NULL || !isatty (STDOUT_FILENO))
    return TRUE;
  ss_console_error ("stepsim %s writes no text: name a file with -o", command->name);
  return FALSE;
}

SsExit
ss_recording_file_run (const SsCommand *command,
                       const SsOutput  *output,
                       gboolean         is_binary,
                       int              argc,
                       char           **argv)
{
  g_auto (SsScenarioOptions) options = { 0 };
  g_auto (SsOutputOptions) where = { 0 };
  g_autoptr (SsScenario) scenario = NULL;
  g_autoptr (SsRecording) recording = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;
  const SsOutputSettings settings = { SS_MEMORY_GIB };
  const GOptionEntry entries[] = {
    SS_SCENARIO_OPTION_ENTRIES (options),
    SS_OUTPUT_OPTION_ENTRIES (where),
    G_OPTION_ENTRY_NULL
  };
  SsExit status;

  if (!ss_command_parse (command, entries, &argc, &argv, &status))
    return status;
  if (!ss_command_check_arguments (command, argc, argv, 1, 1)
      || (is_binary && !check_terminal (command, &where)))
    return SS_EXIT_INPUT;
  scenario = ss_scenario_options_load (&options, argv[1]);
  if (scenario == NULL)
    return SS_EXIT_INPUT;
  recording = ss_simulation_run (scenario, argv[1], NULL);
  if (recording == NULL)
    return SS_EXIT_INPUT;
  bytes = output->render (recording, &settings, &error);
  if (bytes != NULL
      && ss_output_options_write_bytes (&where, bytes, &error))
    return SS_EXIT_FITS;
  ss_console_output_error (error);
  return SS_EXIT_OUTPUT;
}
