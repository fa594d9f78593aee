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
/* What is in use at `state`, one bar a category, and the sum. */
void ss_report_breakdown (SsReport *report, const char *title, const SsPeakRecord *state);
/* One column for each step that came to its end. */
void ss_report_steps (SsReport *report);

/* Why memory ran out; nothing for a run that fits. */
void ss_report_cause (SsReport *report);

G_END_DECLS
