/* SPDX-License-Identifier: MIT */
#include "study/error-summary.h"

#include <math.h>

double
ss_relative_error (double measured, double simulated)
{
  return (simulated / measured - 1) * 100;
}

static int
compare (gconstpointer a, gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

/* (transfer full) */
static double *
sorted (const GArray *errors, gboolean is_absolute)
{
  double *values = g_memdup2 (errors->data, errors->len * sizeof (double));

  for (guint i = 0; is_absolute && i < errors->len; i++)
    values[i] = fabs (values[i]);
  qsort (values, errors->len, sizeof *values, compare);
  return values;
}

static double
middle (const double *values, guint n)
{
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

SsErrorSummary
ss_error_summary (const GArray *errors)
{
  guint n = errors->len;
  g_autofree double *by_size = NULL, *by_value = NULL;

  if (n == 0)
    return (SsErrorSummary) { 0 };
  by_size = sorted (errors, TRUE);
  by_value = sorted (errors, FALSE);
  return (SsErrorSummary) {
    .n = n, .median_abs = middle (by_size, n), .p90_abs = by_size[(9 * n + 9) / 10 - 1],
    .median_signed = middle (by_value, n),
  };
}
