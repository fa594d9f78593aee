/* SPDX-License-Identifier: MIT
 *
 * The program's two voices: answers on stdout, written in full or reported, and problems on stderr.
 * It knows no command.  It owns nothing.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Writes all of it to stdout. FALSE: it could not, which has been said, but for a reader that
 * went away. */
gboolean ss_console_print (const char *text);
/* What was wrong with an output, as below, but nothing of a reader that went away. */
void ss_console_output_error (const GError *error);
/* "stepsim: ..." on stderr, once for each line of the message. */
void ss_console_error (const char *format, ...) G_GNUC_PRINTF (1, 2);

G_END_DECLS
