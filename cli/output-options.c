/* SPDX-License-Identifier: MIT */
#include "cli/output-options.h"

#include <string.h>

#include "cli/console.h"
#include "output/file-writer.h"

void
ss_output_options_clear (SsOutputOptions *self)
{
  g_clear_pointer (&self->path, g_free);
}

gboolean
ss_output_options_check (const SsOutputOptions *self)
{
  g_autofree char *shown = NULL;

  if (g_strcmp0 (self->path, "") == 0)
    {
      ss_console_error ("-o: the name of the file is empty");
      return FALSE;
    }
  if (self->path == NULL || g_str_equal (self->path, "-") || self->replaces
      || !g_file_test (self->path, G_FILE_TEST_IS_REGULAR))
    return TRUE;
  shown = g_filename_display_name (self->path);
  ss_console_error ("%s: exists already; -f replaces it", shown);
  return FALSE;
}

SsExit
ss_output_options_write (const SsOutputOptions *self, const char *text)
{
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;

  if (self->path == NULL || g_str_equal (self->path, "-"))
    return ss_console_print (text) ? SS_EXIT_FITS : SS_EXIT_OUTPUT;
  bytes = g_bytes_new_static (text, strlen (text));
  if (ss_file_write (self->path, bytes, self->replaces, &error))
    return SS_EXIT_FITS;
  ss_console_output_error (error);
  return SS_EXIT_OUTPUT;
}

gboolean
ss_output_options_write_bytes (const SsOutputOptions *self, GBytes *bytes, GError **error)
{
  return ss_file_write (self->path != NULL ? self->path : "-", bytes, self->replaces, error);
}
