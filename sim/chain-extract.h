/* SPDX-License-Identifier: MIT
 *
 * A scenario's layers as a chain of stages: sizes from the trace, times from the device.
 * Stage 1 is what stands before the layers (the embedding), the last is head and loss.
 */
#pragma once

#include "hw/device.h"
#include "plan/chain.h"
#include "ops/training-loop.h"

G_BEGIN_DECLS

/* Traces one step without checkpointing and measures its first micro-batch. Bytes are requested
 * bytes, times ns of the device.
 * - a: the hidden states between layers, in the parameters' type; x_0 the ids;
 * - w: what a stage has left behind for backward when it has returned, less its input's size,
 *   which the chain counts by itself;
 * - tf, tb: the most that is there besides during its forward and its backward; to tb belong the
 *   parameters' gradients that have been made by then, since backward runs in one order only
 *   (they grow from the last stage to the first).
 * SS_OPS_ERROR_*, SS_CHAIN_ERROR_MODEL. (transfer full) */
SsChain *ss_chain_extract (const SsTraceConfig *config, const SsDevice *device, const char *name,
                           GError **error);

G_END_DECLS
