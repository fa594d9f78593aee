/* SPDX-License-Identifier: MIT
 *
 * SsPrecision: the recipes of mixed precision: types of parameters, autocast, master copies.
 * Static const structs; they know no model and no optimizer.
 */
#pragma once

#include "memory/tensor.h"

G_BEGIN_DECLS

typedef struct
{
  const char *name;              /* "bf16-amp" */
  const char *description;       /* one line */
  SsDtype parameter_dtype;
  SsDtype autocast_dtype;        /* SS_N_DTYPES: no autocast */
  guint has_scaler : 1;          /* GradScaler around loss and optimizer */
  guint has_master : 1;          /* an fp32 copy of every trainable parameter */
  guint accumulates_f32 : 1;     /* fp32 gradient buffers, kept for ever */
  guint widens_gradients : 1;    /* fp32 copies of the gradients, from the update to zero_grad */
  guint is_assumed : 1;          /* follows no recording */
} SsPrecision;

/* NULL-terminated: fp32, bf16, bf16-amp, fp16-amp, bf16-mixed, bf16-mixed-fp32-grads,
 * fp16-mixed. */
const SsPrecision *const *ss_precisions (void);
/* NULL if there is none of that name. (transfer none) */
const SsPrecision *ss_precision_find (const char *name);

G_END_DECLS
