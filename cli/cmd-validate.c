/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/scenario-options.h"
#include "output/formats/json-text.h"
#include "scenarios/attribute.h"
#include "sim/simulate.h"

/* A file whose sizes no kernel takes reads well and cannot be run: only its trace tells.  NULL if
 * all is well, else what is wrong, a line each. (transfer full) */
static char *
find_problems (const SsScenarioOptions *options, const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SsScenario) scenario = ss_scenario_options_try (options, path, NULL, &error);
  g_autoptr (SsProgram) program = NULL;

  if (scenario == NULL)
    return g_strdup (error->message);
  program = ss_scenario_trace (scenario, FALSE, &error);
  return program != NULL ? NULL : g_strdup_printf ("%s: %s", path, error->message);
}

static void
append_json (GString *json, const char *path, const char *problems)
{
  g_auto (GStrv) lines = g_strsplit (problems != NULL ? problems : "", "\n", -1);

  g_string_append (json, json->len == 0 ? "{\"files\":[\n {\"file\":" : ",\n {\"file\":");
  ss_json_append_text (json, path);
  g_string_append_printf (json, ",\"valid\":%s,\"problems\":[",
                          problems == NULL ? "true" : "false");
  for (char **line = lines; *line != NULL; line++)
    {
      g_string_append (json, line == lines ? "" : ",");
      ss_json_append_text (json, *line);
    }
  g_string_append (json, "]}");
}

static SsExit
run (int argc, char **argv)
{
  g_auto (SsScenarioOptions) options = { 0 };
  gboolean is_json = FALSE, wants_schema = FALSE, all_valid = TRUE;
  const GOptionEntry entries[] = {
    { "json", 0, 0, G_OPTION_ARG_NONE, &is_json, "Print one JSON object", NULL },
    { "schema", 0, 0, G_OPTION_ARG_NONE, &wants_schema,
      "Print the XML Schema of a scenario file, for editors", NULL },
    SS_SCENARIO_OPTION_ENTRIES (options),
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GString) out = g_string_new (NULL);
  SsExit status;

  if (!ss_command_parse (&ss_command_validate, entries, &argc, &argv, &status))
    return status;
  if (!ss_command_check_arguments (&ss_command_validate, argc, argv, wants_schema ? 0 : 1,
                                   wants_schema ? 0 : G_MAXINT))
    return SS_EXIT_INPUT;
  if (wants_schema)
    {
      g_autofree char *schema = ss_scenario_schema (FALSE);

      return ss_console_print (schema) ? SS_EXIT_FITS : SS_EXIT_OUTPUT;
    }
  for (int i = 1; i < argc; i++)
    {
      g_autofree char *problems = find_problems (&options, argv[i]);

      all_valid &= problems == NULL;
      if (is_json)
        append_json (out, argv[i], problems);
      else if (problems == NULL)
        g_string_append_printf (out, "%s: valid\n", argv[i]);
      else
        ss_console_error ("%s", problems);
    }
  if (is_json)
    g_string_append (out, "]}\n");
  if (!ss_console_print (out->str))
    return SS_EXIT_OUTPUT;
  return all_valid ? SS_EXIT_FITS : SS_EXIT_INPUT;
}

const SsCommand ss_command_validate = {
  .name = "validate",
  .arguments = "FILE...",
  .summary = "check scenario files and what they refer to",
  .run = run,
};
