/* SPDX-License-Identifier: MIT
 *
 * SsCandidate: a change that advice may try, in one strength or in several; and the trial of one.
 * Candidates are made once and read by the threads of a pool.
 */
#pragma once

#include "ops/core/program.h"
#include "scenarios/scenario.h"
#include "study/advice-entry.h"

G_BEGIN_DECLS

/* One strength of a change. */
typedef struct
{
  char **settings;               /* PATH=VALUE, NULL-terminated */
  char *what;
  double n_ops_factor;           /* ops of its run, about, for one of the run as it is */
} SsCandidateTry;

typedef struct
{
  char *lever;                   /* "checkpointing"; of two joined: "loss, checkpointing" */
  SsAdviceChanges changes;
  gboolean is_alone;             /* not worth joining with others */
  GPtrArray *tries;              /* SsCandidateTry, the least change first: each is taken to need
                                  * less memory than the one before */
  double min_tokens_per_s;       /* nothing worth telling unless it is faster */
} SsCandidate;

void ss_candidate_free (SsCandidate *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsCandidate, ss_candidate_free)

/* Every change that applies to the scenario, those that people try first in front. (transfer
 * full) */
GPtrArray *ss_advice_candidates (const SsScenario *base);
/* Both at once: of the first its strongest, of the second what is enough beside that; of the other
 * only where just the first has several. NULL: they get in each other's way. (transfer full) */
SsCandidate *ss_candidate_join (const SsCandidate *first, const SsCandidate *second);
/* For a run that fits: fewer checkpoints than it has, the most first; none where it has none.
 * (transfer full) */
SsCandidate *ss_advice_fewer_checkpoints (const SsScenario *base);

/* ---- trials ---- */

typedef struct
{
  const SsScenario *scenario;    /* with its plan */
  SsProgram *program;            /* its own */
  char *key;                     /* its trace's */
} SsTrialBase;

typedef struct
{
  gboolean is_possible;          /* FALSE: it cannot be run at all */
  SsAdviceEntry *entry;          /* NULL: it does not fit */
  guint found;                   /* if it does: which try */
  guint64 missing_bytes;         /* if so, in its strongest: 0 where it is for want of one piece */
} SsTrialResult;

/* Runs the candidate's strongest try, and if that fits, by bisection the least that does.  Nothing
 * depends on other trials. */
void ss_candidate_run (const SsCandidate *self, const SsTrialBase *base, SsTrialResult *result);
/* Leaves out tries until its trials come to no more than so many ops, if that can be. What they may
 * come to then. */
double ss_candidate_limit (SsCandidate *self, const SsTrialBase *base, double max_ops);

G_END_DECLS
