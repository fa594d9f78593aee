/* SPDX-License-Identifier: MIT
 *
 * LigerCrossEntropyFunction: the loss of given logits, whose gradient takes their place.
 */
#pragma once

#include "ops/core/tape.h"

G_BEGIN_DECLS

/* logits (n, V), target (n) i64 -> a scalar; what `logits` held is gone. `is_scaled` as in
 * losses.h. (transfer floating) */
SsValue *ss_liger_cross_entropy (SsTape *t, SsValue *logits, SsValue *target, gboolean is_scaled);

G_END_DECLS
