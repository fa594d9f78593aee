/* SPDX-License-Identifier: MIT
 *
 * The closed forms of a scenario beside what its simulation found.
 */
#include "cli/command.h"
#include "cli/console.h"
#include "cli/output-options.h"
#include "cli/scenario-options.h"
#include "cli/simulation.h"
#include "cli/terminal.h"
#include "hw/units.h"
#include "ops/ledger.h"

typedef struct
{
  const SsTraceConfig *config;
  const SsRecording *recording;
  SsByteUnit unit;
  GString *out;
} Ledger;

static void
bytes_row (const Ledger *l, const char *what, guint64 bytes, const char *how)
{
  g_autofree char *text = ss_units_format_bytes (bytes, l->unit, 2);

  g_string_append_printf (l->out, "  %-34s %14s  %s\n", what, text, how);
}

static void
number_row (const Ledger *l, const char *what, double number, const char *how)
{
  g_string_append_printf (l->out, "  %-34s %14.4g  %s\n", what, number, how);
}

static void
add_parameters (const Ledger *l)
{
  const SsModelConfig *m = &l->config->model;

  g_string_append (l->out, "Parameters\n");
  g_string_append_printf (l->out, "  %-34s %14" G_GUINT64_FORMAT "  closed form of the %s family\n",
                          "all", m->family->count_parameters (m), m->family->name);
  g_string_append_printf (l->out, "  %-34s %14" G_GUINT64_FORMAT "  counted in the trace\n", "",
                          l->recording->n_parameters);
  g_string_append_printf (l->out, "  %-34s %14" G_GUINT64_FORMAT "\n", "trained",
                          l->recording->n_trainable_parameters);
}

static void
add_states (const Ledger *l)
{
  g_string_append (
    l->out, "\nModel states, bytes per parameter: weights + gradients + master + optimizer\n");
  for (const SsLedgerRecipe *r = ss_ledger_recipes (); r->name; r++)
    {
      g_autofree char *how = g_strdup_printf ("%u + %u + %u + %u = %u", r->weights, r->gradients,
                                              r->master, r->optimizer, ss_ledger_recipe_bytes (r));

      bytes_row (l, r->name, ss_size_mul (ss_ledger_recipe_bytes (r), l->recording->n_parameters),
                 how);
    }
}

static void
add_activations (const Ledger *l)
{
  const SsModelConfig *m = &l->config->model;
  SsModelAccount account;
  const SsStepRecord *step = &g_array_index (l->recording->steps, SsStepRecord, 0);

  m->family->account (m, (guint64) l->config->sequence_length, (guint64) l->config->micro_batch,
                      &account);
  g_string_append (l->out, "\nActivations kept for backward, one micro-batch\n");
  bytes_row (l, "a layer, as papers count", account.layer_bytes, account.layer_form);
  bytes_row (l, "all layers",
             ss_size_mul (account.layer_bytes, (guint64) m->n_layers), "");
  bytes_row (l, "softmax of a layer, if unfused", account.softmax_bytes, "2 a s^2 b");
  bytes_row (l, "fp32 logits", account.logits_bytes, "4 s b V");
  if (step->saved_activation_bytes != G_MAXUINT64)
    bytes_row (l, "held by autograd in this run", step->saved_activation_bytes,
               "simulated, all layers and the loss");
}

static void
add_flops (const Ledger *l)
{
  const SsModelConfig *m = &l->config->model;
  guint64 s = (guint64) l->config->sequence_length;
  double n = (double) l->recording->n_parameters, tokens = (double) l->recording->tokens_per_step;
  SsModelAccount account;
  const SsStepRecord *step = &g_array_index (l->recording->steps, SsStepRecord, 0);

  m->family->account (m, s, 1, &account);
  g_string_append (l->out, "\nFlops of a step\n");
  number_row (l, "6 N D", ss_ledger_training_flops (n, tokens, FALSE),
              "every parameter in a matrix product");
  number_row (l, "8 N D", ss_ledger_training_flops (n, tokens, TRUE), "every layer recomputed");
  number_row (l, "causal attention core", (double) account.core_flops / (double) s * tokens,
              "6 s q L a token");
  if (step->is_complete)
    {
      number_row (l, "of the model, in this run", (double) step->model_flops, "simulated");
      number_row (l, "by the hardware, in this run", (double) step->hardware_flops,
                  "simulated, recomputation counted");
    }
  number_row (l, "tokens/s at an MFU of 40 %",
              ss_ledger_tokens_per_s (n, l->recording->peak_flop_per_s, 0.4), "MFU P / (6 N)");
  if (step->is_complete)
    number_row (l, "tokens/s of this run", step->tokens_per_s, "simulated");
}

static SsExit
run (int argc, char **argv)
{
  g_auto (SsScenarioOptions) options = { 0 };
  g_auto (SsOutputOptions) output = { 0 };
  g_autoptr (SsScenario) scenario = NULL;
  g_autoptr (SsRecording) recording = NULL;
  g_autoptr (GString) text = g_string_new (NULL);
  g_auto (SsTerminalOptions) terminal = { 0 };
  SsMemoryUnits units;
  Ledger ledger = { .out = text };
  const GOptionEntry entries[] = {
    SS_SCENARIO_OPTION_ENTRIES (options),
    SS_OUTPUT_OPTION_ENTRIES (output),
    SS_UNITS_OPTION_ENTRY (terminal),
    G_OPTION_ENTRY_NULL
  };
  SsExit status;

  if (!ss_command_parse (&ss_command_ledger, entries, &argc, &argv, &status))
    return status;
  if (!ss_command_check_arguments (&ss_command_ledger, argc, argv, 1, 1)
      || !ss_terminal_units (&terminal, &units))
    return SS_EXIT_INPUT;
  scenario = ss_scenario_options_load (&options, argv[1]);
  if (scenario == NULL)
    return SS_EXIT_INPUT;
  recording = ss_simulation_run (scenario, argv[1], NULL);
  if (recording == NULL)
    return SS_EXIT_INPUT;
  ledger.config = ss_scenario_trace_config (scenario);
  ledger.recording = recording;
  ledger.unit = units == SS_MEMORY_GB ? SS_UNITS_GB : SS_UNITS_GIB;
  g_string_append_printf (text, "%s, %s\n\n", recording->model_name, recording->summary);
  add_parameters (&ledger);
  add_states (&ledger);
  if (recording->steps->len > 0)
    {
      add_activations (&ledger);
      add_flops (&ledger);
    }
  return ss_output_options_write (&output, text->str);
}

const SsCommand ss_command_ledger = {
  .name = "ledger",
  .arguments = "FILE",
  .summary = "print the closed forms: parameters, states, activations, flops",
  .run = run,
};
