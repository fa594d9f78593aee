/* SPDX-License-Identifier: MIT
 *
 * What can be said of a chain, as text: the chain itself with its summary, tables of policies and
 * of the optimum, single schedules.  It knows no options and writes nowhere: it appends.
 */
#pragma once

#include "plan/policy.h"
#include "scenarios/chain-file.h"

G_BEGIN_DECLS

typedef struct
{
  guint64 sequence_length, batch, hidden, hidden_kv, intermediate;
} SsBlockSizes;

/* One JSON object: the chain, what the simple policies need, the ends of the optimum's curve, and
 * for short chains the optimum by search.  SS_CHAIN_ERROR_SCHEDULE: one of the file's own schedules
 * cannot be run. */
gboolean ss_chain_append_json (const SsChainFile *file, GString *out, GError **error);

/* policy,param,peak,time,recompute_time,recompute_stages,peak_op */
void ss_chain_append_policies (const SsChain *chain, GString *out);
/* min_budget,opt_time,recompute_time,recompute_stages */
void ss_chain_append_pareto (const SsChain *chain, GString *out);
/* chain,ks,skip_last_inner_forward,peak,time,recompute_time,recompute_stages, of the policy
 * "nested", whose check the settings pass. */
void ss_chain_append_nested (const SsChain *chain, const SsCheckpointing *nested, GString *out);
/* steps,slots,extra_forward_steps,max_reps_r */
void ss_chain_append_revolve (guint n_steps, guint n_slots, GString *out);
/* A Llama block of one micro-batch and full attention, and what each named choice of results to
 * keep saves and repeats, as one JSON object.  FALSE: its sums do not fit into 63 bits. */
gboolean ss_chain_append_block (const SsBlockSizes *sizes, GString *out);

/* {"name":...,"ops":...,"resident_during_op":[...],"peak":...}.  SS_CHAIN_ERROR_SCHEDULE. */
gboolean ss_chain_append_schedule (const SsChain *chain, const char *name,
                                   const SsChainSchedule *schedule, GString *out, GError **error);
/* The same of the fastest schedule within the budget.  SS_CHAIN_ERROR_BUDGET. */
gboolean ss_chain_append_optimal (const SsChain *chain, guint64 budget_bytes, GString *out,
                                  GError **error);

G_END_DECLS
