/* SPDX-License-Identifier: MIT
 *
 * One scenario at many settings: which fit, which is fastest, where each peak is.
 */
#include <string.h>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/picture.h"
#include "cli/progress.h"
#include "cli/scenario-options.h"
#include "cli/sweep-arguments.h"
#include "cli/sweep-optimum.h"
#include "cli/sweep-partial.h"
#include "cli/sweep-words.h"
#include "cli/terminal.h"
#include "output/file-writer.h"
#include "output/figures/sweep-figure.h"
#include "output/formats/run-json.h"
#include "output/tables/sweep-files.h"
#include "output/tables/sweep-report.h"
#include "study/sweep.h"

#define DEFAULT_FILE "sweep.csv"

typedef struct
{
  SsScenarioOptions scenario;
  SsTerminalOptions terminal;
  SsReportStyle style;
  char *output;                  /* NULL: the default's */
  char *plot;                    /* NULL: none */
  SsPictureOptions picture;
  int n_jobs;
  gboolean replaces, wants_json, is_quiet, writes_no_files;
} SweepOptions;

static void
sweep_options_clear (SweepOptions *self)
{
  ss_scenario_options_clear (&self->scenario);
  ss_terminal_options_clear (&self->terminal);
  g_clear_pointer (&self->output, g_free);
  g_clear_pointer (&self->plot, g_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SweepOptions, sweep_options_clear)

/* A sweep under way: what the threads' reader fills. */
typedef struct
{
  const SweepOptions *options;
  SsSweep *sweep;
  SsSweepTable *table;           /* its rows come last */
  SsSweepPartial *partial;       /* or NULL */
  GMutex mutex;                  /* guards what follows */
  SsSweepRow **rows;             /* by index */
  guint n_done, n_trials;
  SsProgress progress;
} Job;

/* ---- the question ---- */

static SsSweepTable *
make_table (const SsScenario *base, const SsSweep *sweep)
{
  SsSweepTable *table = ss_sweep_table_new ();

  table->scenario_name = g_strdup (ss_scenario_name (base));
  table->summary = g_strdup_printf ("%s on %s", ss_scenario_model_name (base),
                                    ss_device_name (ss_scenario_device (base)));
  for (guint i = 0; i < ss_sweep_n_axes (sweep); i++)
    {
      const SsSweepAxis *axis = ss_sweep_axis (sweep, i);

      ss_sweep_table_add_path (table, axis->path, axis->is_max || axis->values->len > 1,
                               axis->is_numeric);
    }
  return table;
}

/* ---- the points ---- */

static const char *
searched_name (const Job *job)
{
  for (guint i = 0; i < ss_sweep_n_axes (job->sweep); i++)
    if (ss_sweep_axis (job->sweep, i)->is_max)
      return ss_sweep_table_label (job->table, i);
  return "";
}

static SsSweepRow *
row_of (const Job *job, const SsSweepPoint *point)
{
  g_autofree char *search = NULL, *run = NULL;
  SsSweepRow *row = point->problem != NULL
                      ? ss_sweep_row_new_refused (point->values, point->problem)
                      : ss_sweep_row_new (point->values, point->recording, point->unlimited);

  if (point->search != NULL)
    row->found = ss_sweep_search_words (point->search, searched_name (job));
  if (!job->options->wants_json)
    return row;
  if (point->search != NULL)
    search = ss_sweep_search_json (point->search);
  if (point->recording != NULL)
    run = ss_run_to_json (point->recording, NULL);
  row->json = ss_sweep_row_to_json (job->table, row, run, search);
  return row;
}

/* Of a search alone there is one point. */
static void
say_progress (Job *job)
{
  guint n = ss_sweep_n_points (job->sweep);
  g_autofree char *trials = g_strdup_printf ("sweeping %u of %u, values tried:", job->n_done, n);

  if (job->n_trials == 0)
    ss_progress_say (&job->progress, "sweeping", job->n_done, n);
  else
    ss_progress_say (&job->progress, n > 1 ? trials : "values tried:", job->n_trials, 0);
}

static void
on_trial (gpointer user_data)
{
  Job *job = user_data;

  g_mutex_lock (&job->mutex);
  job->n_trials++;
  say_progress (job);
  g_mutex_unlock (&job->mutex);
}

static void
on_point (const SsSweepPoint *point, gpointer user_data)
{
  Job *job = user_data;
  SsSweepRow *row = row_of (job, point);

  g_mutex_lock (&job->mutex);
  g_clear_pointer (&job->rows[point->index], ss_sweep_row_free);
  job->rows[point->index] = row;
  job->n_done++;
  if (job->partial != NULL)
    ss_sweep_partial_add (job->partial, point->index, row);
  say_progress (job);
  g_mutex_unlock (&job->mutex);
}

static void
run_points (Job *job, const gboolean *is_done)
{
  SsSweepRun run = {
    .n_threads = (guint) job->options->n_jobs,
    .is_full = job->options->wants_json,
    .is_done = is_done,
    .reader = on_point,
    .on_trial = on_trial,
    .user_data = job,
  };

  ss_sweep_run (job->sweep, &run);
}

/* The first point that an earlier sweep has left is run once more: if it differs, what is left is
 * not of this program. */
static gboolean
check_resumed (Job *job, guint first)
{
  guint n = ss_sweep_n_points (job->sweep);
  g_autofree gboolean *is_done = g_new (gboolean, n);
  g_autoptr (GBytes) before = ss_sweep_row_to_bytes (job->rows[first]), after = NULL;
  SsSweepPartial *partial = g_steal_pointer (&job->partial);

  for (guint i = 0; i < n; i++)
    is_done[i] = i != first;
  run_points (job, is_done);
  job->partial = partial;
  job->n_done = job->n_trials = 0;
  after = ss_sweep_row_to_bytes (job->rows[first]);
  return g_bytes_equal (before, after);
}

static void
run_rest (Job *job)
{
  guint n = ss_sweep_n_points (job->sweep), first = 0;
  g_autofree gboolean *is_done = g_new (gboolean, n);

  while (first < n && job->rows[first] == NULL)
    first++;
  if (first < n && !check_resumed (job, first))
    {
      for (guint i = 0; i < n; i++)
        g_clear_pointer (&job->rows[i], ss_sweep_row_free);
      ss_sweep_partial_reset (job->partial);
    }
  for (guint i = 0; i < n; i++)
    {
      is_done[i] = job->rows[i] != NULL;
      job->n_done += is_done[i] ? 1 : 0;
    }
  if (job->n_done > 0 && !job->options->is_quiet)
    ss_console_error ("going on after an interruption: %u of %u points are there", job->n_done, n);
  run_points (job, is_done);
}

/* ---- the answer ---- */

static gboolean
goes_to_stdout (const SweepOptions *options)
{
  return options->output != NULL && g_str_equal (options->output, "-");
}

static const char *
csv_path (const SweepOptions *options)
{
  if (options->picture.is_script || (options->writes_no_files && !goes_to_stdout (options)))
    return NULL;
  return options->output != NULL ? options->output : DEFAULT_FILE;
}

/* A sweep's own file of the default name gives way to the next sweep's. */
static gboolean
is_earlier_sweep (const char *path)
{
  g_autoptr (GMappedFile) file = g_mapped_file_new (path, FALSE, NULL);
  gsize n = file != NULL ? g_mapped_file_get_length (file) : 0;
  const char *data = n > 0 ? g_mapped_file_get_contents (file) : "";
  const char *end = memchr (data, '\n', n);

  return end != NULL
         && g_strstr_len (data, end - data, "," SS_SWEEP_CSV_MARK) != NULL;
}

/* Before any work is done. */
static gboolean
may_write (SweepOptions *options)
{
  const char *paths[] = { options->picture.is_script ? NULL : options->plot, csv_path (options) };

  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      if (paths[i] == NULL || g_str_equal (paths[i], "-") || options->replaces
          || !g_file_test (paths[i], G_FILE_TEST_IS_REGULAR))
        continue;
      if (i == 1 && options->output == NULL && is_earlier_sweep (paths[i]))
        {
          options->replaces = TRUE;
          continue;
        }
      ss_console_error ("%s: exists already; -f replaces it", paths[i]);
      return FALSE;
    }
  return TRUE;
}

static gboolean
write_csv (const SweepOptions *options, const SsSweepTable *table, const char *path)
{
  g_autofree char *csv = ss_sweep_to_csv (table);
  g_autoptr (GBytes) bytes = g_bytes_new_static (csv, strlen (csv));
  g_autoptr (GError) error = NULL;

  if (g_str_equal (path, "-"))
    return ss_console_print (csv);
  if (ss_file_write (path, bytes, options->replaces, &error))
    return TRUE;
  ss_console_output_error (error);
  return FALSE;
}

static SsExit
verdict (const SsSweepTable *table)
{
  guint n_refused = 0;

  for (guint i = 0; i < table->rows->len; i++)
    {
      if (ss_sweep_table_row (table, i)->verdict == SS_ROW_FITS)
        return SS_EXIT_FITS;
      n_refused += ss_sweep_table_row (table, i)->verdict == SS_ROW_REFUSED ? 1 : 0;
    }
  return n_refused == table->rows->len ? SS_EXIT_INPUT : SS_EXIT_OUT_OF_MEMORY;
}

static gboolean
print_answer (const SweepOptions *options, const SsSweepTable *table)
{
  g_autofree char *text = NULL;

  if (options->wants_json)
    text = ss_sweep_to_json (table);
  else if (!options->is_quiet && !goes_to_stdout (options) && !options->picture.is_script)
    text = ss_sweep_report (table, &options->style);
  return text == NULL || ss_console_print (text);
}

/* Adds to `wrote` what was written. */
static gboolean
deliver_csv (const SweepOptions *options, const SsSweepTable *table, GString *wrote)
{
  const char *path = csv_path (options);

  if (path == NULL)
    return TRUE;
  if (!write_csv (options, table, path))
    return FALSE;
  if (!g_str_equal (path, "-"))
    g_string_append (wrote, path);
  return TRUE;
}

static SsCanvas *
make_figure (const SweepOptions *options, const SsScenario *base, const SsSweepTable *table)
{
  SsProgress progress;
  g_autoptr (GArray) curve = NULL;

  ss_progress_begin (&progress, options->is_quiet);
  curve = ss_sweep_optimum (base, table, (guint) options->n_jobs, &progress);
  ss_progress_end (&progress);
  return ss_sweep_figure (table, options->style.units, curve, "policy=optimal");
}

static gboolean
deliver_plot (const SweepOptions *options, const SsScenario *base, const SsSweepTable *table,
              GString *wrote)
{
  g_autoptr (SsCanvas) canvas = NULL;
  g_autoptr (GBytes) picture = NULL;
  g_autoptr (GError) error = NULL;

  if (options->plot == NULL && !options->picture.is_script)
    return TRUE;
  canvas = make_figure (options, base, table);
  if (options->picture.is_script)
    return ss_picture_print_script (&options->picture, canvas);
  picture = ss_canvas_draw (canvas, options->picture.format, &error);
  if (picture == NULL || !ss_file_write (options->plot, picture, options->replaces, &error))
    {
      ss_picture_error (error);
      return FALSE;
    }
  g_string_append_printf (wrote, "%s%s", wrote->len > 0 ? ", " : "", options->plot);
  return TRUE;
}

static SsExit
deliver (const SweepOptions *options, const SsScenario *base, const SsSweepTable *table)
{
  g_autoptr (GString) wrote = g_string_new (NULL);
  gboolean is_written;

  if (verdict (table) == SS_EXIT_INPUT)
    {
      ss_console_error ("%s", ss_sweep_table_row (table, 0)->problem);
      return SS_EXIT_INPUT;
    }
  is_written = print_answer (options, table);
  is_written = deliver_csv (options, table, wrote) && is_written;
  is_written = deliver_plot (options, base, table, wrote) && is_written;
  if (wrote->len > 0 && !options->wants_json && !options->is_quiet && !goes_to_stdout (options))
    {
      g_autofree char *line
        = g_strdup_printf ("\nWrote %s%s\n", wrote->str,
                           options->plot == NULL ? ".  For a picture: --plot sweep.png" : "");

      is_written = ss_console_print (line) && is_written;
    }
  return is_written ? verdict (table) : SS_EXIT_OUTPUT;
}

static gboolean
open_partial (Job *job, const SsScenario *base)
{
  const char *path = csv_path (job->options);
  g_autofree char *question = NULL;
  g_autoptr (GError) error = NULL;

  if (path == NULL || goes_to_stdout (job->options)
      || (g_file_test (path, G_FILE_TEST_EXISTS) && !g_file_test (path, G_FILE_TEST_IS_REGULAR)))
    return TRUE;
  question = ss_sweep_question (base, job->sweep, job->options->wants_json);
  job->partial = ss_sweep_partial_open (path, question, job->rows, ss_sweep_n_points (job->sweep),
                                        ss_sweep_n_axes (job->sweep), &error);
  if (job->partial == NULL)
    ss_console_error ("%s", error->message);
  return job->partial != NULL;
}

static SsExit
sweep_all (const SweepOptions *options, const SsScenario *base, SsSweep *sweep)
{
  guint n = ss_sweep_n_points (sweep);
  g_autoptr (SsSweepTable) table = make_table (base, sweep);
  g_autofree SsSweepRow **rows = g_new0 (SsSweepRow *, n);
  Job job = { .options = options, .sweep = sweep, .table = table, .rows = rows };
  SsExit status;

  if (!open_partial (&job, base))
    return SS_EXIT_OUTPUT;
  g_mutex_init (&job.mutex);
  ss_progress_begin (&job.progress, options->is_quiet);
  run_rest (&job);
  ss_progress_end (&job.progress);
  g_mutex_clear (&job.mutex);
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (table->rows, rows[i]);
  status = deliver (options, base, table);
  ss_sweep_partial_close (job.partial, status != SS_EXIT_OUTPUT);
  return status;
}

static SsExit
sweep (SweepOptions *options, char **arguments)
{
  g_autoptr (SsScenario) base = NULL;
  g_autoptr (SsSweep) points = NULL;

  base = ss_sweep_load_base (&options->scenario, arguments[0], arguments + 1);
  points = base != NULL ? ss_sweep_from_arguments (base, arguments + 1) : NULL;
  if (points == NULL)
    return SS_EXIT_INPUT;
  if (!may_write (options))
    return SS_EXIT_OUTPUT;
  return sweep_all (options, base, points);
}

static gboolean
check_options (SweepOptions *options)
{
  if (options->n_jobs == 0)
    options->n_jobs = (int) g_get_num_processors ();
  if (options->n_jobs < 0 || options->n_jobs > 1024)
    ss_console_error ("--jobs: %d is not between 1 and 1024", options->n_jobs);
  else if (options->wants_json && goes_to_stdout (options))
    ss_console_error ("--json and -o - both want the standard output");
  else if (options->picture.is_script && (options->wants_json || goes_to_stdout (options)))
    ss_console_error ("--gnuplot-script and %s both want the standard output",
                      options->wants_json ? "--json" : "-o -");
  else if (g_strcmp0 (options->plot, "-") == 0)
    ss_console_error ("--plot: a file .png or .svg, not standard output");
  else
    return ss_picture_find_format (&options->picture, options->plot)
           && ss_terminal_style (&options->terminal, &options->style);
  return FALSE;
}

static SsExit
run (int argc, char **argv)
{
  g_auto (SweepOptions) options = { 0 };
  const GOptionEntry entries[] = {
    SS_SCENARIO_OPTION_ENTRIES (options.scenario),
    SS_TERMINAL_OPTION_ENTRIES (options.terminal),
    { "jobs", 'j', 0, G_OPTION_ARG_INT, &options.n_jobs,
      "Run so many points at a time (as many as there are processors)", "N" },
    { "json", 0, 0, G_OPTION_ARG_NONE, &options.wants_json,
      "Print the runs as one JSON array and nothing else", NULL },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output,
      "Write the table here instead of " DEFAULT_FILE "; - is standard output", "FILE" },
    { "plot", 0, 0, G_OPTION_ARG_FILENAME, &options.plot,
      "Draw time against peak memory here: a .png or .svg", "FILE" },
    SS_PICTURE_OPTION_ENTRY (options.picture),
    { "force", 'f', 0, G_OPTION_ARG_NONE, &options.replaces, "Replace files that exist", NULL },
    { "no-files", 0, 0, G_OPTION_ARG_NONE, &options.writes_no_files, "Write no files", NULL },
    { "quiet", 'q', 0, G_OPTION_ARG_NONE, &options.is_quiet,
      "Print no answer and no progress: the exit status says whether any fits", NULL },
    G_OPTION_ENTRY_NULL
  };
  SsExit status;

  if (!ss_command_parse (&ss_command_sweep, entries, &argc, &argv, &status))
    return status;
  if (!ss_command_check_arguments (&ss_command_sweep, argc, argv, 2, G_MAXINT - 1)
      || !check_options (&options))
    return SS_EXIT_INPUT;
  return sweep (&options, argv + 1);
}

const SsCommand ss_command_sweep = {
  .name = "sweep",
  .arguments = "FILE PATH=VALUES [PATH=VALUES...]",
  .summary = "run a scenario at many settings: which fit, which is fastest",
  .run = run,
};
