/* SPDX-License-Identifier: MIT
 *
 * Where a command's answer goes: stdout, or the file of -o, and whether one that exists may be
 * replaced. It knows nothing of what the answer is.  The command owns the struct and clears it.
 */
#pragma once

#include "cli/command.h"

G_BEGIN_DECLS

typedef struct
{
  char *path;                    /* NULL or "-": stdout */
  gboolean replaces;
} SsOutputOptions;

void ss_output_options_clear (SsOutputOptions *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SsOutputOptions, ss_output_options_clear)

/* The rows of a GOptionEntry table. */
#define SS_OUTPUT_OPTION_ENTRIES(self)                                                             \
  { "output", 'o', 0, G_OPTION_ARG_FILENAME, &(self).path,                                         \
    "Write to this file; - is standard output", "FILE" },                                          \
  { "force", 'f', 0, G_OPTION_ARG_NONE, &(self).replaces, "Replace a file that exists", NULL }

/* Before any work is done. FALSE and said: the file is there and is not to be replaced. */
gboolean ss_output_options_check (const SsOutputOptions *self);
/* SS_EXIT_FITS, or SS_EXIT_OUTPUT and said. */
SsExit ss_output_options_write (const SsOutputOptions *self, const char *text);
/* The same for what is no text; nothing is said. SS_OUTPUT_ERROR_WRITE,
 * SS_OUTPUT_ERROR_EXISTS, SS_OUTPUT_ERROR_READER. */
gboolean ss_output_options_write_bytes (const SsOutputOptions *self, GBytes *bytes,
                                        GError **error);

G_END_DECLS
