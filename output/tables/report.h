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
  gboolean is_verbose;           /* all there is to say, else what one screen holds */
  gboolean has_message;          /* the framework's own sentence too */
  gboolean has_settings;         /* under each piece of advice the options that make it */
} SsReportStyle;

/* Lines, each ended; the last is not empty. (transfer full) */
char *ss_report (const SsRecording *recording, const SsReportStyle *style);
/* What goes under it where advice was asked for: changes with which the run fits, each with the
 * options that make it, or what comes nearest; for a run that fits, fewer checkpoints.  ""
 * where there is nothing to say. (transfer full) */
char *ss_report_advice (const SsRecording *recording, const SsAdvice *advice,
                        const SsReportStyle *style);

/* "20 of 32 layers checkpointed (step time +14 %, peak 78.7 GiB, changes nothing)" (transfer
 * full) */
char *ss_advice_words (const SsAdviceEntry *advice, SsMemoryUnits units);
/* "--set checkpointing/policy=block --set checkpointing/layers=20", as a shell takes it. (transfer
 * full) */
char *ss_advice_options (const SsAdviceEntry *advice);

G_END_DECLS
