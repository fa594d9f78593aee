/* SPDX-License-Identifier: MIT */
#include "cli-fixture.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <glib/gstdio.h>
#include <string.h>
#include <sys/wait.h>

static char *folder;

void
ss_cli_make_folder (void)
{
  folder = g_dir_make_tmp ("stepsim-test-XXXXXX", NULL);
}

static void
remove_tree (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *child = g_build_filename (path, name, NULL);

      remove_tree (child);
    }
  g_remove (path);
}

const char *
ss_cli_folder (void)
{
  return folder;
}

void
ss_cli_remove_folder (void)
{
  remove_tree (folder);
  g_clear_pointer (&folder, g_free);
}

void
ss_cli_result_clear (SsCliResult *self)
{
  g_free (self->out);
  g_free (self->err);
}

/* Nothing of who runs the tests: the file of settings is looked for in the test's folder. */
static char **
make_environment (void)
{
  char **environment = g_environ_setenv (g_get_environ (), "XDG_CONFIG_HOME", folder, TRUE);

  environment = g_environ_unsetenv (environment, "SOURCE_DATE_EPOCH");
  return g_environ_unsetenv (environment, "NO_COLOR");
}

SsCliResult
ss_cli_spawn (const char *const *argv)
{
  g_auto (GStrv) environment = make_environment ();
  g_autoptr (GError) error = NULL;
  SsCliResult result = { 0 };
  int wait_status = 0;

  g_spawn_sync (folder, (char **) argv, environment, G_SPAWN_SEARCH_PATH, NULL, NULL, &result.out,
                &result.err, &wait_status, &error);
  cr_assert (eq (ptr, error, NULL), "%s", error != NULL ? error->message : "");
  result.status
      = WIFEXITED (wait_status) ? WEXITSTATUS (wait_status) : 128 + WTERMSIG (wait_status);
  return result;
}

SsCliResult
ss_cli_shell (const char *line)
{
  g_autofree char *script = g_strdup_printf ("S='%s' F='%s'; %s", SS_STEPSIM, SS_TEACHING, line);

  return ss_cli_spawn ((const char *const[]) { "/bin/sh", "-c", script, NULL });
}

char *
ss_cli_write (const char *name, const char *contents, gssize length)
{
  char *path = g_build_filename (folder, name, NULL);

  cr_assert (g_file_set_contents (path, contents, length, NULL));
  return path;
}

char *
ss_cli_read (const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  char *contents = NULL;

  g_file_get_contents (path, &contents, NULL, NULL);
  return contents;
}

gboolean
ss_cli_lines_are_ours (const char *err)
{
  g_auto (GStrv) lines = g_strsplit (err, "\n", -1);

  for (char **line = lines; *line != NULL; line++)
    if (**line != '\0' && !g_str_has_prefix (*line, "stepsim: "))
      return FALSE;
  return TRUE;
}

guint
ss_cli_count_lines (const char *text)
{
  guint n = 0;

  for (; *text != '\0'; text++)
    n += *text == '\n';
  return n;
}
