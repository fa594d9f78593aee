/* SPDX-License-Identifier: MIT
 *
 * Runs another program that draws: found at run time on the path, started without a shell, fed on a
 * pipe and read on one.  It knows nothing of what the program does.
 */
#pragma once

#include "output/output.h"

G_BEGIN_DECLS

/* What the program of argv[0] writes to its standard output when it reads `input`; may be empty.
 * Its locale is C.  SS_OUTPUT_ERROR_PROGRAM: it is not there (`missing` is the message and names
 * the package), or it failed, with the last words of its complaint or how it ended.  `said` (may be
 * NULL) receives those words where it did not fail. (transfer full) */
GBytes *ss_helper_program_run (const char *const *argv, GBytes *input, const char *missing,
                               char **said, GError **error);

G_END_DECLS
