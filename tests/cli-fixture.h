/* SPDX-License-Identifier: MIT
 *
 * The built program run as people run it, each test in a folder of its own.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define SS_STEPSIM SS_BUILD_DIR "/cli/stepsim"
#define SS_TEACHING SS_SOURCE_DIR "/scenarios/teaching-4layer.xml"

typedef struct
{
  int status;                    /* 128 + signal if one ended it */
  char *out, *err;
} SsCliResult;

void ss_cli_result_clear (SsCliResult *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SsCliResult, ss_cli_result_clear)

/* .init and .fini of a suite; between them the folder is there and empty at first. */
void ss_cli_make_folder (void);
void ss_cli_remove_folder (void);
/* (transfer none) */
const char *ss_cli_folder (void);

/* Runs the program in the test's folder, which is $XDG_CONFIG_HOME too. */
SsCliResult ss_cli_spawn (const char *const *argv);
#define RUN(...) ss_cli_spawn ((const char *const[]) { SS_STEPSIM, __VA_ARGS__, NULL })
/* A shell line, in which $S is the program and $F the scenario. */
SsCliResult ss_cli_shell (const char *line);

/* Path of a new file in the folder. (transfer full) */
char *ss_cli_write (const char *name, const char *contents, gssize length);
/* Text of a file in the folder, NULL if it is not there. (transfer full) */
char *ss_cli_read (const char *name);
/* "stepsim: " stands before each. */
gboolean ss_cli_lines_are_ours (const char *err);
guint ss_cli_count_lines (const char *text);

G_END_DECLS
