/* SPDX-License-Identifier: MIT
 *
 * Kernels that draw random numbers.
 */
#pragma once

#include "ops/core/tape.h"

G_BEGIN_DECLS

/* native_dropout with 0 < p: the bool mask is made first and saved. p = 0 is no kernel at all:
 * callers return their argument. */
SsValue *ss_native_dropout (SsTape *t, SsValue *x);
/* nn.functional.dropout in training: the value itself if p is 0. */
SsValue *ss_dropout (SsTape *t, SsValue *x, double p);

G_END_DECLS
