/* SPDX-License-Identifier: MIT
 *
 * Outlines of columns of equal width, as the points of a stair.  Pure geometry; it knows no memory.
 */
#pragma once

#include "output/figures/canvas.h"

G_BEGIN_DECLS

/* A change of less than this is not seen, and leaving it out keeps drawings small. */
#define SS_VISIBLE_PX 0.35

/* SsPoint of the columns' heights, each `width` wide, from `left` on; at least one column.
 * (transfer full) */
GArray *ss_stair (const double *y, guint n_columns, double left, double width);
/* Somewhere there is something to see between two heights, y down. */
gboolean ss_stair_is_seen (const double *upper, const double *lower, guint n_columns);

G_END_DECLS
