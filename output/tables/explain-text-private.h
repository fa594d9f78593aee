/* SPDX-License-Identifier: MIT
 *
 * Parts of ss_explain_text: each appends lines to a text under way.
 */
#pragma once

#include "output/tables/explain-text.h"
#include "output/tables/report-private.h"

G_BEGIN_DECLS

typedef struct
{
  const SsExplanation *explanation;
  SsReport report;               /* without a recording */
  SsByteScale scale;             /* of figures in columns */
} SsExplainAnswer;

/* After an empty line, unless it is the first. */
void ss_explain_paragraph (SsExplainAnswer *answer, const char *text);
/* As PyTorch prints it, whatever the units of the answer: "786.00 MiB". (transfer full) */
char *ss_explain_as_printed (guint64 bytes);
/* In the units of the answer. (transfer full) */
char *ss_explain_in_units (const SsExplainAnswer *answer, guint64 bytes);

/* What else the message tells: want or pieces, what is outside PyTorch, another device. */
void ss_explain_message (SsExplainAnswer *answer);

G_END_DECLS
