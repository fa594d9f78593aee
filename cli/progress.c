/* SPDX-License-Identifier: MIT */
#include "cli/progress.h"

#include <string.h>
#include <unistd.h>

#define DELAY_US 500000
#define INTERVAL_US 100000
#define CLEAR_LINE "\r\x1b[K"

static void
put (const char *text)
{
  gssize written G_GNUC_UNUSED = write (STDERR_FILENO, text, strlen (text));
}

void
ss_progress_begin (SsProgress *self, gboolean is_quiet)
{
  *self = (SsProgress) { .is_silent = is_quiet || !isatty (STDERR_FILENO),
                         .drawn_us = g_get_monotonic_time () + DELAY_US - INTERVAL_US };
}

void
ss_progress_say (SsProgress *self, const char *what, guint n_done, guint n_all)
{
  g_autoptr (GString) line = NULL;
  gint64 now_us = g_get_monotonic_time ();

  if (self->is_silent || now_us - self->drawn_us < INTERVAL_US)
    return;
  line = g_string_new (CLEAR_LINE);
  g_string_append_printf (line, "%s %u", what, n_done);
  if (n_all > 0)
    g_string_append_printf (line, " of %u", n_all);
  put (line->str);
  self->drawn_us = now_us;
  self->is_drawn = TRUE;
}

void
ss_progress_end (SsProgress *self)
{
  if (self->is_drawn)
    put (CLEAR_LINE);
  self->is_drawn = FALSE;
}
