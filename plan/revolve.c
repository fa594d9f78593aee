/* SPDX-License-Identifier: MIT */
#include "plan/revolve.h"

SsRevolve
ss_revolve (guint n_steps, guint n_slots)
{
  /* with as many slots as steps none is run again, and no product below passes 2^60 */
  guint64 l = n_steps, c = MIN (n_slots, n_steps), r = 0, reachable = 1;

  g_return_val_if_fail (l >= 1 && l <= SS_REVOLVE_MAX_STEPS && c >= 1, (SsRevolve) { 0 });
  while (reachable < l)
    {
      r++;
      /* C(c + r, c) of C(c + r - 1, c) */
      reachable = reachable * (c + r) / r;
    }
  /* C(c + r, c + 1) = C(c + r, c) r / (c + 1) */
  return (SsRevolve) { r * l - reachable * r / (c + 1), r };
}
