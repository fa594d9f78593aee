/* SPDX-License-Identifier: MIT
 *
 * A run as PyTorch's memory snapshot, which torch's memory viewer (pytorch.org/memory_viz) loads:
 * every request and release in order, segments and blocks at the end, and as frames, what each
 * block is.  It knows no path; docs/formats.md says what is in it.
 */
#pragma once

#include "output/output.h"

G_BEGIN_DECLS

extern const SsOutput ss_output_snapshot;

G_END_DECLS
