/* SPDX-License-Identifier: MIT
 *
 * Commands that simulate a scenario and write the run as one file.  It knows nothing of the file.
 */
#pragma once

#include "cli/command.h"
#include "output/output.h"

G_BEGIN_DECLS

/* The whole of such a command.  With `is_binary` a terminal is not written to. */
SsExit ss_recording_file_run (const SsCommand *command, const SsOutput *output,
                              gboolean is_binary, int argc, char **argv);

G_END_DECLS
