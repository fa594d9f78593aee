/* SPDX-License-Identifier: MIT
 *
 * nn.Linear and GPT-2's Conv1D, with a low-rank adapter beside them if they were given one.
 */
#pragma once

#include "ops/nn/linear-4bit.h"

G_BEGIN_DECLS

/* A linear module. Values are held by the model's list of parameters, not here. */
typedef struct
{
  const char *name;              /* "q_proj": the module's */
  guint32 module_id;             /* where it was made */
  gboolean is_conv1d;            /* weight (in, out), always with a bias, one addmm */
  SsValue *weight;               /* (out, in); NULL if it is packed */
  const SsLinear4Bit *packed;    /* or NULL */
  SsValue *bias;                 /* (out), or NULL */
  SsValue *lora_a, *lora_b;      /* (rank, in), (out, rank), or NULL */
  double lora_dropout;
} SsLinear;

/* A linear of the module `name` within the one we are in, without its weights. */
void ss_linear_init (SsTape *t, SsLinear *l, const char *name);
/* peft's lora.Linear over it: makes the two matrices in its module. */
void ss_linear_adapt (SsTape *t, SsLinear *l, guint rank, SsDtype dtype, double dropout);
/* x (..., in) -> (..., out), with what the adapter adds */
SsValue *ss_linear (SsTape *t, const SsLinear *l, SsValue *x);
/* nn.functional.linear */
SsValue *ss_linear_weight (SsTape *t, SsValue *x, SsValue *weight, SsValue *bias);

G_END_DECLS
