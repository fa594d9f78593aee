/* SPDX-License-Identifier: MIT
 *
 * SsCsvTable: a table of text, as RFC 4180 has it: a header, quoted fields, one row a line.  It
 * knows no column's meaning.  The one who read it owns it.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define SS_CSV_ERROR (ss_csv_error_quark ())
GQuark ss_csv_error_quark (void);
typedef enum
{
  SS_CSV_ERROR_INPUT             /* "file:line: what" */
} SsCsvError;

/* Largest file that is read. */
#define SS_CSV_MAX_BYTES (64 * 1024 * 1024)

typedef struct _SsCsvTable SsCsvTable;

/* Needs all of `columns` (NULL-terminated) in the header. SS_CSV_ERROR_INPUT. (transfer full) */
SsCsvTable *ss_csv_table_read (const char *path, const char *const *columns, GError **error);
void ss_csv_table_free (SsCsvTable *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsCsvTable, ss_csv_table_free)

gboolean ss_csv_table_has (const SsCsvTable *self, const char *column);
guint ss_csv_table_n_rows (const SsCsvTable *self);
guint ss_csv_table_line (const SsCsvTable *self, guint row);
/* "" where the table has no such column. (transfer none) */
const char *ss_csv_table_get (const SsCsvTable *self, guint row, const char *column);
/* A number as the field has it: TRUE and *value, FALSE if it is empty; *error if it is neither. */
gboolean ss_csv_table_number (const SsCsvTable *self, guint row, const char *column, double *value,
                              GError **error);

G_END_DECLS
