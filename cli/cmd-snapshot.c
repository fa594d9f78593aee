/* SPDX-License-Identifier: MIT */
#include "cli/recording-file.h"
#include "output/formats/snapshot.h"

static SsExit
run (int argc, char **argv)
{
  return ss_recording_file_run (&ss_command_snapshot, &ss_output_snapshot, TRUE, argc, argv);
}

const SsCommand ss_command_snapshot = {
  .name = "snapshot",
  .arguments = "FILE",
  .summary = "write the run as PyTorch's memory snapshot, for memory_viz",
  .run = run,
};
