/* SPDX-License-Identifier: MIT
 *
 * SsModelSetup: what a model's code is told besides its numbers: kernels, checkpoints, adapters.
 * Plain data, borrowed. It knows no family.
 */
#pragma once

#include "memory/tensor.h"
#include "ops/kernel-profile.h"
#include "plan/policy.h"

G_BEGIN_DECLS

typedef struct _SsModelConfig SsModelConfig;

typedef struct
{
  char *type;                    /* "lora", or NULL for none */
  guint rank;
  char **targets;                /* SsLinearName of the family, NULL-terminated */
  gboolean is_fp32;              /* dtype="fp32": adapters in fp32 over a bf16 base */
} SsAdapter;

typedef struct
{
  const SsModelConfig *config;
  SsKernels kernels;
  SsCheckpointing checkpointing;
  const GArray *ranges;          /* SsLayerRange: what its policy makes of the layers */
  guint drops;                   /* SsDrop, or-ed */
  SsDtype dtype;                 /* of the parameters */
  const SsAdapter *adapter;      /* NULL: none */
} SsModelSetup;

G_END_DECLS
