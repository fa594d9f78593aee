/* SPDX-License-Identifier: MIT */
#include "cli/median.h"

#include <stdlib.h>

static int
compare_doubles (gconstpointer a, gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

double
ss_median (double *values, guint n)
{
  g_return_val_if_fail (n > 0, 0);
  qsort (values, n, sizeof *values, compare_doubles);
  return values[n / 2];
}
