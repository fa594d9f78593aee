/* SPDX-License-Identifier: MIT
 *
 * The answer of explain at the terminal: what the number is, where it arises, what the rest of the
 * message says, what does away with it.  It knows no terminal.
 */
#pragma once

#include "output/tables/report.h"
#include "study/explanation.h"

G_BEGIN_DECLS

/* Lines, each ended. (transfer full) */
char *ss_explain_text (const SsExplanation *explanation, const SsReportStyle *style);

G_END_DECLS
