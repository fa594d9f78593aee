/* SPDX-License-Identifier: MIT
 *
 * The backward engine: PyTorch's own algorithm over the nodes that recording left. Ready nodes
 * run by sequence number, highest first; input buffers sum; leaves take a gradient over or add
 * to theirs; saved values go when their node has run. It knows no kernel by name.
 */
#pragma once

#include "ops/core/tape.h"

G_BEGIN_DECLS

/* loss.backward (gradient): `gradient` NULL makes the initial ones. Runs on autograd's thread. */
void ss_backward (SsTape *t, SsValue *value, SsValue *gradient);
/* Bytes that nodes reachable from `value` hold, parameters left out, each storage once. */
guint64 ss_saved_bytes (SsTape *t, const SsValue *value);

G_END_DECLS
