/* SPDX-License-Identifier: MIT
 *
 * Normalisations that PyTorch runs as one kernel, and softmax.
 */
#pragma once

#include "ops/core/tape.h"

G_BEGIN_DECLS

/* native_layer_norm over the last dimension: saves input, mean and rstd (f32, one per row) */
SsValue *ss_layer_norm (SsTape *t, SsValue *x, SsValue *weight, SsValue *bias);
/* softmax (-1) in x's type */
SsValue *ss_softmax (SsTape *t, SsValue *x);
/* softmax (-1, dtype=float32) of f16: one kernel, no copy */
SsValue *ss_softmax_half_to_float (SsTape *t, SsValue *x);
/* at::_safe_softmax: rows that are masked whole become 0 */
SsValue *ss_safe_softmax (SsTape *t, SsValue *x);
SsValue *ss_log_softmax (SsTape *t, SsValue *x);

G_END_DECLS
