/* SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/console.h"
#include "cli/output-options.h"
#include "cli/picture.h"
#include "cli/scenario-options.h"
#include "cli/simulation.h"
#include "cli/terminal.h"
#include "output/figures/overlay.h"

typedef struct
{
  SsScenarioOptions scenario;
  SsOutputOptions output;
  SsPictureOptions picture;
  SsTerminalOptions terminal;
  SsMemoryUnits units;
  int device, step;
} Options;

static void
options_clear (Options *self)
{
  ss_scenario_options_clear (&self->scenario);
  ss_output_options_clear (&self->output);
  ss_terminal_options_clear (&self->terminal);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static gboolean
check_options (Options *self)
{
  if (self->device < SS_REAL_ANY_DEVICE)
    ss_console_error ("--gpu: %d is no device; they count from 0", self->device);
  else if (self->step < 1)
    ss_console_error ("--step: %d is no step; they count from 1", self->step);
  else
    return ss_terminal_units (&self->terminal, &self->units)
           && ss_picture_find_format (&self->picture, self->output.path);
  return FALSE;
}

/* A picture on standard output takes the table's place. */
static SsExit
answer (const Options *options, const SsOverlay *overlay, const char *path)
{
  const char *target = options->output.path;
  g_autofree char *name = g_path_get_basename (path);
  g_autofree char *text = ss_overlay_table (overlay, name, options->units);
  g_autoptr (SsCanvas) canvas = ss_overlay_figure (overlay, name, options->units);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;

  if (options->picture.is_script)
    return ss_picture_print_script (&options->picture, canvas) ? SS_EXIT_FITS : SS_EXIT_OUTPUT;
  if (g_strcmp0 (target, "-") != 0 && !ss_console_print (text))
    return SS_EXIT_OUTPUT;
  if (target == NULL)
    return SS_EXIT_FITS;
  bytes = ss_canvas_draw (canvas, options->picture.format, &error);
  if (bytes != NULL && ss_output_options_write_bytes (&options->output, bytes, &error))
    return SS_EXIT_FITS;
  ss_picture_error (error);
  return SS_EXIT_OUTPUT;
}

static SsExit
lay (const Options *options, const char *real_path, const char *scenario_path)
{
  g_autoptr (SsRealRun) real = NULL;
  g_autoptr (SsScenario) scenario = NULL;
  g_autoptr (SsRecording) recording = NULL;
  g_autoptr (SsOverlay) overlay = NULL;
  g_autoptr (GError) error = NULL;

  real = ss_real_run_load (real_path, options->device, &error);
  if (real == NULL)
    {
      ss_console_error ("%s", error->message);
      return SS_EXIT_INPUT;
    }
  scenario = ss_scenario_options_load (&options->scenario, scenario_path);
  if (scenario == NULL)
    return SS_EXIT_INPUT;
  recording = ss_simulation_run (scenario, scenario_path, NULL);
  if (recording == NULL)
    return SS_EXIT_INPUT;
  overlay = ss_overlay_new (recording, real, (guint) options->step);
  return answer (options, overlay, real_path);
}

static SsExit
run (int argc, char **argv)
{
  g_auto (Options) options = { .device = SS_REAL_ANY_DEVICE, .step = 1 };
  const GOptionEntry entries[] = {
    SS_SCENARIO_OPTION_ENTRIES (options.scenario),
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output.path,
      "Draw both into this PNG or SVG; - is standard output", "FILE" },
    { "force", 'f', 0, G_OPTION_ARG_NONE, &options.output.replaces,
      "Replace a file that exists", NULL },
    { "gpu", 0, 0, G_OPTION_ARG_INT, &options.device,
      "The real run's device; without it the one with the most events", "N" },
    { "step", 0, 0, G_OPTION_ARG_INT, &options.step,
      "The simulated step with which the real file begins (1)", "N" },
    SS_PICTURE_OPTION_ENTRY (options.picture),
    SS_UNITS_OPTION_ENTRY (options.terminal),
    G_OPTION_ENTRY_NULL
  };
  SsExit status;

  if (!ss_command_parse (&ss_command_overlay, entries, &argc, &argv, &status))
    return status;
  if (!ss_command_check_arguments (&ss_command_overlay, argc, argv, 2, 2)
      || !check_options (&options))
    return SS_EXIT_INPUT;
  if (!options.picture.is_script && !ss_output_options_check (&options.output))
    return SS_EXIT_OUTPUT;
  return lay (&options, argv[1], argv[2]);
}

const SsCommand ss_command_overlay = {
  .name = "overlay",
  .arguments = "REAL FILE",
  .summary = "lay a real run's memory over the simulated one",
  .run = run,
};
