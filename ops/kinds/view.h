/* SPDX-License-Identifier: MIT
 *
 * Views and what goes with them: they make tensors, not storages; reshape copies where strides
 * forbid a view. Backwards: zeros of the whole for a slice, one cat for a split, a sum for an
 * expansion.
 */
#pragma once

#include "ops/core/tape.h"

G_BEGIN_DECLS

/* x.view (sizes): the strides must allow it. */
SsValue *ss_view (SsTape *t, SsValue *a, guint n_dims, const gint64 *size);
/* A view that autograd does not know as one (holds no base). */
SsValue *ss_unsafe_view (SsTape *t, SsValue *a, guint n_dims, const gint64 *size);
/* View if strides allow, else a contiguous copy. */
SsValue *ss_reshape (SsTape *t, SsValue *a, guint n_dims, const gint64 *size);
SsValue *ss_transpose (SsTape *t, SsValue *a, guint d0, guint d1);
/* Dimension `dim` of size 1 to `n`: stride 0. */
SsValue *ss_expand (SsTape *t, SsValue *a, guint dim, gint64 n);
SsValue *ss_slice (SsTape *t, SsValue *a, guint dim, gint64 start, gint64 length);
/* n equal parts of the last dimension, into out[n] (floating). n <= 4. */
void ss_split_last (SsTape *t, SsValue *a, guint n, SsValue **out);
SsValue *ss_cat (SsTape *t, SsValue *a, SsValue *b, guint dim);
/* constant_pad_nd of the last dimension to `length` */
SsValue *ss_pad_to (SsTape *t, SsValue *a, gint64 length);

G_END_DECLS
