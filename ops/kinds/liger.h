/* SPDX-License-Identifier: MIT
 *
 * liger-kernel 0.8.5's Triton kernels (src/liger_kernel/ops: rms_norm.py, rope.py, swiglu.py,
 * cross_entropy.py, utils.py), as recorded in data/pytorch/ops and saved, liger-*.  Their backwards
 * write over what they are given: the incoming gradient, or a saved input.
 */
#pragma once

#include "ops/core/tape.h"

G_BEGIN_DECLS

/* LigerRMSNormFunction over the last dimension, casting mode llama, in_place: saves x itself,
 * the weight and one f32 reciprocal root per row; the gradient of x is written into the incoming
 * one. */
SsValue *ss_liger_rms_norm (SsTape *t, SsValue *x, SsValue *weight);
/* LigerRopeFunction: rotates *q (B, H, S, D) and *k (B, KV, S, D) where they lie and rebinds
 * both names; saves cos and sin (1, S, D); the gradients are rotated back where they lie. */
void ss_liger_rope (SsTape *t, SsValue **q, SsValue **k, SsValue *cos, SsValue *sin);
/* LigerSiLUMulFunction: silu (gate) * up; saves both; their gradients are written over them. */
SsValue *ss_liger_silu_mul (SsTape *t, SsValue *gate, SsValue *up);
/* One pass over the rows of `logits` (n, V): `loss` (n) f32 of `target` (n) i64; the gradient of
 * the logits is written over them. */
void ss_liger_cross_entropy_kernel (SsTape *t, SsValue *logits, SsValue *target, SsValue *loss);
/* x *= scalar tensor, where it lies. */
void ss_liger_element_mul (SsTape *t, SsValue *x, SsValue *scalar);

G_END_DECLS
