/* SPDX-License-Identifier: MIT
 *
 * The date that files carry if it is asked for, so that without it the same question has the same
 * answer to the byte.  It knows no file.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* *date (out) (transfer full): "2026-11-29T20:15:18Z": of SOURCE_DATE_EPOCH if that is set and not
 * empty (reproducible-builds.org), else now if it is asked for, else NULL. FALSE and said:
 * SOURCE_DATE_EPOCH is no time. */
gboolean ss_stamp_find (gboolean is_asked, char **date);

G_END_DECLS
