/* SPDX-License-Identifier: MIT
 *
 * Parts of ss_explain: each fills its own members of an explanation.
 */
#pragma once

#include "study/explain.h"
#include "study/request-table.h"

G_BEGIN_DECLS

/* explanation->changes: what does away with the first of explanation->found, a row of `table`, or
 * makes it smaller, or has less in use when it is asked for. */
void ss_explain_changes (SsExplanation *explanation, const SsScenario *scenario,
                         const SsRequestTable *table);

/* explanation->near and ->vocabulary_*: with which micro-batch, sequence length, precision or
 * vocabulary a tensor of `table` would print as the message's number. */
void ss_explain_near (SsExplanation *explanation, const SsScenario *scenario,
                      const SsRequestTable *table);

G_END_DECLS
