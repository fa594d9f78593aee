/* SPDX-License-Identifier: MIT */
#include "cli/picture.h"

#include "cli/console.h"

gboolean
ss_picture_find_format (SsPictureOptions *self, const char *path)
{
  g_autofree char *lower = path != NULL ? g_ascii_strdown (path, -1) : NULL;
  g_autofree char *shown = NULL;

  self->format = SS_CANVAS_PNG;
  if (lower == NULL || g_str_equal (lower, "-") || g_str_has_suffix (lower, ".png"))
    return TRUE;
  self->format = SS_CANVAS_SVG;
  if (g_str_has_suffix (lower, ".svg"))
    return TRUE;
  shown = g_filename_display_name (path);
  ss_console_error ("%s: a picture is a file .png or .svg", shown);
  return FALSE;
}

void
ss_picture_error (const GError *error)
{
  if (g_error_matches (error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_PROGRAM))
    ss_console_error ("%s; --gnuplot-script prints what it would draw", error->message);
  else
    ss_console_output_error (error);
}

gboolean
ss_picture_print_script (const SsPictureOptions *self, const SsCanvas *canvas)
{
  g_autofree char *script = ss_canvas_script (canvas, self->format);

  return ss_console_print (script);
}
