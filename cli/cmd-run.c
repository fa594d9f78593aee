/* SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/console.h"
#include "cli/picture.h"
#include "cli/progress.h"
#include "cli/simulation.h"
#include "cli/stamp.h"
#include "cli/terminal.h"
#include "output/file-writer.h"
#include "output/figures/memory-figure.h"
#include "output/formats/run-json.h"
#include "output/tables/timeline-csv.h"
#include "study/advise.h"

#define DEFAULT_FOLDER "stepsim-out"

typedef struct
{
  SsScenarioOptions scenario;
  SsTerminalOptions terminal;
  SsReportStyle style;
  SsPictureOptions picture;
  char *folder;
  char *date;                    /* that files carry, or NULL */
  char *given;                   /* the scenario with its settings, as a shell takes them */
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
  g_clear_pointer (&self->given, g_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (RunOptions, run_options_clear)

static SsExit
dump_program (const SsProgram *program)
{
  g_autoptr (GString) text = g_string_new (NULL);

  ss_program_dump (program, text);
  return ss_console_print (text->str) ? SS_EXIT_FITS : SS_EXIT_OUTPUT;
}

/* What an answer is made from. */
typedef struct
{
  const RunOptions *options;
  SsScenario *scenario;          /* with its plan */
  SsProgram *program;
  const SsRecording *recording;
  SsAdvice *advice;              /* NULL: not looked for */
} Run;

static gboolean
says_answer (const RunOptions *options)
{
  return !options->wants_json && !options->wants_csv && !options->is_quiet
         && !options->picture.is_script;
}

/* All that can be written is, and named in `wrote`; why the rest could not is said once. */
static SsExit
write_files (const Run *run, GString *wrote)
{
  const RunOptions *options = run->options;
  const char *folder = options->folder != NULL ? options->folder : DEFAULT_FOLDER;
  const SsOutputSettings settings = { .units = options->style.units, .advice = run->advice };
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
      g_autoptr (GBytes) bytes = (*output)->render (run->recording, &settings, &error);

      if (bytes != NULL && ss_file_write (path, bytes, TRUE, &error))
        {
          if (wrote->len == 0)
            g_string_append_printf (wrote, "into %s:", folder);
          g_string_append_printf (wrote, " %s", (*output)->name);
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
deliver_files (const Run *run)
{
  const RunOptions *options = run->options;
  g_autoptr (GString) wrote = g_string_new (NULL);
  SsExit status = write_files (run, wrote);

  if (!says_answer (options) || wrote->len == 0)
    return status;
  g_string_prepend (wrote, "Wrote ");
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
advise (Run *run)
{
  const RunOptions *options = run->options;
  SsProgress progress;
  SsAdviceRun how = {
    .n_threads = g_get_num_processors (), .progress = on_trial, .user_data = &progress,
  };

  /* who wants no answer and no files has nobody to tell */
  if (options->gives_no_advice || (options->is_quiet && options->writes_no_files))
    return;
  ss_progress_begin (&progress, options->is_quiet);
  run->advice = ss_advise (run->recording, run->scenario, run->program, &how);
  ss_progress_end (&progress);
}

/* ---- the answer ---- */

/* What happened first; what could be changed takes longer, and follows. */
static gboolean
print_report (Run *run)
{
  const RunOptions *options = run->options;
  g_autofree char *text = options->is_quiet ? NULL : ss_report (run->recording, &options->style);
  g_autofree char *advice = NULL;

  if (text != NULL && !ss_console_print (text))
    return FALSE;
  advise (run);
  if (run->advice == NULL || options->is_quiet)
    return TRUE;
  advice = ss_report_advice (run->recording, run->advice, &options->style);
  return ss_console_print (advice);
}

static gboolean
print_json (Run *run)
{
  g_autofree char *text = NULL;

  advise (run);
  text = ss_run_to_json (run->recording, run->advice);
  return ss_console_print (text);
}

static gboolean
print_script (const Run *run)
{
  const SsOutputSettings settings = { .units = run->options->style.units };
  g_autoptr (SsCanvas) canvas = ss_memory_figure (run->recording, &settings);

  return ss_picture_print_script (&run->options->picture, canvas);
}

static gboolean
print_csv (Run *run)
{
  const SsOutputSettings settings = { .units = run->options->style.units };
  g_autoptr (GBytes) csv = ss_output_timeline_csv.render (run->recording, &settings, NULL);
  g_autofree char *text = g_strndup (g_bytes_get_data (csv, NULL), g_bytes_get_size (csv));

  if (!ss_console_print (text))
    return FALSE;
  advise (run);
  return TRUE;
}

static gboolean
print_answer (Run *run)
{
  const RunOptions *options = run->options;

  if (options->picture.is_script)
    return print_script (run);
  if (options->wants_csv)
    return print_csv (run);
  if (options->wants_json)
    return print_json (run);
  return print_report (run);
}

/* The last line: what to do next. */
static char *
next_words (const Run *run)
{
  const RunOptions *options = run->options;
  const SsRecording *recording = run->recording;
  guint n = run->advice != NULL ? ss_advice_n_entries (run->advice) : 0;

  if (n > 0 && options->style.has_settings)
    return g_strdup ("Next: put the options of one of them behind the command.\n");
  if (n > 0)
    return g_strdup_printf ("Next: stepsim advice %s   (%u change%s to paste)\n", options->given,
                            n, n == 1 ? "" : "s");
  if (recording->is_oom && options->gives_no_advice)
    return g_strdup_printf ("Next: stepsim advice %s\n", options->given);
  if (recording->is_oom)
    return g_strdup ("Next: stepsim list devices; --set hardware/device=NAME plays another one.\n");
  if (recording->capacity_bytes >= G_MAXINT64)
    return g_strdup ("Next: without --capacity=unlimited it is told what would make it fit.\n");
  return g_strdup_printf ("Next: stepsim sweep %s training/sequence-length=max\n", options->given);
}

static SsExit
answer (Run *run)
{
  const RunOptions *options = run->options;
  gboolean is_printed = print_answer (run);
  g_autofree char *next = next_words (run);
  SsExit status = is_printed ? SS_EXIT_FITS : SS_EXIT_OUTPUT;

  if (!options->writes_no_files && !options->picture.is_script
      && deliver_files (run) != SS_EXIT_FITS)
    status = SS_EXIT_OUTPUT;
  if (says_answer (options) && !ss_console_print (next))
    status = SS_EXIT_OUTPUT;
  g_clear_pointer (&run->advice, ss_advice_free);
  if (status != SS_EXIT_FITS)
    return status;
  return run->recording->is_oom ? SS_EXIT_OUT_OF_MEMORY : SS_EXIT_FITS;
}

static SsExit
simulate (RunOptions *options, const char *path)
{
  g_autoptr (SsScenario) scenario = ss_scenario_options_load (&options->scenario, path);
  g_autoptr (SsScenario) planned
    = scenario != NULL ? ss_simulation_plan (scenario, path) : NULL;
  g_autoptr (SsProgram) program = NULL;
  g_autoptr (SsRecording) recording = NULL;
  const SsSimulateSettings settings = { .traced = &program, .date = options->date };
  Run run = { .options = options, .scenario = planned };

  if (planned == NULL)
    return SS_EXIT_INPUT;
  if (options->dumps_program)
    {
      program = ss_simulation_trace (planned, path, FALSE);
      return program != NULL ? dump_program (program) : SS_EXIT_INPUT;
    }
  options->given = ss_scenario_options_words (&options->scenario, NULL, path);
  recording = ss_simulation_run (planned, path, &settings);
  if (recording == NULL)
    return SS_EXIT_INPUT;
  run.program = program;
  run.recording = recording;
  return answer (&run);
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
    { "verbose", 'v', 0, G_OPTION_ARG_NONE, &options.style.is_verbose,
      "Tell all there is to tell, not what one screen holds", NULL },
    { "message", 0, 0, G_OPTION_ARG_NONE, &options.style.has_message,
      "Print PyTorch's own message of running out of memory too", NULL },
    { "advice", 0, 0, G_OPTION_ARG_NONE, &options.style.has_settings,
      "Print the settings under each piece of advice", NULL },
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
