/* SPDX-License-Identifier: MIT
 *
 * The caching allocator: PyTorch 2.14.1's on CUDA, to the byte, for one device without private
 * pools. The driver below it fails only when bytes run out, and every event of another stream
 * waits for ss_allocator_synchronize or a flush.  Blocks belong to the allocator.
 */
#pragma once

#include "memory/allocator.h"

G_BEGIN_DECLS

extern const SsAllocatorClass ss_allocator_caching;

G_END_DECLS
