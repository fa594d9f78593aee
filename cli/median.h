/* SPDX-License-Identifier: MIT
 *
 * The median of a benchmark's repeats.  It owns nothing.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Sorts the values; of an even number the upper of the middle two. `n` is at least 1. */
double ss_median (double *values, guint n);

G_END_DECLS
