/* SPDX-License-Identifier: MIT
 *
 * SsSweepAxis: one setting of a sweep and the values it takes: "PATH=a,b,c", "PATH=from..to",
 * "PATH=from..to..step", mixed, or "PATH=max".  It knows no run.  The creator owns it; immutable.
 */
#pragma once

#include "scenarios/scenario.h"

G_BEGIN_DECLS

#define SS_SWEEP_ERROR (ss_sweep_error_quark ())
GQuark ss_sweep_error_quark (void);

typedef enum
{
  SS_SWEEP_ERROR_AXIS,           /* no such attribute, no such value, no such range */
  SS_SWEEP_ERROR_POINTS          /* too many points, too many axes, one path twice */
} SsSweepError;

/* So many values or points a sweep may have. */
#define SS_SWEEP_MAX_POINTS 100000

typedef struct
{
  char *path;                    /* "training/sequence-length", as the list of attributes has it */
  GPtrArray *values;             /* char *, in the order asked, none twice; none for max */
  gboolean is_max;
  gint64 min, max;               /* of the attribute, where is_max */
  gboolean is_numeric;           /* every value is a number, of one unit if any, or is_max */
  gboolean is_traced;            /* the trace depends on it, not the replay alone */
} SsSweepAxis;

/* Values that the attribute can never have are refused here, with the known ones; a comma within a
 * value is written "\,". `base` is the scenario that is swept. SS_SWEEP_ERROR_AXIS. (transfer
 * full) */
SsSweepAxis *ss_sweep_axis_parse (const char *text, const SsScenario *base, GError **error);
void ss_sweep_axis_free (SsSweepAxis *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsSweepAxis, ss_sweep_axis_free)

/* The number of "8192", "40.5 GiB"; FALSE: it is none.  *unit (optional) points into the text. */
gboolean ss_sweep_number (const char *text, double *number, const char **unit);

G_END_DECLS
