/* SPDX-License-Identifier: MIT
 *
 * Activation checkpointing: runs a segment of a model without keeping what its nodes would save, and
 * again when a gradient needs it.  It knows no policy: that chooses the segments.
 */
#pragma once

#include "ops/tape.h"

G_BEGIN_DECLS

/* Code of a segment: one output; `in` belong to the caller. (transfer floating) */
typedef SsValue *(*SsSegment) (SsTape *t, gconstpointer self, SsValue *const *in);

/* torch.utils.checkpoint of `segment`: keeps all n_in values that Python passes, used or not, and the
 * first of them carries the gradient.  Non-reentrant stops its recomputation at the last saved value
 * if `early_stop`. (transfer floating) */
SsValue *ss_checkpoint (SsTape *t, SsSegment segment, gconstpointer self, guint n_in, SsValue *const *in,
                        gboolean is_reentrant, gboolean early_stop);

G_END_DECLS
