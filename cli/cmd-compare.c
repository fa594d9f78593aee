/* SPDX-License-Identifier: MIT
 *
 * Two runs, or two steps of one, beside each other: what differs, as a table and as a picture.
 */
#include "cli/command.h"
#include "cli/console.h"
#include "cli/output-options.h"
#include "cli/picture.h"
#include "cli/scenario-options.h"
#include "cli/terminal.h"
#include "output/figures/compare.h"
#include "output/file-writer.h"
#include "cli/simulation.h"

typedef struct
{
  SsScenarioOptions scenario;
  SsOutputOptions output;
  SsPictureOptions picture;
  SsTerminalOptions terminal;
  SsMemoryUnits units;
  char **with;
  char *steps;
  guint step_a, step_b;          /* 0: whole runs */
} CompareOptions;

static void
compare_options_clear (CompareOptions *self)
{
  ss_scenario_options_clear (&self->scenario);
  ss_output_options_clear (&self->output);
  ss_terminal_options_clear (&self->terminal);
  g_clear_pointer (&self->with, g_strfreev);
  g_clear_pointer (&self->steps, g_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CompareOptions, compare_options_clear)

/* "1,2". FALSE and said. */
static gboolean
read_steps (CompareOptions *self)
{
  g_auto (GStrv) words = NULL;
  guint64 a, b;

  if (self->steps == NULL)
    return TRUE;
  words = g_strsplit (self->steps, ",", -1);
  if (g_strv_length (words) == 2
      && g_ascii_string_to_unsigned (words[0], 10, 1, G_MAXINT, &a, NULL)
      && g_ascii_string_to_unsigned (words[1], 10, 1, G_MAXINT, &b, NULL))
    {
      self->step_a = (guint) a;
      self->step_b = (guint) b;
      return TRUE;
    }
  ss_console_error ("--steps: \"%s\" is not two steps: 1,2", self->steps);
  return FALSE;
}

/* FALSE and said: the two sides are not given in one of the three ways. */
static gboolean
check_sides (const CompareOptions *self, int argc)
{
  gboolean has_two = argc == 3 || self->with != NULL;

  if (has_two && self->steps != NULL)
    ss_console_error ("--steps compares two steps of one run; there are two runs");
  else if (!has_two && self->steps == NULL)
    ss_console_error ("one scenario alone: give a second, --with PATH=VALUE or --steps 1,2");
  else
    return TRUE;
  return FALSE;
}

/* The scenario with the settings of both, and with those of the second alone. NULL and said. */
static SsRecording *
record (const CompareOptions *options, const char *path, gboolean is_second)
{
  g_autoptr (GPtrArray) all = g_ptr_array_new ();
  SsScenarioOptions settings = options->scenario;
  g_autoptr (SsScenario) scenario = NULL;

  for (char **set = settings.set; set != NULL && *set != NULL; set++)
    g_ptr_array_add (all, *set);
  for (char **set = options->with; is_second && set != NULL && *set != NULL; set++)
    g_ptr_array_add (all, *set);
  g_ptr_array_add (all, NULL);
  settings.set = (char **) all->pdata;
  scenario = ss_scenario_options_load (&settings, path);
  if (scenario == NULL)
    return NULL;
  return ss_simulation_run (scenario, path, NULL);
}

/* What tells the second from the first: what was changed, or its name. (transfer full) */
static char *
name_of_second (const CompareOptions *options, const SsRecording *a, const SsRecording *b)
{
  if (options->with != NULL)
    return g_strjoinv (", ", options->with);
  if (g_strcmp0 (a->scenario_name, b->scenario_name) == 0)
    return g_strdup_printf ("%s (second)", b->scenario_name);
  return g_strdup (b->scenario_name);
}

/* A picture on standard output takes the table's place. */
static SsExit
answer (const CompareOptions *options, const SsCompareSide *a, const SsCompareSide *b)
{
  g_autofree char *table = ss_compare_table (a, b, options->units);
  g_autoptr (SsCanvas) canvas = ss_compare_figure (a, b, options->units);
  SsExit status = a->is_oom || b->is_oom ? SS_EXIT_OUT_OF_MEMORY : SS_EXIT_FITS;
  g_autoptr (GBytes) picture = NULL;
  g_autoptr (GError) error = NULL;

  if (options->picture.is_script)
    return ss_picture_print_script (&options->picture, canvas) ? status : SS_EXIT_OUTPUT;
  if (g_strcmp0 (options->output.path, "-") != 0 && !ss_console_print (table))
    return SS_EXIT_OUTPUT;
  if (options->output.path != NULL)
    {
      picture = ss_canvas_draw (canvas, options->picture.format, &error);
      if (picture == NULL
          || !ss_file_write (options->output.path, picture, options->output.replaces, &error))
        {
          ss_picture_error (error);
          return SS_EXIT_OUTPUT;
        }
    }
  return status;
}

static SsExit
compare_steps (const CompareOptions *options, const char *path)
{
  g_autoptr (SsRecording) recording = record (options, path, FALSE);
  g_autofree char *name_a = g_strdup_printf ("step %u", options->step_a);
  g_autofree char *name_b = g_strdup_printf ("step %u", options->step_b);
  g_autoptr (SsCompareSide) a = NULL, b = NULL;

  if (recording == NULL)
    return SS_EXIT_INPUT;
  a = ss_compare_side_new (recording, options->step_a, name_a);
  b = ss_compare_side_new (recording, options->step_b, name_b);
  if (a != NULL && b != NULL)
    return answer (options, a, b);
  ss_console_error ("--steps: step %u is none of the %u steps of this run",
                    a == NULL ? options->step_a : options->step_b, recording->steps->len);
  return SS_EXIT_INPUT;
}

static SsExit
compare_runs (const CompareOptions *options, const char *path_a, const char *path_b)
{
  g_autoptr (SsRecording) first = record (options, path_a, FALSE), second = NULL;
  g_autoptr (SsCompareSide) a = NULL, b = NULL;
  g_autofree char *name = NULL;

  if (first == NULL)
    return SS_EXIT_INPUT;
  second = record (options, path_b, TRUE);
  if (second == NULL)
    return SS_EXIT_INPUT;
  name = name_of_second (options, first, second);
  a = ss_compare_side_new (first, 0, first->scenario_name);
  b = ss_compare_side_new (second, 0, name);
  return answer (options, a, b);
}

static SsExit
run (int argc, char **argv)
{
  g_auto (CompareOptions) options = { 0 };
  const GOptionEntry entries[] = {
    SS_SCENARIO_OPTION_ENTRIES (options.scenario),
    { "with", 'w', 0, G_OPTION_ARG_FILENAME_ARRAY, &options.with,
      "Change a setting of the second only (repeatable)", "PATH=VALUE" },
    { "steps", 0, 0, G_OPTION_ARG_STRING, &options.steps, "Compare two steps of one run", "A,B" },
    SS_OUTPUT_OPTION_ENTRIES (options.output),
    SS_PICTURE_OPTION_ENTRY (options.picture),
    SS_UNITS_OPTION_ENTRY (options.terminal),
    G_OPTION_ENTRY_NULL
  };
  SsExit status;

  if (!ss_command_parse (&ss_command_compare, entries, &argc, &argv, &status))
    return status;
  if (!ss_command_check_arguments (&ss_command_compare, argc, argv, 1, 2)
      || !ss_terminal_units (&options.terminal, &options.units) || !read_steps (&options)
      || !check_sides (&options, argc)
      || !ss_picture_find_format (&options.picture, options.output.path))
    return SS_EXIT_INPUT;
  if (!options.picture.is_script && !ss_output_options_check (&options.output))
    return SS_EXIT_OUTPUT;
  if (options.steps != NULL)
    return compare_steps (&options, argv[1]);
  return compare_runs (&options, argv[1], argc == 3 ? argv[2] : argv[1]);
}

const SsCommand ss_command_compare = {
  .name = "compare",
  .arguments = "FILE [FILE]",
  .summary = "lay two runs, or two steps of one, side by side (picture: -o)",
  .run = run,
};
