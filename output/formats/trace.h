/* SPDX-License-Identifier: MIT
 *
 * A run as Chrome's trace events, which Perfetto opens, beside a trace of torch.profiler or alone:
 * steps, phases and layers, every op on its stream and at its call, memory by category, how busy
 * the device was, the out-of-memory.  It knows no path; docs/formats.md says what is in it.
 */
#pragma once

#include "output/output.h"

G_BEGIN_DECLS

extern const SsOutput ss_output_trace;

G_END_DECLS
