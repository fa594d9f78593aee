/* SPDX-License-Identifier: MIT */
#include "study/csv-table.h"

#include <math.h>
#include <string.h>

G_DEFINE_QUARK (ss-csv-error-quark, ss_csv_error)

struct _SsCsvTable
{
  char *path;
  char *text;                    /* the file, fields ended in place */
  GPtrArray *header;             /* char * in text */
  GPtrArray *rows;               /* GPtrArray of char * in text */
  GArray *lines;                 /* guint */
};

/* One field from *at on, unquoted in place and ended; *at is behind it. Returns what ended it: ',',
 * '\n', or 0 at the end of the file. */
static char
take_field (char **at, char **field, guint *line)
{
  char *read = *at, *write = *at, ended_by;
  gboolean is_quoted = *read == '"';

  *field = write;
  if (is_quoted)
    for (read++; *read != '\0' && !(read[0] == '"' && read[1] != '"'); read++)
      {
        read += read[0] == '"';
        *line += *read == '\n';
        *write++ = *read;
      }
  read += is_quoted && *read == '"';
  while (*read != ',' && *read != '\n' && *read != '\0')
    {
      if (*read != '\r' || read[1] != '\n')
        *write++ = *read;
      read++;
    }
  ended_by = *read;
  *at = read + (ended_by != '\0');
  *write = '\0';
  *line += ended_by == '\n';
  return ended_by;
}

static GPtrArray *
take_row (char **at, guint *line)
{
  GPtrArray *row = g_ptr_array_new ();
  char ended_by;

  do
    {
      char *field;

      ended_by = take_field (at, &field, line);
      g_ptr_array_add (row, field);
    }
  while (ended_by == ',');
  return row;
}

static gboolean
is_blank (const GPtrArray *row)
{
  return row->len == 1 && *(const char *) row->pdata[0] == '\0';
}

static gboolean
refuse (const SsCsvTable *self, guint line, GError **error, const char *format, ...)
  G_GNUC_PRINTF (4, 5);

static gboolean
refuse (const SsCsvTable *self, guint line, GError **error, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list arguments;

  va_start (arguments, format);
  what = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, SS_CSV_ERROR, SS_CSV_ERROR_INPUT, "%s:%u: %s", self->path, line, what);
  return FALSE;
}

static gboolean
load (SsCsvTable *self, GError **error)
{
  g_autoptr (GMappedFile) file = g_mapped_file_new (self->path, FALSE, error);

  if (file == NULL)
    {
      if (error != NULL)
        {
          (*error)->domain = SS_CSV_ERROR;
          (*error)->code = SS_CSV_ERROR_INPUT;
        }
      return FALSE;
    }
  if (g_mapped_file_get_length (file) > SS_CSV_MAX_BYTES)
    return refuse (self, 0, error, "is larger than %d MiB", SS_CSV_MAX_BYTES >> 20);
  /* an empty file is mapped nowhere */
  if (g_mapped_file_get_length (file) == 0)
    return refuse (self, 1, error, "is empty; a row of column names was expected");
  self->text = g_strndup (g_mapped_file_get_contents (file), g_mapped_file_get_length (file));
  if (strlen (self->text) != g_mapped_file_get_length (file)
      || !g_utf8_validate (self->text, -1, NULL))
    return refuse (self, 0, error, "is no text in UTF-8");
  return TRUE;
}

static gboolean
parse (SsCsvTable *self, const char *const *columns, GError **error)
{
  char *at = self->text;
  guint line = 1;

  self->header = take_row (&at, &line);
  for (const char *const *column = columns; *column != NULL; column++)
    if (!ss_csv_table_has (self, *column))
      return refuse (self, 1, error, "has no column \"%s\"", *column);
  while (*at != '\0')
    {
      guint begins = line;
      g_autoptr (GPtrArray) row = take_row (&at, &line);

      if (is_blank (row))
        continue;
      if (row->len != self->header->len)
        return refuse (self, begins, error, "has %u fields; the header has %u", row->len,
                       self->header->len);
      g_array_append_val (self->lines, begins);
      g_ptr_array_add (self->rows, g_steal_pointer (&row));
    }
  return TRUE;
}

SsCsvTable *
ss_csv_table_read (const char *path, const char *const *columns, GError **error)
{
  g_autoptr (SsCsvTable) self = g_new0 (SsCsvTable, 1);

  self->path = g_strdup (path);
  self->rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_ptr_array_unref);
  self->lines = g_array_new (FALSE, FALSE, sizeof (guint));
  if (!load (self, error) || !parse (self, columns, error))
    return NULL;
  return g_steal_pointer (&self);
}

void
ss_csv_table_free (SsCsvTable *self)
{
  if (self == NULL)
    return;
  g_clear_pointer (&self->header, g_ptr_array_unref);
  g_ptr_array_unref (self->rows);
  g_array_unref (self->lines);
  g_free (self->text);
  g_free (self->path);
  g_free (self);
}

static guint
index_of (const SsCsvTable *self, const char *column)
{
  guint i = 0;

  while (i < self->header->len && !g_str_equal (self->header->pdata[i], column))
    i++;
  return i;
}

gboolean
ss_csv_table_has (const SsCsvTable *self, const char *column)
{
  return index_of (self, column) < self->header->len;
}

guint
ss_csv_table_n_rows (const SsCsvTable *self)
{
  return self->rows->len;
}

guint
ss_csv_table_line (const SsCsvTable *self, guint row)
{
  return g_array_index (self->lines, guint, row);
}

const char *
ss_csv_table_get (const SsCsvTable *self, guint row, const char *column)
{
  const GPtrArray *fields = self->rows->pdata[row];
  guint i = index_of (self, column);

  return i < fields->len ? fields->pdata[i] : "";
}

gboolean
ss_csv_table_number (const SsCsvTable *self, guint row, const char *column, double *value,
                     GError **error)
{
  const char *text = ss_csv_table_get (self, row, column);
  char *end;

  if (*text == '\0')
    return FALSE;
  *value = g_ascii_strtod (text, &end);
  if (*end == '\0' && isfinite (*value) && *value >= 0)
    return TRUE;
  return refuse (self, ss_csv_table_line (self, row), error,
                 "%s: \"%.40s\" is no number of 0 or above", column, text);
}
