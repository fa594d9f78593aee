/* SPDX-License-Identifier: MIT
 *
 * A chain of a scenario's layers as a table for people: what simple policies and the optimum make
 * of it.  It knows no options and writes nowhere: it appends.
 */
#pragma once

#include "hw/units.h"
#include "plan/chain.h"

G_BEGIN_DECLS

/* Of a chain in bytes and nanoseconds. */
void ss_chain_append_report (const SsChain *chain, SsByteUnit unit, GString *out);

G_END_DECLS
