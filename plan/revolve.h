/* SPDX-License-Identifier: MIT
 *
 * Revolve: the least extra forward steps of a reversal with a number of snapshot slots, in closed
 * form. It knows no sizes.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define SS_REVOLVE_MAX_STEPS 10000000

typedef struct
{
  guint64 extra_forward_steps;
  guint64 max_repetitions;       /* r: a step is run forward again at most that often */
} SsRevolve;

/* `n_slots` counts the one of the initial state; the last forward of a step and its reversal are
 * one action.  With r the least for which C(c + r, c) >= l,  t(l, c) = r l - C(c + r, c + 1).
 * Griewank & Walther, ACM TOMS 26(1), 2000, doi 10.1145/347837.347846.
 * 1 <= n_steps <= SS_REVOLVE_MAX_STEPS, n_slots >= 1. */
SsRevolve ss_revolve (guint n_steps, guint n_slots);

G_END_DECLS
