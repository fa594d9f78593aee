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
  double dropout;                /* lora_dropout, on their inputs */
  gboolean is_quantised;         /* type="qlora": the linears in nf4 */
  gboolean is_double_quantised;  /* their absmaxes in 8 bits */
  gboolean prepares_kbit;        /* prepare_model_for_kbit_training */
} SsAdapter;

typedef struct
{
  const SsModelConfig *config;
  SsKernels kernels;
  SsCheckpointing checkpointing;
  const GArray *ranges;          /* SsLayerRange: what its policy makes of the layers */
  guint drops;                   /* SsDrop, or-ed */
  SsDtype dtype;                 /* of the parameters */
  SsDtype compute_dtype;         /* of quantised linears and of adapters */
  const SsAdapter *adapter;      /* NULL: none */
} SsModelSetup;

G_END_DECLS
