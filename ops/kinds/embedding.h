/* SPDX-License-Identifier: MIT
 *
 * Table look-up and its backward, which sorts the indices when there are many.
 */
#pragma once

#include "ops/core/tape.h"

G_BEGIN_DECLS

/* weight (V, H), ids (...) -> (..., H) */
SsValue *ss_embedding (SsTape *t, SsValue *weight, SsValue *ids);

G_END_DECLS
