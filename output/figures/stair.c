/* SPDX-License-Identifier: MIT */
#include "output/figures/stair.h"

#include <math.h>

static void
add_point (GArray *points, double x, double y)
{
  SsPoint point = { x, y };

  g_array_append_val (points, point);
}

GArray *
ss_stair (const double *y, guint n_columns, double left, double width)
{
  GArray *points = g_array_new (FALSE, FALSE, sizeof (SsPoint));
  double last = y[0];

  add_point (points, left, last);
  for (guint i = 1; i < n_columns; i++)
    {
      if (fabs (y[i] - last) < SS_VISIBLE_PX)
        continue;
      add_point (points, left + i * width, last);
      add_point (points, left + i * width, y[i]);
      last = y[i];
    }
  add_point (points, left + n_columns * width, last);
  return points;
}

gboolean
ss_stair_is_seen (const double *upper, const double *lower, guint n_columns)
{
  for (guint i = 0; i < n_columns; i++)
    if (lower[i] - upper[i] >= SS_VISIBLE_PX)
      return TRUE;
  return FALSE;
}
