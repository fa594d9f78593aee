/* SPDX-License-Identifier: MIT
 *
 * policy="optimal": the fastest schedule of the chain whose run fits the budget, as ranges of
 * layers within ranges.  Every candidate is traced and its requests replayed before it is taken.
 */
#pragma once

#include "hw/device.h"
#include "memory/allocator.h"
#include "plan/chain-schedule.h"
#include "ops/training-loop.h"

G_BEGIN_DECLS

/* SsLayerRange (layers from 0, deeper ones follow the range that they cut) of a schedule over the
 * stages first_layer .. last_layer. (transfer full) */
GArray *ss_plan_from_schedule (const SsChainSchedule *schedule, guint first_layer,
                               guint last_layer);

/* The plan for `config`, whose own policy is not looked at: of the chain's optimal schedules the
 * fastest one with which all steps fit the allocator's capacity and never allocate more than the
 * config's budget.  If there is none: SS_CHAIN_ERROR_BUDGET where a budget was given, else the one
 * that asks for least. SS_OPS_ERROR_*, SS_CHAIN_ERROR_*, SS_ALLOCATOR_ERROR_CONF. (transfer
 * full) */
GArray *ss_optimal_plan (const SsTraceConfig *config, const SsDevice *device,
                         const SsAllocatorClass *klass, const SsAllocatorSettings *settings,
                         gboolean empties_cache, GError **error);

G_END_DECLS
