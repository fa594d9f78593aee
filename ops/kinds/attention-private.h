/* SPDX-License-Identifier: MIT
 *
 * What the fused attention kinds share: their costs, by the kernel that a call names.
 */
#pragma once

#include "ops/kinds/attention.h"

G_BEGIN_DECLS

/* Of a call: which kernel (SsAttentionKernel) it is, its last attribute. */
#define SS_ATTENTION_KERNEL (SS_N_ATTRIBUTES - 1)

/* SsOpKind.cost of forward, of the memory-efficient forward, of backward */
void ss_attention_forward_cost (const SsCall *c, SsCost *cost);
void ss_attention_efficient_cost (const SsCall *c, SsCost *cost);
void ss_attention_backward_cost (const SsCall *c, SsCost *cost);

G_END_DECLS
