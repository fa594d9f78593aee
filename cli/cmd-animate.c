/* SPDX-License-Identifier: MIT
 *
 * The two steps of a scenario as a lesson: a film, or a page to step through.
 */
#include "cli/command.h"
#include "cli/console.h"
#include "cli/output-options.h"
#include "cli/progress.h"
#include "cli/scenario-options.h"
#include "cli/simulation.h"
#include "cli/terminal.h"
#include "output/film/animation-frame.h"
#include "output/film/animation-page.h"
#include "output/file-writer.h"
#include "output/film/film.h"

#define DEFAULT_PATH "animation.gif"

typedef struct
{
  SsScenarioOptions scenario;
  SsOutputOptions output;
  SsTerminalOptions terminal;
  SsOutputSettings settings;
  gboolean is_quiet;
} AnimateOptions;

static void
animate_options_clear (AnimateOptions *self)
{
  ss_scenario_options_clear (&self->scenario);
  ss_output_options_clear (&self->output);
  ss_terminal_options_clear (&self->terminal);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AnimateOptions, animate_options_clear)

/* ---- the three kinds of files ---- */

static char *
film_words (const SsFilm *film)
{
  return g_strdup_printf ("%u frames, %d x %d, %.0f s", film->n_frames, SS_FRAME_WIDTH,
                          SS_FRAME_HEIGHT, film->duration_s);
}

static void
say_progress (guint n_done, guint n, gpointer user_data)
{
  ss_progress_say (user_data, "drawing", n_done, n);
}

typedef gboolean (*DrawFilm) (const SsRecording *, const SsOutputSettings *, SsFilmProgress,
                              gpointer, SsFilm *, GError **);

static GBytes *
draw_film (const AnimateOptions *options, const SsRecording *recording, DrawFilm draw,
           char **words, GError **error)
{
  SsProgress progress;
  SsFilm film;
  gboolean is_drawn;

  ss_progress_begin (&progress, options->is_quiet);
  is_drawn = draw (recording, &options->settings, say_progress, &progress, &film, error);
  ss_progress_end (&progress);
  if (!is_drawn)
    return NULL;
  *words = film_words (&film);
  return film.bytes;
}

static GBytes *
draw_gif (const AnimateOptions *options, const SsRecording *recording, char **words,
          GError **error)
{
  return draw_film (options, recording, ss_film_gif, words, error);
}

static GBytes *
draw_mp4 (const AnimateOptions *options, const SsRecording *recording, char **words,
          GError **error)
{
  return draw_film (options, recording, ss_film_mp4, words, error);
}

static GBytes *
draw_page (const AnimateOptions *options, const SsRecording *recording, char **words,
           GError **error G_GNUC_UNUSED)
{
  guint n_moments;
  GBytes *page = ss_animation_page (recording, &options->settings, &n_moments);

  *words = g_strdup_printf ("%u moments, opens in any browser, no network", n_moments);
  return page;
}

typedef struct
{
  const char *suffix;
  GBytes *(*draw) (const AnimateOptions *options, const SsRecording *recording, char **words,
                   GError **error);
} Format;

/* Standard output gets what the default file would. NULL and said: the name ends in none of
 * them. */
static const Format *
format_of (const char *path)
{
  static const Format formats[] = {
    { ".gif", draw_gif },
    { ".mp4", draw_mp4 },
    { ".html", draw_page },
  };
  g_autofree char *lower = g_ascii_strdown (g_str_equal (path, "-") ? DEFAULT_PATH : path, -1);

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (g_str_has_suffix (lower, formats[i].suffix))
      return &formats[i];
  ss_console_error ("%s: an animation is a file .gif, .mp4 or .html", path);
  return NULL;
}

/* ---- the command ---- */

static gboolean
say_result (const char *path, const char *words, gsize n_bytes, const SsRecording *recording)
{
  g_autofree char *shown = g_filename_display_name (path);
  g_autofree char *size = ss_format_bytes (n_bytes, SS_MEMORY_GIB, 2);
  GString *text = g_string_new (NULL);
  g_autofree char *line = NULL;

  if (recording->is_oom && recording->oom.at.step > 0)
    g_string_append_printf (text, "The run ends out of memory in step %u; the animation ends "
                            "there.\n", recording->oom.at.step);
  else if (recording->is_oom)
    g_string_append (text, "The run ends out of memory while the model is loaded; the animation "
                           "ends there.\n");
  g_string_append_printf (text, "%s: %s, %s\n", shown, words, size);
  line = g_string_free (text, FALSE);
  return ss_console_print (line);
}

static SsExit
animate (const AnimateOptions *options, const Format *format, const char *scenario_path)
{
  const char *path = options->output.path;
  g_autoptr (SsScenario) scenario = ss_scenario_options_load (&options->scenario, scenario_path);
  g_autoptr (SsRecording) recording = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *words = NULL;

  if (scenario == NULL)
    return SS_EXIT_INPUT;
  recording = ss_simulation_run (scenario, scenario_path, NULL);
  if (recording == NULL)
    return SS_EXIT_INPUT;
  bytes = format->draw (options, recording, &words, &error);
  if (bytes == NULL || !ss_file_write (path, bytes, options->output.replaces, &error))
    {
      ss_console_output_error (error);
      return SS_EXIT_OUTPUT;
    }
  if (!options->is_quiet && !g_str_equal (path, "-")
      && !say_result (path, words, g_bytes_get_size (bytes), recording))
    return SS_EXIT_OUTPUT;
  return recording->is_oom ? SS_EXIT_OUT_OF_MEMORY : SS_EXIT_FITS;
}

static SsExit
run (int argc, char **argv)
{
  g_auto (AnimateOptions) options = { 0 };
  const GOptionEntry entries[] = {
    SS_SCENARIO_OPTION_ENTRIES (options.scenario),
    SS_OUTPUT_OPTION_ENTRIES (options.output),
    SS_UNITS_OPTION_ENTRY (options.terminal),
    { "quiet", 'q', 0, G_OPTION_ARG_NONE, &options.is_quiet, "Say nothing of the file", NULL },
    G_OPTION_ENTRY_NULL
  };
  const Format *format;
  SsExit status;

  if (!ss_command_parse (&ss_command_animate, entries, &argc, &argv, &status))
    return status;
  if (!ss_command_check_arguments (&ss_command_animate, argc, argv, 1, 1)
      || !ss_terminal_units (&options.terminal, &options.settings.units))
    return SS_EXIT_INPUT;
  if (options.output.path == NULL)
    options.output.path = g_strdup (DEFAULT_PATH);
  format = format_of (options.output.path);
  if (format == NULL)
    return SS_EXIT_INPUT;
  if (!ss_output_options_check (&options.output))
    return SS_EXIT_OUTPUT;
  return animate (&options, format, argv[1]);
}

const SsCommand ss_command_animate = {
  .name = "animate",
  .arguments = "FILE",
  .summary = "show a run as a lesson: .gif, .mp4, or .html to step through",
  .run = run,
};
