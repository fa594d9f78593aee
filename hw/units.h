/* SPDX-License-Identifier: MIT
 *
 * Quantities with their units as files state them: "80 GiB", "3.35 TB/s", "989.4 TFLOP/s",
 * "2.4 us".  A bare number is refused.  It knows no XML.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Each returns FALSE with *problem (transfer full), one clause: `"80" has no unit; expected B, KiB,
 * ... TB`.  Digits, one decimal point, one optional space, the unit; no sign, no exponent; exact
 * integer arithmetic. */
/* Up to 2^63 - 1, to the nearest whole byte. */
gboolean ss_units_bytes (const char *text, guint64 *bytes, char **problem);
/* B/s ... TB/s */
gboolean ss_units_bytes_per_s (const char *text, double *bytes_per_s, char **problem);
/* GFLOP/s ... PFLOP/s */
gboolean ss_units_flop_per_s (const char *text, double *flop_per_s, char **problem);
/* MHz, GHz */
gboolean ss_units_hertz (const char *text, double *hertz, char **problem);
/* ns, us, ms, s */
gboolean ss_units_seconds (const char *text, double *seconds, char **problem);
/* A plain whole number (a count has no unit). */
gboolean ss_units_count (const char *text, gint64 min, gint64 max, gint64 *count, char **problem);
/* A plain number, 0 or above. */
gboolean ss_units_number (const char *text, double *number, char **problem);
/* A plain fraction between 0 and 1. */
gboolean ss_units_fraction (const char *text, double *fraction, char **problem);

typedef enum { SS_UNITS_GIB, SS_UNITS_GB } SsByteUnit;

/* "79.10 GiB" with `decimals` digits; below one unit of the size it still says GiB.
 * (transfer full) */
char *ss_units_format_bytes (guint64 bytes, SsByteUnit unit, guint decimals);

G_END_DECLS
