/* SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/console.h"
#include "cli/picture.h"
#include "cli/progress.h"
#include "cli/scenario-options.h"
#include "cli/stamp.h"
#include "cli/terminal.h"
#include "output/file-writer.h"
#include "output/figures/memory-figure.h"
#include "output/tables/timeline-csv.h"
#include "study/advice.h"
#include "sim/simulate.h"

#define DEFAULT_FOLDER "stepsim-out"

typedef struct
{
  SsScenarioOptions scenario;
  SsTerminalOptions terminal;
  SsReportStyle style;
  SsPictureOptions picture;
  char *folder;
  char *date;                    /* that files carry, or NULL */
  gboolean wants_json, wants_csv, is_quiet, dumps_program;
  gboolean writes_no_files, gives_no_advice, is_stamped;
} RunOptions;

static void
run_options_clear (RunOptions *self)
{
  ss_scenario_options_clear (&self->scenario);
  ss_terminal_options_clear (&self->terminal);
  g_clear_pointer (&self->folder, g_free);
  g_clear_pointer (&self->date, g_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (RunOptions, run_options_clear)

static SsExit
dump_program (const SsProgram *program)
{
  g_autoptr (GString) text = g_string_new (NULL);

  ss_program_dump (program, text);
  return ss_console_print (text->str) ? SS_EXIT_FITS : SS_EXIT_OUTPUT;
}

/* All that can be written is, and named in `wrote`; why the rest could not is said once. */
static SsExit
write_files (const RunOptions *options, const SsRecording *recording, GString *wrote)
{
  const char *folder = options->folder != NULL ? options->folder : DEFAULT_FOLDER;
  const SsOutputSettings settings = { .units = options->style.units };
  g_autoptr (GError) folder_error = NULL;
  g_autofree char *said = NULL;

  if (!ss_folder_make (folder, &folder_error))
    {
      ss_console_error ("%s", folder_error->message);
      return SS_EXIT_OUTPUT;
    }
  for (const SsOutput *const *output = ss_outputs (); *output != NULL; output++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *path = g_build_filename (folder, (*output)->name, NULL);
      g_autoptr (GBytes) bytes = (*output)->render (recording, &settings, &error);

      if (bytes != NULL && ss_file_write (path, bytes, TRUE, &error))
        {
          g_string_append_printf (wrote, "%s%s", wrote->len > 0 ? ", " : "", path);
          continue;
        }
      if (g_strcmp0 (said, error->message) != 0)
        ss_picture_error (error);
      g_free (said);
      said = g_strdup (error->message);
    }
  return said == NULL ? SS_EXIT_FITS : SS_EXIT_OUTPUT;
}

/* The files after the answer: drawing takes longer than the run. */
static SsExit
deliver_files (const RunOptions *options, const SsRecording *recording)
{
  g_autoptr (GString) wrote = g_string_new (NULL);
  SsExit status = write_files (options, recording, wrote);

  if (options->wants_json || options->wants_csv || options->is_quiet || wrote->len == 0)
    return status;
  g_string_prepend (wrote, "\nWrote ");
  g_string_append_c (wrote, '\n');
  return ss_console_print (wrote->str) ? status : SS_EXIT_OUTPUT;
}

/* ---- advice ---- */

static void
on_trial (guint n_done, guint n_all, gpointer user_data)
{
  ss_progress_say (user_data, "trying changes", n_done, n_all);
}

static void
advise (const RunOptions *options, SsRecording *recording, const SsScenario *scenario,
        SsProgram *program)
{
  SsProgress progress;
  SsAdviceRun run = {
    .n_threads = g_get_num_processors (), .progress = on_trial, .user_data = &progress,
  };

  /* who wants no answer and no files has nobody to tell */
  if (options->gives_no_advice || (options->is_quiet && options->writes_no_files))
    return;
  ss_progress_begin (&progress, options->is_quiet);
  ss_advise (recording, scenario, program, &run);
  ss_progress_end (&progress);
}

/* ---- the answer ---- */

/* What happened first; what could be changed takes longer, and follows. */
static gboolean
print_report (const RunOptions *options, SsRecording *recording, const SsScenario *scenario,
              SsProgram *program)
{
  g_autofree char *text = options->is_quiet ? NULL : ss_report (recording, &options->style);
  g_autofree char *advice = NULL;

  if (text != NULL && !ss_console_print (text))
    return FALSE;
  advise (options, recording, scenario, program);
  advice = options->is_quiet ? NULL : ss_report_advice (recording, &options->style);
  return advice == NULL || ss_console_print (advice);
}

static gboolean
print_json (const RunOptions *options, SsRecording *recording, const SsScenario *scenario,
            SsProgram *program)
{
  g_autofree char *text = NULL;

  advise (options, recording, scenario, program);
  text = ss_recording_to_json (recording);
  return ss_console_print (text);
}

static gboolean
print_script (const RunOptions *options, const SsRecording *recording)
{
  const SsOutputSettings settings = { .units = options->style.units };
  g_autoptr (SsCanvas) canvas = ss_memory_figure (recording, &settings);

  return ss_picture_print_script (&options->picture, canvas);
}

static gboolean
print_csv (const RunOptions *options, SsRecording *recording, const SsScenario *scenario,
           SsProgram *program)
{
  const SsOutputSettings settings = { .units = options->style.units };
  g_autoptr (GBytes) csv = ss_output_timeline_csv.render (recording, &settings, NULL);
  g_autofree char *text = g_strndup (g_bytes_get_data (csv, NULL), g_bytes_get_size (csv));

  if (!ss_console_print (text))
    return FALSE;
  advise (options, recording, scenario, program);
  return TRUE;
}

static gboolean
print_answer (const RunOptions *options, SsRecording *recording, const SsScenario *scenario,
              SsProgram *program)
{
  if (options->picture.is_script)
    return print_script (options, recording);
  if (options->wants_csv)
    return print_csv (options, recording, scenario, program);
  if (options->wants_json)
    return print_json (options, recording, scenario, program);
  return print_report (options, recording, scenario, program);
}

static SsExit
answer (const RunOptions *options, SsRecording *recording, const SsScenario *scenario,
        SsProgram *program)
{
  gboolean is_printed = print_answer (options, recording, scenario, program);
  SsExit status = is_printed ? SS_EXIT_FITS : SS_EXIT_OUTPUT;

  if (!options->writes_no_files && !options->picture.is_script
      && deliver_files (options, recording) != SS_EXIT_FITS)
    status = SS_EXIT_OUTPUT;
  if (status != SS_EXIT_FITS)
    return status;
  return recording->is_oom ? SS_EXIT_OUT_OF_MEMORY : SS_EXIT_FITS;
}

static SsExit
simulate (RunOptions *options, const char *path)
{
  g_autoptr (SsScenario) scenario = ss_scenario_options_load (&options->scenario, path);
  g_autoptr (SsProgram) program = NULL;
  g_autoptr (SsRecording) recording = NULL;
  g_autoptr (GError) error = NULL;

  if (scenario == NULL)
    return SS_EXIT_INPUT;
  if (options->dumps_program)
    program = ss_simulate_trace (scenario, FALSE, &error);
  else
    recording = ss_simulate_with_program (scenario, &program, &error);
  if (program != NULL && options->dumps_program)
    return dump_program (program);
  if (recording == NULL)
    {
      ss_console_error ("%s: %s", path, error->message);
      return SS_EXIT_INPUT;
    }
  recording->date = g_steal_pointer (&options->date);
  options->style.device_capacity_bytes = ss_device_capacity_bytes (ss_scenario_device (scenario));
  return answer (options, recording, scenario, program);
}

/* Several files have no place on standard output, nor two answers. FALSE and said. */
static gboolean
check_places (const RunOptions *self)
{
  const struct { gboolean is_wanted; const char *option; } answers[] = {
    { self->picture.is_script, "--gnuplot-script" }, { self->wants_json, "--json" },
    { self->wants_csv, "--csv" }, { self->dumps_program, "--dump-program" },
  };
  const char *first = NULL;

  if (g_strcmp0 (self->folder, "") == 0)
    {
      ss_console_error ("-o: the name of the folder is empty");
      return FALSE;
    }
  if (g_strcmp0 (self->folder, "-") == 0)
    {
      ss_console_error ("-o -: a run's files go into a folder; --json prints the run on standard "
                        "output");
      return FALSE;
    }
  for (guint i = 0; i < G_N_ELEMENTS (answers); i++)
    if (answers[i].is_wanted && first != NULL)
      {
        ss_console_error ("%s and %s both want the standard output", first, answers[i].option);
        return FALSE;
      }
    else if (answers[i].is_wanted)
      first = answers[i].option;
  return TRUE;
}

static SsExit
run (int argc, char **argv)
{
  g_auto (RunOptions) options = { 0 };
  const GOptionEntry entries[] = {
    SS_SCENARIO_OPTION_ENTRIES (options.scenario),
    SS_TERMINAL_OPTION_ENTRIES (options.terminal),
    { "quiet", 'q', 0, G_OPTION_ARG_NONE, &options.is_quiet,
      "Print no answer: the exit status is it", NULL },
    { "json", 0, 0, G_OPTION_ARG_NONE, &options.wants_json,
      "Print one JSON object and nothing else", NULL },
    { "csv", 0, 0, G_OPTION_ARG_NONE, &options.wants_csv,
      "Print the timeline as CSV and nothing else", NULL },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.folder,
      "Write the run's files here instead of " DEFAULT_FOLDER, "DIR" },
    { "no-files", 0, 0, G_OPTION_ARG_NONE, &options.writes_no_files, "Write no files", NULL },
    { "no-advice", 0, 0, G_OPTION_ARG_NONE, &options.gives_no_advice,
      "Do not look for changes with which the run fits, or fits faster", NULL },
    SS_PICTURE_OPTION_ENTRY (options.picture),
    { "stamp", 0, 0, G_OPTION_ARG_NONE, &options.is_stamped,
      "Put the date into run.json and --json", NULL },
    { "dump-program", 0, 0, G_OPTION_ARG_NONE, &options.dumps_program,
      "Print the traced program instead of running it", NULL },
    G_OPTION_ENTRY_NULL
  };
  SsExit status;

  if (!ss_command_parse (&ss_command_run, entries, &argc, &argv, &status))
    return status;
  if (!ss_command_check_arguments (&ss_command_run, argc, argv, 1, 1)
      || !check_places (&options) || !ss_terminal_style (&options.terminal, &options.style)
      || !ss_stamp_find (options.is_stamped, &options.date))
    return SS_EXIT_INPUT;
  return simulate (&options, argv[1]);
}

const SsCommand ss_command_run = {
  .name = "run",
  .arguments = "FILE",
  .summary = "Simulates a scenario: does it fit, when and why does memory run out, how fast is it.",
  .run = run,
};
