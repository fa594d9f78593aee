/* SPDX-License-Identifier: MIT
 *
 * Numbers and names as people read them, the same in every locale.  It knows no recording.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Powers of 1024 or of 1000; one output uses one of them throughout. */
typedef enum
{
  SS_MEMORY_GIB,
  SS_MEMORY_GB
} SsMemoryUnits;

typedef struct
{
  const char *name;              /* "GiB"; static */
  double bytes;                  /* of one */
} SsByteScale;

/* The largest unit of which `largest_bytes` is at least one: GiB, MiB, KiB, B (GB, MB, kB, B). */
SsByteScale ss_byte_scale (SsMemoryUnits units, guint64 largest_bytes);

/* "79.10": the number alone, in that scale. (transfer full) */
char *ss_format_scaled (guint64 bytes, SsByteScale scale, guint decimals);
/* "79.1 GiB", "224.0 MiB", "512 B": in its own scale. (transfer full) */
char *ss_format_bytes (guint64 bytes, SsMemoryUnits units, guint decimals);
/* What is left of `whole` beside `part`, "10.4 GiB", "-32.0 GiB": such that the three add up as
 * they are printed with those decimals.  Less than one of the unit of `whole` has a smaller one.
 * (transfer full) */
char *ss_format_rest (guint64 whole_bytes, guint64 part_bytes, SsMemoryUnits units,
                      guint decimals);
/* The same as a number alone, in a scale. (transfer full) */
char *ss_format_rest_scaled (guint64 whole_bytes, guint64 part_bytes, SsByteScale scale,
                             guint decimals);
/* "1.23 ms", "1292 ms", from ten seconds on "12.3 s". (transfer full) */
char *ss_format_time (gint64 ns);
/* "8.03 B", "124 M", "4096": a count of parameters. (transfer full) */
char *ss_format_count (guint64 count);

/* Fixed decimals with a point, whatever the locale. */
void ss_append_fixed (GString *text, double value, guint decimals);

/* Valid UTF-8 on one line: a terminal or a script never sees a control character of a name. NULL
 * gives "". (transfer full) */
char *ss_clean_text (const char *text);

/* The text as one word for a shell, in quotes where it needs them. (transfer full) */
char *ss_shell_word (const char *text);

G_END_DECLS
