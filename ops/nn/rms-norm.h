/* SPDX-License-Identifier: MIT
 *
 * Root-mean-square norm over the last dimension, by implementation.
 */
#pragma once

#include "ops/kernel-profile.h"
#include "ops/core/tape.h"

G_BEGIN_DECLS

/* `name` is the module's. weight (H), x (..., H) -> (..., H) */
SsValue *ss_rms_norm (SsTape *t, SsNormChoice choice, const char *name, SsValue *weight,
                      SsValue *x);

/* The same with the weight applied before the result is rounded to the input's type, as OLMo 2
 * has it. */
SsValue *ss_rms_norm_rounded_last (SsTape *t, SsNormChoice choice, const char *name,
                                   SsValue *weight, SsValue *x);

G_END_DECLS
