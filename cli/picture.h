/* SPDX-License-Identifier: MIT
 *
 * What the commands that draw one picture share: the format that a file's name asks for, and the
 * script in place of the picture.  It knows no picture.  The command owns the struct.
 */
#pragma once

#include "output/figures/canvas.h"

G_BEGIN_DECLS

typedef struct
{
  SsCanvasFormat format;
  gboolean is_script;            /* gnuplot's script is printed and nothing else, no file written */
} SsPictureOptions;

/* The row of a GOptionEntry table. */
#define SS_PICTURE_OPTION_ENTRY(self)                                                              \
  { "gnuplot-script", 0, 0, G_OPTION_ARG_NONE, &(self).is_script,                                  \
    "Print the picture's script for gnuplot, and write nothing", NULL }

/* The format by the end of the name; a PNG for standard output ("-") and for NULL. FALSE and said:
 * it ends neither in .png nor in .svg. */
gboolean ss_picture_find_format (SsPictureOptions *self, const char *path);
/* Prints the script. FALSE and said, as ss_console_print has it. */
gboolean ss_picture_print_script (const SsPictureOptions *self, const SsCanvas *canvas);
/* Says why there is no picture, and what does without gnuplot. */
void ss_picture_error (const GError *error);

G_END_DECLS
