/* SPDX-License-Identifier: MIT
 *
 * Texts and times as JSON wants them, the same in every locale.  It knows no recording.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* In quotes; what is no UTF-8 is replaced, control characters are escaped. NULL is "". */
void ss_json_append_text (GString *json, const char *text);

/* Microseconds with the three decimals of ns, as a trace of Kineto has them. */
void ss_json_append_us (GString *json, gint64 ns);

G_END_DECLS
