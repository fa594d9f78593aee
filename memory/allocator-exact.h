/* SPDX-License-Identifier: MIT
 *
 * The exact allocator: every request costs its bytes, no rounding, no cache, no fragmentation.
 * A lower bound on what any allocator reserves, and the oracle of the others' tests.
 * Of the options only the memory fraction has an effect; blocks belong to the allocator.
 */
#pragma once

#include "memory/allocator.h"

G_BEGIN_DECLS

extern const SsAllocatorClass ss_allocator_exact;

G_END_DECLS
