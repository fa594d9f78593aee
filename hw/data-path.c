/* SPDX-License-Identifier: MIT */
#include "hw/data-path.h"

#include <string.h>

/* Folder of the running program, or NULL where the system does not tell. */
static char *
program_folder (void)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);

  return program == NULL ? NULL : g_path_get_dirname (program);
}

static gboolean
is_inside (const char *folder, const char *root)
{
  return g_str_has_prefix (folder, root) && strchr ("/", folder[strlen (root)]) != NULL;
}

/* The places to look in, best first; with_user: the user's own before them. */
static GPtrArray *
places (gboolean with_user)
{
  GPtrArray *all = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *folder = program_folder ();
  const char *const *system_dirs = g_get_system_data_dirs ();

  if (with_user)
    g_ptr_array_add (all, g_build_filename (g_get_user_data_dir (), "stepsim", NULL));
  if (folder != NULL && is_inside (folder, STEPSIM_BUILD_ROOT))
    g_ptr_array_add (all, g_strdup (STEPSIM_SOURCE_ROOT));
  g_ptr_array_add (all, g_strdup (STEPSIM_DATADIR));
  if (folder != NULL)
    g_ptr_array_add (all, g_build_filename (folder, "..", "share", "stepsim", NULL));
  for (guint i = 0; system_dirs[i] != NULL; i++)
    g_ptr_array_add (all, g_build_filename (system_dirs[i], "stepsim", NULL));
  return all;
}

char *
ss_data_find (const char *name)
{
  g_autoptr (GPtrArray) all = NULL;

  if (strstr (name, "..") != NULL || g_path_is_absolute (name))
    return NULL;
  all = places (!g_str_has_suffix (name, ".xsd"));
  for (guint i = 0; i < all->len; i++)
    {
      g_autofree char *path = g_build_filename (all->pdata[i], name, NULL);

      if (g_file_test (path, G_FILE_TEST_IS_REGULAR))
        return g_steal_pointer (&path);
    }
  return NULL;
}

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

char **
ss_data_list (const char *folder)
{
  g_autoptr (GPtrArray) all = places (TRUE);
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < all->len; i++)
    {
      g_autofree char *path = g_build_filename (all->pdata[i], folder, NULL);
      g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
      const char *entry;

      while (dir != NULL && (entry = g_dir_read_name (dir)) != NULL)
        if (g_str_has_suffix (entry, ".xml") && entry[0] != '.')
          g_ptr_array_add (names, g_strndup (entry, strlen (entry) - strlen (".xml")));
    }
  g_ptr_array_sort (names, compare_names);
  for (guint i = names->len; i > 1; i--)
    if (g_str_equal (names->pdata[i - 1], names->pdata[i - 2]))
      g_ptr_array_remove_index (names, i - 1);
  g_ptr_array_add (names, NULL);
  return (char **) g_ptr_array_free (names, FALSE);
}
