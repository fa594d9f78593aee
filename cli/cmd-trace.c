/* SPDX-License-Identifier: MIT */
#include "cli/recording-file.h"
#include "output/formats/trace.h"

static SsExit
run (int argc, char **argv)
{
  return ss_recording_file_run (&ss_command_trace, &ss_output_trace, FALSE, argc, argv);
}

const SsCommand ss_command_trace = {
  .name = "trace",
  .arguments = "FILE",
  .summary = "write the run as trace events, for Perfetto",
  .run = run,
};
