/* SPDX-License-Identifier: MIT
 *
 * Parts of the report: each appends lines to a text under way.
 */
#pragma once

#include "output/tables/report.h"

G_BEGIN_DECLS

#define SS_REPORT_MIN_WIDTH 72

typedef struct
{
  const SsRecording *recording;
  const SsAdvice *advice;        /* in ss_report_advice alone */
  SsReportStyle style;           /* width at least 72 */
  GString *text;
} SsReport;

/* Breaks at spaces; the first line begins with `first`, the others with as many spaces. */
void ss_report_wrap (SsReport *report, const char *first, const char *paragraph);
/* "At its fullest, step 2, backward": the title of its breakdown. (transfer full) */
char *ss_report_where (const SsPeakRecord *state);
/* What is in use at `state`, one bar a category, and the sum: of a run that fits its peak. */
void ss_report_breakdown (SsReport *report, const char *title, const SsPeakRecord *state);
/* One column for each step that came to its end. */
void ss_report_steps (SsReport *report);

/* Why no change of that kind helps: states alone are too much, or it is in pieces.  NULL: neither.
 * (transfer full) */
char *ss_report_cause (const SsRecording *recording, SsMemoryUnits units);

G_END_DECLS
