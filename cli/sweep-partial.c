/* SPDX-License-Identifier: MIT
 *
 * The file: a line with the question's checksum, then for each point its length in 8 hexadecimal
 * digits, the SHA-256 of what follows in 64, a newline, the index in 8, and the row.
 */
#include "cli/sweep-partial.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "stepsim sweep 1 "
#define SUM_LENGTH 64
#define FRAME (8 + SUM_LENGTH + 1)
#define MAX_FILE_BYTES (G_GUINT64_CONSTANT (4) << 30)
#define MAX_ROW_BYTES (64u << 20)

struct _SsSweepPartial
{
  char *path;
  char *header;                  /* the first line, newline included */
  int fd;
};

char *
ss_sweep_partial_path (const char *output)
{
  g_autofree char *folder = g_path_get_dirname (output), *name = g_path_get_basename (output);
  g_autofree char *hidden = g_strdup_printf (".%s.partial", name);

  return g_build_filename (folder, hidden, NULL);
}

static gboolean
fail (const SsSweepPartial *self, const char *why, GError **error)
{
  g_autofree char *shown = g_filename_display_name (self->path);

  g_set_error (error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_WRITE, "%s: %s", shown, why);
  return FALSE;
}

static gboolean
write_all (int fd, const char *data, gsize n)
{
  while (n > 0)
    {
      gssize written = write (fd, data, n);

      if (written < 0 && errno == EINTR)
        continue;
      if (written < 0)
        return FALSE;
      data += written;
      n -= (gsize) written;
    }
  return TRUE;
}

/* ---- what is there ---- */

static gboolean
parse_hex (const char *text, guint32 *number)
{
  *number = 0;
  for (guint i = 0; i < 8; i++)
    {
      if (!g_ascii_isxdigit (text[i]))
        return FALSE;
      *number = *number * 16 + (guint32) g_ascii_xdigit_value (text[i]);
    }
  return TRUE;
}

/* One record; 0: from here on nothing is whole. */
static gsize
read_record (const char *data, gsize n, SsSweepRow **rows, guint n_rows, guint n_values)
{
  guint32 length, index;
  g_autofree char *sum = NULL;
  g_autoptr (GBytes) bytes = NULL;
  SsSweepRow *row;

  if (n < FRAME || !parse_hex (data, &length) || data[FRAME - 1] != '\n' || length < 8
      || length > MAX_ROW_BYTES || length > n - FRAME)
    return 0;
  sum = g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *) data + FRAME, length);
  if (strncmp (sum, data + 8, SUM_LENGTH) != 0 || !parse_hex (data + FRAME, &index)
      || index >= n_rows)
    return 0;
  bytes = g_bytes_new (data + FRAME + 8, length - 8);
  row = ss_sweep_row_from_bytes (bytes, n_values);
  if (row == NULL)
    return 0;
  g_clear_pointer (&rows[index], ss_sweep_row_free);
  rows[index] = row;
  return FRAME + length;
}

/* How much of the file is to be kept. */
static gsize
read_records (const SsSweepPartial *self, const char *data, gsize n, SsSweepRow **rows,
              guint n_rows, guint n_values)
{
  gsize at = strlen (self->header), step;

  if (n < at || strncmp (data, self->header, at) != 0)
    return 0;
  while ((step = read_record (data + at, n - at, rows, n_rows, n_values)) > 0)
    at += step;
  return at;
}

static gboolean
start_anew (SsSweepPartial *self, GError **error)
{
  if (ftruncate (self->fd, 0) == 0 && write_all (self->fd, self->header, strlen (self->header)))
    return TRUE;
  return fail (self, g_strerror (errno), error);
}

/* A file that does not begin as ours do is somebody's. */
static gboolean
is_ours (const char *data, gsize n)
{
  return strncmp (data, MAGIC, MIN (n, strlen (MAGIC))) == 0;
}

static gboolean
take_up (SsSweepPartial *self, SsSweepRow **rows, guint n_rows, guint n_values, GError **error)
{
  g_autoptr (GMappedFile) file = g_mapped_file_new_from_fd (self->fd, FALSE, NULL);
  gsize n = file != NULL ? g_mapped_file_get_length (file) : 0, kept = 0;
  const char *data = n > 0 ? g_mapped_file_get_contents (file) : "";

  if (n > 0 && !is_ours (data, n))
    return fail (self, "is there and is not of a sweep; move it away", error);
  if (n > 0 && n <= MAX_FILE_BYTES)
    kept = read_records (self, data, n, rows, n_rows, n_values);
  g_clear_pointer (&file, g_mapped_file_unref);
  if (kept == 0)
    return start_anew (self, error);
  if (ftruncate (self->fd, (off_t) kept) != 0)
    return fail (self, g_strerror (errno), error);
  return TRUE;
}

/* No link is followed and no device opened: the name is ours to choose, what is there may not
 * be. */
static gboolean
open_file (SsSweepPartial *self, GError **error)
{
  struct stat status;

  self->fd = g_open (self->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
                     0666);
  if (self->fd < 0)
    return fail (self, g_strerror (errno), error);
  if (fstat (self->fd, &status) != 0 || !S_ISREG (status.st_mode))
    return fail (self, "is no file", error);
  if (flock (self->fd, LOCK_EX | LOCK_NB) != 0)
    return fail (self, "another sweep is writing it", error);
  return TRUE;
}

SsSweepPartial *
ss_sweep_partial_open (const char *output, const char *question, SsSweepRow **rows, guint n_rows,
                       guint n_values, GError **error)
{
  SsSweepPartial *self = g_new0 (SsSweepPartial, 1);
  g_autofree char *sum = g_compute_checksum_for_string (G_CHECKSUM_SHA256, question, -1);

  self->path = ss_sweep_partial_path (output);
  self->header = g_strdup_printf (MAGIC "%s\n", sum);
  if (open_file (self, error) && take_up (self, rows, n_rows, n_values, error))
    return self;
  ss_sweep_partial_close (self, FALSE);
  return NULL;
}

void
ss_sweep_partial_reset (SsSweepPartial *self)
{
  start_anew (self, NULL);
}

/* In one write, so that a record is cut off at most at the end of the file. */
void
ss_sweep_partial_add (SsSweepPartial *self, guint index, const SsSweepRow *row)
{
  g_autoptr (GBytes) bytes = ss_sweep_row_to_bytes (row);
  g_autoptr (GString) record = g_string_new (NULL);
  g_autofree char *sum = NULL;
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);

  if (size > MAX_ROW_BYTES - 8)
    return;
  g_string_printf (record, "%08x", index);
  g_string_append_len (record, data, (gssize) size);
  sum = g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *) record->str, record->len);
  g_string_prepend_c (record, '\n');
  g_string_prepend (record, sum);
  g_free (sum);
  sum = g_strdup_printf ("%08x", (guint) size + 8);
  g_string_prepend (record, sum);
  write_all (self->fd, record->str, record->len);
}

void
ss_sweep_partial_close (SsSweepPartial *self, gboolean is_done)
{
  if (self == NULL)
    return;
  if (is_done)
    g_unlink (self->path);
  if (self->fd >= 0)
    close (self->fd);
  g_free (self->path);
  g_free (self->header);
  g_free (self);
}
