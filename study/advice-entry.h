/* SPDX-License-Identifier: MIT
 *
 * SsAdviceEntry: one change of settings that was simulated, and what it came to.  It knows no
 * scenario.  Whoever holds the pointer owns it; ss_advise's are immutable.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What a change alters beside memory and time, the mildest first. */
typedef enum
{
  SS_ADVICE_CHANGES_NOTHING,     /* the same sums, in another order at most */
  SS_ADVICE_CHANGES_NUMERICS,    /* the same steps in other types */
  SS_ADVICE_CHANGES_DEVICE,
  SS_ADVICE_CHANGES_TRAINING     /* what a step learns: optimizer, tokens, parameters */
} SsAdviceChanges;

/* A change of settings with which the whole run was simulated again, and fits. */
typedef struct
{
  char **settings;               /* "checkpointing/policy=full": each a --set; NULL-terminated */
  char *what;                    /* what it does, in a few words */
  char *lever;                   /* "checkpointing": what is pulled; of one lever one is enough */
  SsAdviceChanges changes;
  guint64 peak_allocated_bytes, peak_reserved_bytes;
  guint64 peak_bytes;            /* what the device shows, context included */
  gint64 step_ns;                /* of the last step */
  double tokens_per_s;           /* of it */
  double time_change;            /* of the time for a token, 0.07: 7 % more; against the run as it
                                  * was, with as much memory as it asks for */
} SsAdviceEntry;

void ss_advice_entry_free (SsAdviceEntry *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsAdviceEntry, ss_advice_entry_free)

/* "nothing", "numerics", "device", "training" (transfer none) */
const char *ss_advice_changes_name (SsAdviceChanges changes);

G_END_DECLS
