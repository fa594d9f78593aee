/* SPDX-License-Identifier: MIT
 *
 * Matrix products. The first one on a thread brings the library's workspace. Gradients are made
 * in the layout of the operand (derivatives.yaml: mm_mat1_backward, mm_mat2_backward).
 */
#pragma once

#include "ops/core/tape.h"

G_BEGIN_DECLS

/* (m, k) x (k, n) */
SsValue *ss_mm (SsTape *t, SsValue *a, SsValue *b);
/* bias (n) + (m, k) x (k, n) */
SsValue *ss_addmm (SsTape *t, SsValue *bias, SsValue *a, SsValue *b);
/* (b, m, k) x (b, k, n) */
SsValue *ss_bmm (SsTape *t, SsValue *a, SsValue *b);
/* torch.matmul of two 4-dimensional tensors: reshaped to 3 (a copy where strides forbid it),
 * bmm, seen as 4; autocast lowers b, then a */
SsValue *ss_matmul4 (SsTape *t, SsValue *a, SsValue *b);
/* The same below autocast, as other kernels call it. */
SsValue *ss_matmul4_plain (SsTape *t, SsValue *a, SsValue *b);

/* torch.mm (a, b, out=out) */
void ss_mm_out (SsTape *t, SsValue *a, SsValue *b, SsValue *out);
/* torch.addmm (sum, a, b, out=sum): sum += a b, accumulated in sum's own type */
void ss_addmm_out (SsTape *t, SsValue *sum, SsValue *a, SsValue *b);

G_END_DECLS
