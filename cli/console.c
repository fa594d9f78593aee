/* SPDX-License-Identifier: MIT */
#include "cli/console.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "output/output.h"

static gboolean
write_all (int fd, const char *text, gsize n)
{
  while (n > 0)
    {
      gssize written = write (fd, text, n);

      if (written < 0 && errno == EINTR)
        continue;
      if (written < 0)
        return FALSE;
      text += written;
      n -= (gsize) written;
    }
  return TRUE;
}

gboolean
ss_console_print (const char *text)
{
  if (write_all (STDOUT_FILENO, text, strlen (text)))
    return TRUE;
  if (errno != EPIPE)
    ss_console_error ("cannot write to standard output: %s", g_strerror (errno));
  return FALSE;
}

void
ss_console_output_error (const GError *error)
{
  if (!g_error_matches (error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_READER))
    ss_console_error ("%s", error->message);
}

void
ss_console_error (const char *format, ...)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *message = NULL;
  g_auto (GStrv) lines = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  lines = g_strsplit (g_strchomp (message), "\n", -1);
  /* what an argument or a file brought must not reach the terminal as it is */
  for (char **line = lines; *line != NULL; line++)
    {
      g_autofree char *clean = ss_clean_text (*line);

      g_string_append_printf (text, "stepsim: %s\n", clean);
    }
  write_all (STDERR_FILENO, text->str, text->len);
}
