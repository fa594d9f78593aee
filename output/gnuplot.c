/* SPDX-License-Identifier: MIT */
#include "output/gnuplot.h"

#include <gio/gio.h>
#include <string.h>

/* Doubling a quote is not enough: gnuplot 5.4 takes a doubled quote in only after another
 * character, so that one at the start, or two of them, end the string (tried; scanner.c looks ahead
 * from the character before). */
char *
ss_gnuplot_quote (const char *text)
{
  g_autofree char *clean = ss_clean_text (text);
  GString *quoted = g_string_new (clean);

  g_string_replace (quoted, "'", "\xe2\x80\x99", 0);
  g_string_prepend_c (quoted, '\'');
  g_string_append_c (quoted, '\'');
  return g_string_free (quoted, FALSE);
}

/* Gnuplot's complaint is several lines with a caret; the last that says something is the reason. */
static char *
last_words (GBytes *complaint)
{
  gsize size;
  const char *data = g_bytes_get_data (complaint, &size);
  g_autofree char *text = g_strndup (size > 0 ? data : "", size);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (guint i = g_strv_length (lines); i-- > 0;)
    if (*g_strstrip (lines[i]) != '\0')
      return ss_clean_text (lines[i]);
  return g_strdup ("no reason given");
}

/* --default-settings leaves out the start-up files of the user and the machine. */
static GSubprocess *
start (GError **error)
{
  g_autoptr (GSubprocessLauncher) launcher = NULL;
  g_autoptr (GError) cause = NULL;
  GSubprocess *process;

  launcher
      = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE
                                   | G_SUBPROCESS_FLAGS_STDERR_PIPE);
  g_subprocess_launcher_setenv (launcher, "LC_ALL", "C", TRUE);
  process = g_subprocess_launcher_spawn (launcher, &cause, "gnuplot", "--default-settings", NULL);
  if (process != NULL)
    return process;
  if (g_error_matches (cause, G_SPAWN_ERROR, G_SPAWN_ERROR_NOENT))
    g_set_error (
        error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_PROGRAM,
        "gnuplot is not installed: pictures need the package gnuplot (gnuplot-nox is enough)");
  else
    g_set_error (error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_PROGRAM, "gnuplot cannot be started: %s",
                 cause->message);
  return NULL;
}

GBytes *
ss_gnuplot_run (const char *script, GError **error)
{
  g_autoptr (GSubprocess) process = NULL;
  g_autoptr (GBytes) input = NULL, picture = NULL, complaint = NULL;
  g_autoptr (GError) cause = NULL;
  g_autofree char *words = NULL;

  g_return_val_if_fail (script != NULL, NULL);
  process = start (error);
  if (process == NULL)
    return NULL;
  input = g_bytes_new (script, strlen (script));
  if (!g_subprocess_communicate (process, input, NULL, &picture, &complaint, &cause))
    {
      g_set_error (error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_PROGRAM, "gnuplot: %s", cause->message);
      return NULL;
    }
  words = last_words (complaint);
  if (!g_subprocess_get_successful (process))
    g_set_error (error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_PROGRAM, "gnuplot failed: %s", words);
  else if (g_bytes_get_size (picture) == 0)
    g_set_error (error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_PROGRAM, "gnuplot drew nothing: %s",
                 words);
  else
    return g_steal_pointer (&picture);
  return NULL;
}
