/* SPDX-License-Identifier: MIT
 *
 * The closed forms of a scenario beside what its simulation found, and what a whole training takes
 * by them.
 */
#include <math.h>
#include <string.h>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/ledger-text.h"
#include "cli/output-options.h"
#include "cli/scenario-options.h"
#include "cli/simulation.h"
#include "cli/terminal.h"

typedef struct
{
  SsScenarioOptions scenario;
  SsOutputOptions output;
  SsTerminalOptions terminal;
  SsByteUnit unit;
  gboolean is_json;
  char *train_tokens, *gpus, *mfu, *tokens_per_s, *price_per_hour;
  SsLedgerQuestion question;
} Options;

static void
options_clear (Options *self)
{
  ss_scenario_options_clear (&self->scenario);
  ss_output_options_clear (&self->output);
  ss_terminal_options_clear (&self->terminal);
  g_free (self->train_tokens);
  g_free (self->gpus);
  g_free (self->mfu);
  g_free (self->tokens_per_s);
  g_free (self->price_per_hour);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

/* "15.6T": a number above 0 with a letter for a power of 1000, or none.  `text` NULL: 0. */
static gboolean
parse_number (const char *option, const char *text, double most, double *number)
{
  static const char letters[] = "KMBT";
  const char *letter;
  char *end;

  *number = 0;
  if (text == NULL)
    return TRUE;
  if (g_ascii_isdigit (*text) || *text == '.')
    {
      *number = g_ascii_strtod (text, &end);
      letter = *end != '\0' ? strchr (letters, g_ascii_toupper (*end)) : NULL;
      for (gsize i = 0; letter != NULL && i <= (gsize) (letter - letters); i++)
        *number *= 1000;
      if (*(letter != NULL ? end + 1 : end) == '\0' && isfinite (*number) && *number > 0
          && *number <= most)
        return TRUE;
    }
  ss_console_error ("%s: \"%s\" is no number above 0 and up to %g; expected digits, with K, M, B "
                    "or T for thousands to millions of millions",
                    option, text, most);
  return FALSE;
}

static gboolean
check_options (Options *self)
{
  SsLedgerQuestion *q = &self->question;
  SsMemoryUnits units;

  if (!parse_number ("--train-tokens", self->train_tokens, 1e18, &q->tokens)
      || !parse_number ("--gpus", self->gpus, 1e9, &q->n_gpus)
      || !parse_number ("--mfu", self->mfu, 1, &q->mfu)
      || !parse_number ("--tokens-per-s", self->tokens_per_s, 1e12, &q->tokens_per_s)
      || !parse_number ("--price-per-hour", self->price_per_hour, 1e9, &q->price_per_hour)
      || !ss_terminal_units (&self->terminal, &units))
    return FALSE;
  self->unit = units == SS_MEMORY_GB ? SS_UNITS_GB : SS_UNITS_GIB;
  if (q->mfu > 0 && q->tokens_per_s > 0)
    ss_console_error ("--mfu and --tokens-per-s say the same thing; one of them was expected");
  else if (q->tokens <= 0 && (q->n_gpus > 0 || q->price_per_hour > 0))
    ss_console_error ("%s: of a training of how many tokens? --train-tokens was expected",
                      q->n_gpus > 0 ? "--gpus" : "--price-per-hour");
  else
    return TRUE;
  return FALSE;
}

static SsExit
answer (Options *options, const char *path)
{
  g_autoptr (SsScenario) scenario = ss_scenario_options_load (&options->scenario, path);
  g_autoptr (SsRecording) recording = NULL;
  g_autofree char *text = NULL;
  SsLedgerAccount account;

  if (scenario == NULL)
    return SS_EXIT_INPUT;
  recording = ss_simulation_run (scenario, path, NULL);
  if (recording == NULL)
    return SS_EXIT_INPUT;
  account = ss_ledger_account (scenario, recording, &options->question);
  if (options->question.tokens > 0 && account.mfu_source == SS_LEDGER_MFU_UNKNOWN)
    {
      ss_console_error ("--train-tokens: this run completes no step, so its speed is not known; "
                        "--mfu or --tokens-per-s was expected");
      return SS_EXIT_INPUT;
    }
  text = options->is_json ? ss_ledger_json (&account, recording, &options->question)
                          : ss_ledger_text (&account, scenario, recording, &options->question,
                                            options->unit);
  return ss_output_options_write (&options->output, text);
}

static SsExit
run (int argc, char **argv)
{
  g_auto (Options) options = { 0 };
  const GOptionEntry entries[] = {
    SS_SCENARIO_OPTION_ENTRIES (options.scenario),
    SS_OUTPUT_OPTION_ENTRIES (options.output),
    { "json", 0, 0, G_OPTION_ARG_NONE, &options.is_json, "Print one JSON object", NULL },
    { "train-tokens", 0, 0, G_OPTION_ARG_STRING, &options.train_tokens,
      "What a training of that many takes: 15.6T", "N" },
    { "gpus", 0, 0, G_OPTION_ARG_STRING, &options.gpus, "Over that many devices (1)", "N" },
    { "mfu", 0, 0, G_OPTION_ARG_STRING, &options.mfu,
      "Model flops utilization, by 6 N: 0.41 (the simulated step's)", "SHARE" },
    { "tokens-per-s", 0, 0, G_OPTION_ARG_STRING, &options.tokens_per_s,
      "Tokens a second of one device: which MFU is that?", "N" },
    { "price-per-hour", 0, 0, G_OPTION_ARG_STRING, &options.price_per_hour,
      "Of one device, in any money", "PRICE" },
    SS_UNITS_OPTION_ENTRY (options.terminal),
    G_OPTION_ENTRY_NULL
  };
  SsExit status;

  if (!ss_command_parse (&ss_command_ledger, entries, &argc, &argv, &status))
    return status;
  if (!ss_command_check_arguments (&ss_command_ledger, argc, argv, 1, 1)
      || !check_options (&options))
    return SS_EXIT_INPUT;
  return answer (&options, argv[1]);
}

const SsCommand ss_command_ledger = {
  .name = "ledger",
  .arguments = "FILE",
  .summary = "print the closed forms: parameters, states, activations, flops, time",
  .run = run,
};
