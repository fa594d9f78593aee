/* SPDX-License-Identifier: MIT
 *
 * The whole text of a file that comes from a stranger.
 */
#pragma once

#include "hw/problems.h"

G_BEGIN_DECLS

/* The text of a regular file of at most `max_bytes`, in UTF-8 and not empty, or NULL with the
 * problem added. (transfer full) */
char *ss_text_file_load (const char *path, guint max_bytes, SsProblems *problems);

G_END_DECLS
