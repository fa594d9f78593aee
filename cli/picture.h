/* SPDX-License-Identifier: MIT
 *
 * What the commands that draw one picture share: the format that a file's name asks for.  It knows
 * no picture.
 */
#pragma once

#include "output/canvas.h"

G_BEGIN_DECLS

/* By the end of the name; a PNG for standard output ("-") and for NULL. FALSE and said: it ends
 * neither in .png nor in .svg. */
gboolean ss_picture_format (const char *path, SsCanvasFormat *format);

G_END_DECLS
