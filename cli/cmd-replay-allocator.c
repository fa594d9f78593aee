/* SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/console.h"
#include "cli/output-options.h"
#include "memory/allocator-replay.h"

static SsExit
replay (const char *path, const char *allocator, const char *conf, GString *csv)
{
  g_autoptr (GError) error = NULL;
  const SsAllocatorClass *klass = ss_allocator_class_find (allocator, &error);

  if (klass != NULL && ss_allocator_replay_on (klass, path, conf, csv, &error))
    return SS_EXIT_FITS;
  ss_console_error ("%s", error->message);
  return SS_EXIT_INPUT;
}

static SsExit
run (int argc, char **argv)
{
  g_auto (SsOutputOptions) output = { 0 };
  g_autofree char *allocator = NULL, *conf = NULL;
  g_autoptr (GString) csv = g_string_new (NULL);
  const GOptionEntry entries[] = {
    { "allocator", 0, 0, G_OPTION_ARG_STRING, &allocator, "Which one answers (caching)", "NAME" },
    { "alloc-conf", 0, 0, G_OPTION_ARG_FILENAME, &conf, "Its options, in place of the file's",
      "CONF" },
    SS_OUTPUT_OPTION_ENTRIES (output),
    G_OPTION_ENTRY_NULL
  };
  SsExit status;

  if (!ss_command_parse (&ss_command_replay_allocator, entries, &argc, &argv, &status))
    return status;
  if (!ss_command_check_arguments (&ss_command_replay_allocator, argc, argv, 1, 1))
    return SS_EXIT_INPUT;
  status = replay (argv[1], allocator != NULL ? allocator : "caching", conf, csv);
  return status == SS_EXIT_FITS ? ss_output_options_write (&output, csv->str) : status;
}

const SsCommand ss_command_replay_allocator = {
  .name = "replay-allocator",
  .arguments = "EVENTS.csv",
  .summary = "answer a file of requests for memory, and print the state after each",
  .is_for_checking = TRUE,
  .run = run,
};
