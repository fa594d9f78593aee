/* SPDX-License-Identifier: MIT */
#include "output/file-writer.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static gboolean
fail (const char *path, int why, GError **error)
{
  g_autofree char *shown = g_filename_display_name (path);

  g_set_error (error, SS_OUTPUT_ERROR,
               why == EPIPE ? SS_OUTPUT_ERROR_READER : SS_OUTPUT_ERROR_WRITE,
               "%s: cannot write: %s", shown, g_strerror (why));
  return FALSE;
}

/* 0, or the errno of the write that failed. */
static int
write_all (int fd, GBytes *bytes)
{
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);

  while (size > 0)
    {
      gssize n = write (fd, data, size);

      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return errno;
      data += n;
      size -= (gsize) n;
    }
  return 0;
}

static gboolean
write_directly (const char *path, GBytes *bytes, GError **error)
{
  int fd = g_open (path, O_WRONLY | O_CLOEXEC, 0), why;

  if (fd < 0)
    return fail (path, errno, error);
  why = write_all (fd, bytes);
  if (close (fd) != 0 && why == 0)
    why = errno;
  return why == 0 || fail (path, why, error);
}

/* Full disks and quotas may speak up only at fsync or close. */
static gboolean
write_and_rename (const char *path, GBytes *bytes, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path), *name = g_path_get_basename (path);
  g_autofree char *hidden = g_strdup_printf (".%s.XXXXXX", name);
  g_autofree char *temporary = g_build_filename (folder, hidden, NULL);
  int fd = g_mkstemp_full (temporary, O_WRONLY | O_CLOEXEC, 0666), why;

  if (fd < 0)
    return fail (path, errno, error);
  why = write_all (fd, bytes);
  if (why == 0 && fsync (fd) != 0 && errno != EINVAL && errno != ENOTSUP)
    why = errno;
  if (close (fd) != 0 && why == 0)
    why = errno;
  if (why == 0 && g_rename (temporary, path) != 0)
    why = errno;
  if (why == 0)
    return TRUE;
  g_unlink (temporary);
  return fail (path, why, error);
}

gboolean
ss_file_write (const char *path, GBytes *bytes, gboolean replace, GError **error)
{
  g_autofree char *real = NULL;
  struct stat status;

  g_return_val_if_fail (path != NULL && bytes != NULL, FALSE);
  if (strcmp (path, "-") == 0)
    {
      int why = write_all (STDOUT_FILENO, bytes);

      return why == 0 || fail ("standard output", why, error);
    }
  if (stat (path, &status) != 0)
    return write_and_rename (path, bytes, error);
  if (S_ISDIR (status.st_mode))
    return fail (path, EISDIR, error);
  if (!S_ISREG (status.st_mode))
    return write_directly (path, bytes, error);
  if (!replace)
    {
      g_autofree char *shown = g_filename_display_name (path);

      g_set_error (error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_EXISTS,
                   "%s: exists already; -f replaces it", shown);
      return FALSE;
    }
  real = realpath (path, NULL);
  return write_and_rename (real != NULL ? real : path, bytes, error);
}

gboolean
ss_folder_make (const char *path, GError **error)
{
  g_return_val_if_fail (path != NULL, FALSE);
  if (g_mkdir_with_parents (path, 0777) != 0)
    return fail (path, errno, error);
  return TRUE;
}
