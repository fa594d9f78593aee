/* SPDX-License-Identifier: MIT
 *
 * SsErrorGroups: errors by name, in the order in which names come up, and how they are printed.
 * The one who made it owns it.
 */
#pragma once

#include "study/error-summary.h"

G_BEGIN_DECLS

typedef struct _SsErrorGroups SsErrorGroups;

SsErrorGroups *ss_error_groups_new (void);
void ss_error_groups_free (SsErrorGroups *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsErrorGroups, ss_error_groups_free)

void ss_error_groups_add (SsErrorGroups *self, const char *name, double error_percent);
SsErrorSummary ss_error_groups_summary (const SsErrorGroups *self, const char *name);
/* A line each: "  name      41 rows, median 4.1 %, p90 9.0 %, signed median +0.3 %". */
void ss_error_groups_append_text (const SsErrorGroups *self, GString *text);
/* {"name":{"rows":..},..} */
void ss_error_groups_append_json (const SsErrorGroups *self, GString *json);

/* "41 rows, median ..." */
void ss_error_summary_append_text (SsErrorSummary summary, GString *text);
/* "rows":..,"median_abs_error":..,"p90_abs_error":..,"median_signed_error":.. (percent), without
 * braces. */
void ss_error_summary_append_json (SsErrorSummary summary, GString *json);
/* A number of so many significant digits, the same in every locale. */
void ss_append_number (GString *text, const char *format, double value);

G_END_DECLS
