/* SPDX-License-Identifier: MIT
 *
 * What the out-of-memory sentence shares with the allocator and the replay of event files.
 */
#pragma once

#include "memory/allocator.h"

G_BEGIN_DECLS

/* one_exa_bytes of c10/cuda/CUDACachingAllocator.cpp: requests from here on are refused unseen */
#define SS_OOM_MONSTROUS_BYTES (G_GUINT64_CONSTANT (1) << 60)

/* "1024 bytes", "20.00 MiB": a size that just fills a unit stays in the one below; no unit above
 * GiB. (transfer full) */
char *ss_oom_size_text (guint64 bytes);

G_END_DECLS
