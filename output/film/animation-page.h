/* SPDX-License-Identifier: MIT
 *
 * A run as one page to step through, complete in itself: the course of memory as an inline drawing,
 * the moments as data, a style and a script of our own; nothing is fetched.
 */
#pragma once

#include "output/film/animation.h"

G_BEGIN_DECLS

/* n_moments may be NULL. (transfer full) */
GBytes *ss_animation_page (const SsRecording *recording, const SsOutputSettings *settings,
                           guint *n_moments);

/* Text as HTML has it, in elements and in quoted attributes; control characters dropped. (transfer
 * full) */
char *ss_html_escape (const char *text);
/* Text as a literal of JSON that may stand inside a script element. (transfer full) */
char *ss_json_quote (const char *text);

G_END_DECLS
