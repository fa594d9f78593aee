/* SPDX-License-Identifier: MIT */
#include "cli/stamp.h"

#include "cli/console.h"

gboolean
ss_stamp_find (gboolean is_asked, char **date)
{
  const char *epoch = g_getenv ("SOURCE_DATE_EPOCH");
  g_autoptr (GDateTime) time = NULL;
  gint64 seconds;

  *date = NULL;
  if (epoch != NULL && *epoch != '\0')
    {
      if (g_ascii_string_to_signed (epoch, 10, 0, G_MAXINT64, &seconds, NULL))
        time = g_date_time_new_from_unix_utc (seconds);
    }
  else if (is_asked)
    time = g_date_time_new_now_utc ();
  else
    return TRUE;
  if (time == NULL)
    {
      ss_console_error ("SOURCE_DATE_EPOCH: \"%s\" is no time in seconds", epoch);
      return FALSE;
    }
  *date = g_date_time_format (time, "%Y-%m-%dT%H:%M:%SZ");
  return TRUE;
}
