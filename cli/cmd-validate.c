/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/scenario-options.h"
#include "cli/validate-table.h"
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
validate_files (const SsScenarioOptions *options, gboolean is_json, int argc, char **argv)
{
  g_autoptr (GString) out = g_string_new (NULL);
  gboolean all_valid = TRUE;

  for (int i = 1; i < argc; i++)
    {
      g_autofree char *problems = find_problems (options, argv[i]);

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

static gboolean
has_changes (const SsScenarioOptions *options)
{
  gboolean any = options->set != NULL;

  for (guint i = 0; i < SS_N_SHORT_OPTIONS; i++)
    any |= options->given[i] != NULL;
  return any;
}

/* "5.5" or "5.5%" */
static gboolean
read_percent (const char *text, double *percent)
{
  char *end;

  *percent = g_ascii_strtod (text, &end);
  if (end != text && (g_str_equal (end, "") || g_str_equal (end, "%")) && *percent >= 0
      && *percent <= 1e6)
    return TRUE;
  ss_console_error ("--at-most: \"%s\" is no percentage; a number like 5.5 was expected", text);
  return FALSE;
}

SsExit
ss_validate_exit (const SsValidateOptions *options, double median_percent)
{
  if (options->at_most_percent < 0 || median_percent <= options->at_most_percent)
    return SS_EXIT_FITS;
  ss_console_error ("the median error is above --at-most");
  return SS_EXIT_ABOVE;
}

static SsExit
run (int argc, char **argv)
{
  g_auto (SsScenarioOptions) scenario = { 0 };
  SsValidateOptions options = { .at_most_percent = -1 };
  g_autofree char *at_most = NULL;
  gboolean wants_schema = FALSE;
  const GOptionEntry entries[] = {
    { "kernels", 0, 0, G_OPTION_ARG_NONE, &options.is_kernels,
      "TABLE.csv has single kernels, not steps", NULL },
    { "json", 0, 0, G_OPTION_ARG_NONE, &options.is_json, "Print one JSON object",
      NULL },
    { "at-most", 0, 0, G_OPTION_ARG_STRING, &at_most,
      "Status 1 if the median error of a table's times is above", "PERCENT" },
    { "schema", 0, 0, G_OPTION_ARG_NONE, &wants_schema,
      "Print the XML Schema of a scenario file, for editors", NULL },
    SS_SCENARIO_OPTION_ENTRIES (scenario),
    G_OPTION_ENTRY_NULL
  };
  SsExit status;
  gboolean is_table;

  if (!ss_command_parse (&ss_command_validate, entries, &argc, &argv, &status))
    return status;
  if (!ss_command_check_arguments (&ss_command_validate, argc, argv, wants_schema ? 0 : 1,
                                   wants_schema ? 0 : G_MAXINT)
      || (at_most != NULL && !read_percent (at_most, &options.at_most_percent)))
    return SS_EXIT_INPUT;
  if (wants_schema)
    {
      g_autofree char *schema = ss_scenario_schema (FALSE);

      return ss_console_print (schema) ? SS_EXIT_FITS : SS_EXIT_OUTPUT;
    }
  is_table = g_str_has_suffix (argv[1], ".csv");
  if (is_table && argc > 2)
    {
      ss_console_error ("\"%s\" is one argument too many; a table is validated by itself", argv[2]);
      return SS_EXIT_INPUT;
    }
  if (!is_table && (options.is_kernels || at_most != NULL))
    {
      ss_console_error ("--kernels and --at-most are for a table; \"%s\" does not end in "
                        ".csv", argv[1]);
      return SS_EXIT_INPUT;
    }
  if (is_table && has_changes (&scenario))
    {
      ss_console_error ("a table's rows are run as they stand; --set and the like are for files");
      return SS_EXIT_INPUT;
    }
  if (!is_table)
    return validate_files (&scenario, options.is_json, argc, argv);
  return options.is_kernels ? ss_validate_kernels (argv[1], &options)
                            : ss_validate_steps (argv[1], &options);
}

const SsCommand ss_command_validate = {
  .name = "validate",
  .arguments = "FILE...|TABLE.csv",
  .summary = "check scenario files, or lay measured steps beside simulated",
  .run = run,
};
