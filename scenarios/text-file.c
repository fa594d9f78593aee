/* SPDX-License-Identifier: MIT */
#include "scenarios/text-file.h"

#include <glib/gstdio.h>
#include <string.h>

char *
ss_text_file_load (const char *path, guint max_bytes, SsProblems *problems)
{
  GStatBuf info;
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  gsize length = 0;

  if (g_stat (path, &info) == 0 && !S_ISREG (info.st_mode))
    ss_problems_add (problems, path, 0, "is not a regular file");
  else if (g_stat (path, &info) == 0 && info.st_size > max_bytes)
    ss_problems_add (problems, path, 0, "is %" G_GINT64_FORMAT " bytes long; at most %u are read",
                     (gint64) info.st_size, max_bytes);
  else if (!g_file_get_contents (path, &text, &length, &error))
    ss_problems_add (problems, path, 0, "cannot be read: %s", error->message);
  else if (!g_utf8_validate (text, (gssize) length, NULL))
    ss_problems_add (problems, path, 0, "is not UTF-8 text");
  else if (text[strspn (text, " \t\r\n")] == '\0')
    ss_problems_add (problems, path, 0, "is empty");
  else
    return g_steal_pointer (&text);
  return NULL;
}
