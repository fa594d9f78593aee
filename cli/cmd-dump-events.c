/* SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/console.h"
#include "cli/output-options.h"
#include "cli/scenario-options.h"
#include "cli/simulation.h"

static const char *
action_name (SsMemoryAction action)
{
  switch (action)
    {
    case SS_EVENT_ALLOC:
      return "alloc";
    case SS_EVENT_FREE:
      return "free";
    case SS_EVENT_SEGMENT_ALLOC:
      return "segment_alloc";
    case SS_EVENT_SEGMENT_FREE:
      return "segment_free";
    case SS_EVENT_SEGMENT_MAP:
      return "segment_map";
    case SS_EVENT_SEGMENT_UNMAP:
      return "segment_unmap";
    case SS_EVENT_OOM:
      return "oom";
    }
  g_return_val_if_reached (NULL);
}

static void
write_events (const SsRecording *recording, GString *csv)
{
  g_string_append (csv, "action,id,bytes,step,micro_batch,phase\n");
  for (guint i = 0; i < recording->memory->len; i++)
    {
      const SsMemoryEvent *event = &g_array_index (recording->memory, SsMemoryEvent, i);
      const SsPhaseRecord *phase = &g_array_index (recording->phases, SsPhaseRecord, event->phase);

      g_string_append_printf (csv, "%s,", action_name ((SsMemoryAction) event->action));
      if (event->action == SS_EVENT_ALLOC || event->action == SS_EVENT_FREE)
        g_string_append_printf (csv, "%u", event->storage_id);
      g_string_append_printf (csv, ",%" G_GUINT64_FORMAT ",%u,%u,%s\n", event->bytes, phase->step,
                              phase->micro_batch, phase->name);
    }
}

static SsExit
run (int argc, char **argv)
{
  g_auto (SsScenarioOptions) options = { 0 };
  g_auto (SsOutputOptions) output = { 0 };
  g_autoptr (SsScenario) scenario = NULL;
  g_autoptr (SsRecording) recording = NULL;
  g_autoptr (GString) csv = g_string_new (NULL);
  const GOptionEntry entries[] = {
    SS_SCENARIO_OPTION_ENTRIES (options),
    SS_OUTPUT_OPTION_ENTRIES (output),
    G_OPTION_ENTRY_NULL
  };
  SsExit status;

  if (!ss_command_parse (&ss_command_dump_events, entries, &argc, &argv, &status))
    return status;
  if (!ss_command_check_arguments (&ss_command_dump_events, argc, argv, 1, 1))
    return SS_EXIT_INPUT;
  scenario = ss_scenario_options_load (&options, argv[1]);
  if (scenario == NULL)
    return SS_EXIT_INPUT;
  recording = ss_simulation_run (scenario, argv[1], NULL);
  if (recording == NULL)
    return SS_EXIT_INPUT;
  write_events (recording, csv);
  if (ss_output_options_write (&output, csv->str) != SS_EXIT_FITS)
    return SS_EXIT_OUTPUT;
  return recording->is_oom ? SS_EXIT_OUT_OF_MEMORY : SS_EXIT_FITS;
}

const SsCommand ss_command_dump_events = {
  .name = "dump-events",
  .arguments = "FILE",
  .summary = "print every change of memory in the host's order, as CSV",
  .is_for_checking = TRUE,
  .run = run,
};
