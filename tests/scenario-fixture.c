/* SPDX-License-Identifier: MIT */
#include "scenario-fixture.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <glib/gstdio.h>
#include <string.h>

char *
fixture_folder (void)
{
  return g_dir_make_tmp ("stepsim-XXXXXX", NULL);
}

void
fixture_discard (char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *entry;

  while ((entry = g_dir_read_name (dir)))
    {
      g_autofree char *path = g_build_filename (folder, entry, NULL);

      g_remove (path);
    }
  g_rmdir (folder);
  g_free (folder);
}

char *
fixture_write (const char *folder, const char *name, const char *bytes, gssize n)
{
  char *path = g_build_filename (folder, name, NULL);

  cr_assert (g_file_set_contents (path, bytes, n, NULL));
  return path;
}

char *
fixture_source (const char *name)
{
  return g_build_filename (SS_SOURCE_DIR, name, NULL);
}

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

char **
fixture_list (const char *folder)
{
  g_autofree char *path = fixture_source (folder);
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  GPtrArray *names = g_ptr_array_new ();
  const char *entry;

  while ((entry = g_dir_read_name (dir)))
    if (g_str_has_suffix (entry, ".xml"))
      g_ptr_array_add (names, g_strndup (entry, strlen (entry) - strlen (".xml")));
  g_ptr_array_sort (names, compare_names);
  g_ptr_array_add (names, NULL);
  return (char **) g_ptr_array_free (names, FALSE);
}

SsScenario *
fixture_load (const char *path, const char *const *overrides)
{
  g_autoptr (GError) error = NULL;
  SsScenario *scenario = ss_scenario_load (path, overrides, &error);

  cr_assert (scenario != NULL, "%s: %s", path, error ? error->message : "no error");
  return scenario;
}

char *
fixture_said (const char *bytes, gssize n, const char *const *overrides, gint *code)
{
  char *folder = fixture_folder ();
  g_autofree char *path = fixture_write (folder, "s.xml", bytes, n);
  g_autofree char *prefix = g_strdup_printf ("%s/", folder);
  g_autoptr (GError) error = NULL;
  g_autoptr (SsScenario) scenario = ss_scenario_load (path, overrides, &error);
  g_auto (GStrv) parts = g_strsplit (error ? error->message : "", prefix, -1);

  fixture_discard (folder);
  cr_assert (scenario == NULL || error == NULL);
  cr_assert (error == NULL || error->domain == SS_SCENARIO_ERROR);
  *code = error ? error->code : -1;
  return g_strjoinv ("", parts);
}
