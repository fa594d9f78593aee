/* SPDX-License-Identifier: MIT
 *
 * The search for the largest value of a count that fits: by bisection, then tried around what it
 * found, because fragmentation and alignment can make a larger value fit where a smaller does not.
 */
#pragma once

#include "study/sweep.h"

G_BEGIN_DECLS

typedef enum
{
  SS_TRIAL_FITS,
  SS_TRIAL_OUT_OF_MEMORY,
  SS_TRIAL_REFUSED,              /* no such scenario */
  SS_TRIAL_LONG                  /* it fits, and nothing longer should be tried */
} SsTrial;

/* *problem (transfer full): why it is refused. */
typedef SsTrial (*SsTrialFunc) (gint64 value, char **problem, gpointer user_data);

/* Between min and max, from `start` on; every value is tried once at most. */
void ss_sweep_search (gint64 min, gint64 max, gint64 start, SsTrialFunc trial, gpointer user_data,
                      SsSweepSearch *found);
void ss_sweep_search_clear (SsSweepSearch *self);

G_END_DECLS
