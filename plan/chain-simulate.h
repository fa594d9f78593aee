/* SPDX-License-Identifier: MIT
 *
 * Exact simulation of a schedule on a chain: what is resident during each op, how long all takes.
 * It knows no policy.  It keeps nothing.
 *
 * Every op makes new instances of the tensors it produces, and a use is of the latest.  An instance
 * is resident from the op that makes it through its last use, or during that op only; x_0 is there
 * from the beginning.  So input and output of a stage coexist, and during backward of stage i
 * x_{i-1}, what the stage saved, and the gradients of x_i and x_{i-1}.
 */
#pragma once

#include "plan/chain-schedule.h"
#include "plan/chain.h"

G_BEGIN_DECLS

typedef enum
{
  SS_CHAIN_RULES_DEFAULT = 0,
  /* x_{i-1} that a saving forward read may go before backward of the stage and be made again, as
   * when a framework discards the output of what it recomputes.  Otherwise it stays, for autograd
   * holds a stage's input among the saved tensors. */
  SS_CHAIN_RULES_DETACHED = 1 << 0,
  /* x_i that a saving forward made stays until backward of the stage. */
  SS_CHAIN_RULES_KEEP_OUTPUT = 1 << 1,
  /* The gradient of x_{i-1} takes the place of x_{i-1}: backward of stage i does not count it. */
  SS_CHAIN_RULES_IN_PLACE_GRADIENT = 1 << 2
} SsChainRules;

typedef struct
{
  guint64 peak_bytes;
  guint peak_op;                 /* the first op that reaches it */
  guint64 time;
  guint64 recompute_time;        /* of forwards after a stage's first */
  guint n_recomputed;            /* so many of them */
} SsChainResult;

/* Runs the whole schedule.  `resident_bytes`, if not NULL, has room for one number for each op:
 * what is resident during it, with its transient.  The chain has been checked.
 * SS_CHAIN_ERROR_SCHEDULE: an op whose tensors were never made, backwards that are not n .. 1, or
 * more forwards than times fit into 63 bits; it names the op. */
gboolean ss_chain_simulate (const SsChain         *chain,
                            const SsChainSchedule *schedule,
                            SsChainRules           rules,
                            guint64               *resident_bytes,
                            SsChainResult         *result,
                            GError               **error);

G_END_DECLS
