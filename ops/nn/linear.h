/* SPDX-License-Identifier: MIT
 *
 * nn.Linear and GPT-2's Conv1D, with a low-rank adapter beside them if the model has one.
 */
#pragma once

#include "ops/core/tape.h"

G_BEGIN_DECLS

/* A linear module. Values are held by the model's list of parameters, not here. */
typedef struct
{
  const char *name;              /* "q_proj": the module's */
  SsValue *weight;               /* (out, in) */
  SsValue *bias;                 /* (out), or NULL */
  SsValue *lora_a, *lora_b;      /* (rank, in), (out, rank), or NULL */
} SsLinear;

/* x (..., in) -> (..., out) */
SsValue *ss_linear (SsTape *t, const SsLinear *l, SsValue *x);
/* nn.functional.linear */
SsValue *ss_linear_weight (SsTape *t, SsValue *x, SsValue *weight, SsValue *bias);
/* Conv1D: weight (in, out), always with bias, one addmm */
SsValue *ss_conv1d (SsTape *t, const SsLinear *l, SsValue *x);

G_END_DECLS
