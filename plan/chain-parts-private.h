/* SPDX-License-Identifier: MIT
 *
 * SsChainParts: the parts (runs of stages) of a chain, numbered so that parts that are alike in all
 * that the optimum depends on have one number.  It knows no solutions.  The program of the optimum
 * owns it.
 */
#pragma once

#include "plan/chain.h"

G_BEGIN_DECLS

typedef struct _SsChainParts SsChainParts;

SsChainParts *ss_chain_parts_new (const SsChain *chain);
void ss_chain_parts_free (SsChainParts *self);
/* Numbers are 0 .. n-1, and longer parts have higher ones. */
guint ss_chain_parts_n (const SsChainParts *self);
guint ss_chain_parts_id (const SsChainParts *self, guint first, guint last);
/* A part of that number. */
void ss_chain_parts_example (const SsChainParts *self, guint id, guint *first, guint *last);

G_END_DECLS
