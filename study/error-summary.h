/* SPDX-License-Identifier: MIT
 *
 * SsErrorSummary: how far simulated figures are from measured ones, in percent.  A plain value.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  guint n;                       /* 0: the rest is 0 */
  double median_abs, p90_abs, median_signed;   /* percent; p90: the ceil (0.9 n)-th smallest */
} SsErrorSummary;

/* (simulated / measured - 1) in percent */
double ss_relative_error (double measured, double simulated);
/* Of doubles, percent; an even number's median is the mean of its middle two. */
SsErrorSummary ss_error_summary (const GArray *errors);

G_END_DECLS
