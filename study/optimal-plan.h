/* SPDX-License-Identifier: MIT
 *
 * policy="optimal": the fastest schedule of the chain whose run fits the budget, as ranges of
 * layers within ranges.  Every candidate is traced and its requests replayed before it is taken.
 */
#pragma once

#include "plan/chain-schedule.h"
#include "scenarios/scenario.h"

G_BEGIN_DECLS

/* SsLayerRange (layers from 0, deeper ones follow the range that they cut) of a schedule over the
 * stages first_layer .. last_layer. (transfer full) */
GArray *ss_plan_from_schedule (const SsChainSchedule *schedule, guint first_layer,
                               guint last_layer);

/* The scenario with the plan of its policy if that has to be searched for, else itself: of the
 * chain's optimal schedules the fastest one with which all steps fit the allocator's capacity and
 * never allocate more than the policy's budget.  If there is none: SS_CHAIN_ERROR_BUDGET where a
 * budget was given, else the one that asks for least.  SS_OPS_ERROR_*, SS_CHAIN_ERROR_*,
 * SS_ALLOCATOR_ERROR_CONF. (transfer full) */
SsScenario *ss_optimal_plan (SsScenario *scenario, GError **error);

G_END_DECLS
