/* SPDX-License-Identifier: MIT
 *
 * The answer at the terminal: whether it fits, when it dies, what was asked, what fills the memory,
 * what changed since step 1.  It knows no terminal: width, characters and colour are told.
 */
#pragma once

#include "output/output.h"

G_BEGIN_DECLS

typedef struct
{
  guint width;                   /* columns; below 72 counts as 72 */
  gboolean is_utf8;              /* bars of block characters, else of '#' */
  gboolean has_colour;
  SsMemoryUnits units;
  guint64
      device_capacity_bytes; /* for a run without limit: how far over this it goes; 0: do not say */
} SsReportStyle;

/* Lines, each ended; the last is not empty. (transfer full) */
char *ss_report (const SsRecording *recording, const SsReportStyle *style);
/* What goes under it where advice was asked for: changes with which the run fits, each with the
 * options that make it, or what comes nearest; for a run that fits, fewer checkpoints.  Begins with
 * an empty line; "" where there is nothing to say. (transfer full) */
char *ss_report_advice (const SsRecording *recording, const SsAdvice *advice,
                        const SsReportStyle *style);

G_END_DECLS
