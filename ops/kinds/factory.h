/* SPDX-License-Identifier: MIT
 *
 * Kernels that make a tensor from sizes, from a number, or like another one. No derivatives.
 */
#pragma once

#include "ops/core/arithmetic.h"
#include "ops/core/tape.h"

G_BEGIN_DECLS

SsValue *ss_arange (SsTape *t, SsDtype dtype, gint64 n);
SsValue *ss_zeros (SsTape *t, SsDtype dtype, guint n_dims, const gint64 *size);
SsValue *ss_ones (SsTape *t, SsDtype dtype, guint n_dims, const gint64 *size);
SsValue *ss_full (SsTape *t, SsDtype dtype, guint n_dims, const gint64 *size);
/* a number as a 0-dim tensor: at::scalar_tensor, and torch.tensor of Python */
SsValue *ss_scalar_tensor (SsTape *t, SsDtype dtype);
SsValue *ss_tensor_of_number (SsTape *t, SsDtype dtype);
/* torch.zeros_like (a, dtype), torch.full_like (a): contiguous or laid out as a dense `a` is */
SsValue *ss_zeros_like (SsTape *t, SsValue *a, SsDtype dtype);
SsValue *ss_full_like (SsTape *t, SsValue *a);
/* a.new_zeros (sizes) */
SsValue *ss_new_zeros (SsTape *t, SsValue *a, guint n_dims, const gint64 *size);

G_END_DECLS
