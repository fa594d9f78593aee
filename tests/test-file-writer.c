/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output/file-writer.h"

static GBytes *
some_bytes (const char *text)
{
  return g_bytes_new (text, strlen (text));
}

static char *
new_folder (void)
{
  char *folder = g_dir_make_tmp ("stepsim-XXXXXX", NULL);

  cr_assert (ne (ptr, folder, NULL));
  return folder;
}

static guint
n_files (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  guint n = 0;

  while (g_dir_read_name (dir) != NULL)
    n++;
  return n;
}

Test (file_writer, writes_all_and_leaves_nothing_else)
{
  g_autofree char *folder = new_folder (), *path = g_build_filename (folder, "a file.txt", NULL),
                  *text = NULL;
  g_autoptr (GBytes) bytes = some_bytes ("all of it\n");
  g_autoptr (GError) error = NULL;

  cr_assert (ss_file_write (path, bytes, FALSE, &error));
  cr_assert (g_file_get_contents (path, &text, NULL, NULL));
  cr_assert (eq (str, text, "all of it\n"));
  cr_assert (eq (uint, n_files (folder), 1));
  g_unlink (path);
  g_rmdir (folder);
}

Test (file_writer, an_existing_file_is_replaced_only_when_asked)
{
  g_autofree char *folder = new_folder (), *path = g_build_filename (folder, "f", NULL),
                  *text = NULL;
  g_autoptr (GBytes) bytes = some_bytes ("new");
  g_autoptr (GError) error = NULL;

  cr_assert (g_file_set_contents (path, "old", -1, NULL));
  cr_assert (not (ss_file_write (path, bytes, FALSE, &error)));
  cr_assert (g_error_matches (error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_EXISTS));
  cr_assert (ne (ptr, strstr (error->message, "exists already; -f replaces it"), NULL));
  g_clear_error (&error);
  cr_assert (ss_file_write (path, bytes, TRUE, &error));
  cr_assert (g_file_get_contents (path, &text, NULL, NULL));
  cr_assert (eq (str, text, "new"));
  g_unlink (path);
  g_rmdir (folder);
}

Test (file_writer, a_link_stays_a_link)
{
  g_autofree char *folder = new_folder (), *path = g_build_filename (folder, "f", NULL);
  g_autofree char *link_path = g_build_filename (folder, "link", NULL), *text = NULL;
  g_autoptr (GBytes) bytes = some_bytes ("new");
  struct stat status;

  cr_assert (g_file_set_contents (path, "old", -1, NULL));
  cr_assert (eq (int, symlink ("f", link_path), 0));
  cr_assert (ss_file_write (link_path, bytes, TRUE, NULL));
  cr_assert (g_file_get_contents (path, &text, NULL, NULL));
  cr_assert (eq (str, text, "new"));
  cr_assert (eq (int, lstat (link_path, &status), 0));
  cr_assert (eq (int, status.st_mode & S_IFMT, S_IFLNK));
  g_unlink (link_path);
  g_unlink (path);
  g_rmdir (folder);
}

/* Each path and what the message must say; a user who may write everywhere still cannot write into
 * these. */
Test (file_writer, what_cannot_be_written_is_an_error)
{
  static const struct
  {
    const char *path, *text;
  } rows[] = {
    { "/dev/full", "No space left on device" },
    { "/proc/nowhere/f", "No such file or directory" },
    { "/proc/f", "cannot write" },
    { "/tmp", "Is a directory" },
    { "/dev/null/f", "Not a directory" },
  };
  g_autoptr (GBytes) bytes = some_bytes ("text");

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;

      cr_assert (not (ss_file_write (rows[i].path, bytes, TRUE, &error)), "%s", rows[i].path);
      cr_expect (g_error_matches (error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_WRITE), "%s",
                 rows[i].path);
      cr_expect (g_str_has_prefix (error->message, rows[i].path), "%s", error->message);
      cr_expect (ne (ptr, strstr (error->message, rows[i].text), NULL), "%s", error->message);
    }
}

Test (file_writer, a_folder_that_cannot_be_made_is_an_error)
{
  g_autoptr (GError) error = NULL;

  cr_assert (ss_folder_make ("/tmp", &error));
  cr_assert (not (ss_folder_make ("/proc/nowhere", &error)));
  cr_assert (g_error_matches (error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_WRITE));
}
