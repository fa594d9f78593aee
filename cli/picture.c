/* SPDX-License-Identifier: MIT */
#include "cli/picture.h"

#include "cli/console.h"

gboolean
ss_picture_format (const char *path, SsCanvasFormat *format)
{
  g_autofree char *lower = path != NULL ? g_ascii_strdown (path, -1) : NULL;
  g_autofree char *shown = NULL;

  *format = SS_CANVAS_PNG;
  if (lower == NULL || g_str_equal (lower, "-") || g_str_has_suffix (lower, ".png"))
    return TRUE;
  *format = SS_CANVAS_SVG;
  if (g_str_has_suffix (lower, ".svg"))
    return TRUE;
  shown = g_filename_display_name (path);
  ss_console_error ("%s: a picture is a file .png or .svg", shown);
  return FALSE;
}
