/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/output-options.h"
#include "cli/scenario-options.h"
#include "output/formats/json-text.h"

/* The same as an object, which stepsim runs like the file. (transfer full) */
static char *
to_json (const SsScenario *scenario)
{
  g_auto (GStrv) settings = ss_scenario_settings (scenario);
  GString *json = g_string_new ("{\"settings\":{");

  for (char **setting = settings; *setting != NULL; setting++)
    {
      char *value = strchr (*setting, '=');

      *value++ = '\0';
      g_string_append (json, setting == settings ? "\n " : ",\n ");
      ss_json_append_text (json, *setting);
      g_string_append_c (json, ':');
      ss_json_append_text (json, value);
    }
  g_string_append (json, "}}\n");
  return g_string_free (json, FALSE);
}

static SsExit
run (int argc, char **argv)
{
  g_auto (SsScenarioOptions) options = { 0 };
  g_auto (SsOutputOptions) output = { 0 };
  g_autoptr (SsScenario) scenario = NULL;
  g_autofree char *text = NULL;
  gboolean is_json = FALSE;
  const GOptionEntry entries[] = {
    { "json", 0, 0, G_OPTION_ARG_NONE, &is_json, "Print the settings as one JSON object", NULL },
    SS_SCENARIO_OPTION_ENTRIES (options),
    SS_OUTPUT_OPTION_ENTRIES (output),
    G_OPTION_ENTRY_NULL
  };
  SsExit status;

  if (!ss_command_parse (&ss_command_show, entries, &argc, &argv, &status))
    return status;
  if (!ss_command_check_arguments (&ss_command_show, argc, argv, 1, 1))
    return SS_EXIT_INPUT;
  scenario = ss_scenario_options_load (&options, argv[1]);
  if (scenario == NULL)
    return SS_EXIT_INPUT;
  text = is_json ? to_json (scenario) : ss_scenario_to_xml (scenario);
  return ss_output_options_write (&output, text);
}

const SsCommand ss_command_show = {
  .name = "show",
  .arguments = "FILE",
  .summary = "print a scenario with every default filled in",
  .run = run,
};
