/* SPDX-License-Identifier: MIT
 *
 * The optimum of a short chain by search through all that can be resident: the judge of the program
 * in chain-optimal.h, and what is better where that one is only optimal among persistent schedules.
 * It knows no recurrence.  It keeps nothing.
 */
#pragma once

#include "plan/chain-simulate.h"

G_BEGIN_DECLS

#define SS_CHAIN_EXHAUSTIVE_MAX_STAGES 9

typedef struct
{
  guint64 peak_bytes, time;
} SsChainTrade;

/* SsChainTrade in rising order of bytes: the least time for each budget that buys any.  `rules` may
 * be SS_CHAIN_RULES_DETACHED.  At most SS_CHAIN_EXHAUSTIVE_MAX_STAGES stages. (transfer full) */
GArray *ss_chain_exhaustive_curve (const SsChain *chain, SsChainRules rules);

G_END_DECLS
