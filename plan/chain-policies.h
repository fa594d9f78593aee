/* SPDX-License-Identifier: MIT
 *
 * Policies on a chain: what a plan of segments means as a schedule, and the policies of which every
 * number of layers or segments is tried, to lay them side by side.
 * Static const structs; they know a number of layers, no sizes.  The plans are those of policy.h.
 */
#pragma once

#include "plan/chain-simulate.h"
#include "plan/policy.h"

G_BEGIN_DECLS

/* A policy with one number to choose. */
typedef struct
{
  const char *name;              /* "every_k_all" */
  guint min_param;
  gboolean has_param;            /* FALSE: min_param is the only one; else up to n_layers */
  const char *policy;            /* "every", of policy.h */
  /* required: sets what that policy reads */
  void (*set) (SsCheckpointing *settings, guint param);
} SsChainPolicy;

/* NULL-terminated: none, every_k_all, every_k_lastfree, torch_sequential, block_first,
 * block_last. */
const SsChainPolicy *const *ss_chain_policies (void);
const SsChainPolicy *ss_chain_policy_find (const char *name);
guint ss_chain_policy_max_param (const SsChainPolicy *self, guint n_layers);

typedef enum
{
  SS_SQRT_FLOOR,                 /* Checkmate's int (sqrt (L)), parasj/checkmate */
  SS_SQRT_ROUND,
  SS_SQRT_CEIL
} SsSqrt;

/* The spacing that sqrt of n_layers stands for; at least 1. */
guint ss_chain_sqrt_spacing (guint n_layers, SsSqrt rounding);

/* A plan as a schedule: a first sweep that saves nothing in checkpointed ranges, then from the last
 * stage backward, where a checkpointed range is run again before its backward: saving all, or, if
 * it is cut into ranges, saving nothing, after which each of those is run again.
 * `skips_last_inner_forward` of the settings: that run ends where the last of them begins, whose
 * end nothing needs (PyTorch's early stop).  The settings must pass their policy's check.
 * (transfer full) */
SsChainSchedule *ss_chain_schedule_of_plan (const SsChain *chain,
                                            const SsCheckpointing *settings);
/* (transfer full) */
SsChainSchedule *ss_chain_schedule_of_policy (const SsChain *chain, const SsChainPolicy *policy,
                                              guint param);

typedef struct
{
  guint param;
  SsChainResult result;
} SsChainChoice;

/* The param of the policy whose peak is at most `budget_bytes` and whose time is the least, then
 * the peak, then the param.  FALSE: none fits. */
gboolean ss_chain_policy_fastest (const SsChain *chain, const SsChainPolicy *policy,
                                  guint64 budget_bytes, SsChainChoice *choice);
/* The param of the least peak, then time, then param. */
void ss_chain_policy_smallest (const SsChain *chain, const SsChainPolicy *policy,
                               SsChainChoice *choice);

G_END_DECLS
