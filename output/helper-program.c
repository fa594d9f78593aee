/* SPDX-License-Identifier: MIT */
#include "output/helper-program.h"

#include <gio/gio.h>

/* A complaint may be several lines with a caret; the last that says something is the reason. */
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

static GSubprocess *
start (const char *const *argv, const char *missing, GError **error)
{
  g_autoptr (GSubprocessLauncher) launcher = NULL;
  g_autoptr (GError) cause = NULL;
  GSubprocess *process;

  launcher
      = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE
                                   | G_SUBPROCESS_FLAGS_STDERR_PIPE);
  g_subprocess_launcher_setenv (launcher, "LC_ALL", "C", TRUE);
  process = g_subprocess_launcher_spawnv (launcher, argv, &cause);
  if (process != NULL)
    return process;
  if (g_error_matches (cause, G_SPAWN_ERROR, G_SPAWN_ERROR_NOENT))
    g_set_error_literal (error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_PROGRAM, missing);
  else
    g_set_error (error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_PROGRAM, "%s cannot be started: %s",
                 argv[0], cause->message);
  return NULL;
}

/* Why it is no success: its own words, or how it ended. (transfer full) */
static char *
reason_of (GSubprocess *process, GBytes *complaint)
{
  if (complaint != NULL && g_bytes_get_size (complaint) > 0)
    return last_words (complaint);
  if (g_subprocess_get_if_signaled (process))
    return g_strdup_printf ("ended by signal %d", g_subprocess_get_term_sig (process));
  return g_strdup_printf ("exit status %d, no reason given",
                          g_subprocess_get_exit_status (process));
}

/* One that ended before it had read all shows here as a broken pipe, which says nothing to whoever
 * wants a picture. */
static void
fail_to_talk (GSubprocess *process, const char *name, const GError *cause, GError **error)
{
  g_autofree char *reason = NULL;

  if (g_error_matches (cause, G_IO_ERROR, G_IO_ERROR_BROKEN_PIPE)
      && g_subprocess_wait (process, NULL, NULL))
    reason = reason_of (process, NULL);
  g_set_error (error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_PROGRAM, "%s failed: %s", name,
               reason != NULL ? reason : cause->message);
}

GBytes *
ss_helper_program_run (const char *const *argv, GBytes *input, const char *missing, char **said,
                       GError **error)
{
  g_autoptr (GSubprocess) process = start (argv, missing, error);
  g_autoptr (GBytes) output = NULL, complaint = NULL;
  g_autoptr (GError) cause = NULL;
  g_autofree char *words = NULL;

  if (process == NULL)
    return NULL;
  if (!g_subprocess_communicate (process, input, NULL, &output, &complaint, &cause))
    {
      fail_to_talk (process, argv[0], cause, error);
      return NULL;
    }
  if (!g_subprocess_get_successful (process))
    {
      words = reason_of (process, complaint);
      g_set_error (error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_PROGRAM, "%s failed: %s", argv[0],
                   words);
      return NULL;
    }
  if (said != NULL)
    *said = last_words (complaint);
  return g_steal_pointer (&output);
}
