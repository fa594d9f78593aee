/* SPDX-License-Identifier: MIT
 *
 * Runs gnuplot on a script: no shell, no file, no setting of the user's; the script goes in on a
 * pipe and the picture comes out on one.  It knows nothing of what is drawn.
 */
#pragma once

#include "output/output.h"

G_BEGIN_DECLS

/* The bytes the script's terminal writes. SS_OUTPUT_ERROR_PROGRAM: gnuplot is not there (the
 * message names the package), stopped at an error, or drew nothing. (transfer full) */
GBytes *ss_gnuplot_run (const char *script, GError **error);

/* `text` as a literal of gnuplot's language: in single quotes, where nothing is expanded (in double
 * quotes back-ticks run commands), each quote of its own made a typographic one, control characters
 * dropped.  Draw it with `noenhanced`, or _ ^ { } @ & ~ change its look. (transfer full) */
char *ss_gnuplot_quote (const char *text);

G_END_DECLS
