/* SPDX-License-Identifier: MIT
 *
 * SsAdvice: the changes that were tried on a run and fit, or what came nearest.  It stands beside
 * the run's recording and knows neither that nor a scenario.  Immutable after ss_advise has made
 * it; the caller owns it.
 */
#pragma once

#include "study/advice-entry.h"

G_BEGIN_DECLS

typedef struct
{
  GPtrArray *entries;            /* SsAdviceEntry, the fastest first: with each a run fits that ran
                                  * out of memory; or one that fits is faster, with fewer
                                  * checkpoints */
  char *nearest;                 /* nothing makes it fit: what comes nearest, or NULL */
  guint64 nearest_missing_bytes; /* by which it fails; 0: there would be enough in one piece */
  guint n_untried;               /* changes left out because the run is long */
} SsAdvice;

/* Nothing tried yet. (transfer full) */
SsAdvice *ss_advice_new (void);
void ss_advice_free (SsAdvice *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsAdvice, ss_advice_free)

guint ss_advice_n_entries (const SsAdvice *self);
const SsAdviceEntry *ss_advice_entry (const SsAdvice *self, guint i);

G_END_DECLS
