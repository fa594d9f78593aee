/* SPDX-License-Identifier: MIT
 *
 * SsChainOptimal: the least time of a chain for every number of bytes, among the schedules that
 * keep what they keep until its backward ("persistent"), and the schedules that reach it.
 * It knows no policy and rounds nothing.  Immutable once made; the chain must outlive it.
 *
 * The recurrence is that of rotor (Beaumont et al. 2019, hal-02352969) in its memory-persistent
 * form, on step functions of the budget in place of a table of slots.
 */
#pragma once

#include "plan/chain-schedule.h"
#include "plan/chain.h"

G_BEGIN_DECLS

typedef struct _SsChainOptimal SsChainOptimal;

typedef struct
{
  guint64 min_budget_bytes;      /* the peak of the schedule */
  guint64 time;
  guint64 recompute_time;
  guint n_recomputed;            /* forwards after a stage's first, of the schedule found */
} SsChainPoint;

/* The chain has been checked. (transfer full) */
SsChainOptimal *ss_chain_optimal_new (const SsChain *chain);
void ss_chain_optimal_free (SsChainOptimal *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsChainOptimal, ss_chain_optimal_free)

/* The curve: budgets rise, times fall.  There is at least one point. */
guint ss_chain_optimal_n_points (const SsChainOptimal *self);
SsChainPoint ss_chain_optimal_point (const SsChainOptimal *self, guint index);
/* The last point whose budget is not above `budget_bytes`.  SS_CHAIN_ERROR_BUDGET: there is
 * none. */
gboolean ss_chain_optimal_find (const SsChainOptimal *self, guint64 budget_bytes,
                                SsChainPoint *point, GError **error);
/* Its schedule: simulated, it has exactly the point's peak and time.  SS_CHAIN_ERROR_BUDGET.
 * (transfer full) */
SsChainSchedule *ss_chain_optimal_schedule (const SsChainOptimal *self, guint64 budget_bytes,
                                            GError **error);
/* Different parts of the chain that were solved: 2 n for a homogeneous one. */
guint ss_chain_optimal_n_parts (const SsChainOptimal *self);

G_END_DECLS
