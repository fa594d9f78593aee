/* SPDX-License-Identifier: MIT
 *
 * How wide a text will be drawn, so that labels can be placed before anything is.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The face that pictures ask for, and whose widths these are. */
#define SS_FONT "DejaVu Sans"

/* Pixels of a line at a size in pixels, 8 % more than DejaVu Sans takes: another face may stand in
 * for it. */
double ss_text_width (const char *text, double size_px, gboolean is_bold);
/* The text, or as much of it as fits with an ellipsis. (transfer full) */
char *ss_text_fit (const char *text, double size_px, gboolean is_bold, double width_px);

G_END_DECLS
