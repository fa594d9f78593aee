/* SPDX-License-Identifier: MIT
 *
 * One line on stderr that is redrawn while work goes on, where stderr is a terminal and the work
 * lasts over half a second.  It knows no work.  A plain value; calls must not overlap.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  gboolean is_silent, is_drawn;
  gint64 drawn_us;               /* when it was last drawn, or is first to be */
} SsProgress;

void ss_progress_begin (SsProgress *self, gboolean is_quiet);
/* "sweeping 41 of 107"; "values tried: 12" where n_all is 0: nobody knows how many there will be */
void ss_progress_say (SsProgress *self, const char *what, guint n_done, guint n_all);
/* Leaves no trace of it. */
void ss_progress_end (SsProgress *self);

G_END_DECLS
