/* SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/console.h"
#include "cli/output-options.h"
#include "cli/scenario-options.h"
#include "scenarios/trainer.h"

/* The settings of another trainer, or NULL and said. (transfer full) */
static SsTrainer *
read_trainer (const char *path)
{
  g_autoptr (SsProblems) problems = ss_problems_new ();
  g_autoptr (GError) error = NULL;
  SsTrainer *trainer = ss_trainer_read (path, problems);

  if (trainer == NULL && !ss_problems_settle (problems, &error))
    ss_console_error ("%s", error->message);
  return trainer;
}

/* The model that is to be trained: the one given, else the one that the trainer names. NULL and
 * said. (transfer full) */
static char *
find_model (const SsTrainer *trainer, const char *from, const char *given)
{
  char *found;

  if (given != NULL)
    return g_strdup (given);
  found = trainer->model != NULL ? ss_trainer_find_model (trainer->model) : NULL;
  if (found == NULL && trainer->model != NULL)
    ss_console_error ("%s: \"%s\" is no shipped model; give its config.json: stepsim init "
                      "--from=%s CONFIG", from, trainer->model, from);
  else if (found == NULL)
    ss_console_error ("%s: names no model; give its config.json: stepsim init --from=%s CONFIG",
                      from, from);
  return found;
}

/* What became of each line: beside the scenario, on the stream that it does not take. */
static gboolean
tell (const SsTrainer *trainer, const SsOutputOptions *output)
{
  g_autofree char *text
    = g_strdup_printf ("%s%s: %u taken, %u left, %u of these matter\n", trainer->report,
                       ss_trainer_kind_name (trainer->kind), trainer->n_taken, trainer->n_left,
                       trainer->n_that_matter);

  if (output->path != NULL && !g_str_equal (output->path, "-"))
    return ss_console_print (text);
  g_printerr ("%s", text);
  return TRUE;
}

static SsExit
write_scenario (const SsScenarioOptions *options, const char *path, const SsOutputOptions *output)
{
  g_autoptr (SsScenario) scenario = ss_scenario_options_load (options, path);
  g_autofree char *xml = scenario != NULL ? ss_scenario_to_commented_xml (scenario) : NULL;

  return xml != NULL ? ss_output_options_write (output, xml) : SS_EXIT_INPUT;
}

static SsExit
init_from (SsScenarioOptions *options, const char *from, const char *given,
           const SsOutputOptions *output)
{
  g_autoptr (SsTrainer) trainer = read_trainer (from);
  g_autofree char *path = trainer != NULL ? find_model (trainer, from, given) : NULL;
  SsExit status;

  if (path == NULL)
    return SS_EXIT_INPUT;
  options->before = g_strdupv (trainer->overrides);
  status = write_scenario (options, path, output);
  if (status == SS_EXIT_FITS && !tell (trainer, output))
    return SS_EXIT_OUTPUT;
  return status;
}

static SsExit
run (int argc, char **argv)
{
  g_auto (SsScenarioOptions) options = { 0 };
  g_auto (SsOutputOptions) output = { 0 };
  g_autofree char *from = NULL;
  const GOptionEntry entries[] = {
    { "from", 0, 0, G_OPTION_ARG_FILENAME, &from,
      "Another trainer's settings: Hugging Face, Axolotl, LLaMA-Factory, torchtune, DeepSpeed",
      "FILE" },
    SS_SCENARIO_OPTION_ENTRIES (options),
    SS_OUTPUT_OPTION_ENTRIES (output),
    G_OPTION_ENTRY_NULL
  };
  SsExit status;

  if (!ss_command_parse (&ss_command_init, entries, &argc, &argv, &status))
    return status;
  if (!ss_command_check_arguments (&ss_command_init, argc, argv, from != NULL ? 0 : 1, 1)
      || !ss_output_options_check (&output))
    return SS_EXIT_INPUT;
  if (from != NULL)
    return init_from (&options, from, argc > 1 ? argv[1] : NULL, &output);
  return write_scenario (&options, argv[1], &output);
}

const SsCommand ss_command_init = {
  .name = "init",
  .arguments = "FILE",
  .summary = "write a scenario, explained, of a config.json or a trainer's settings",
  .run = run,
};
