/* SPDX-License-Identifier: MIT */
#include "ops/precision.h"

static const SsPrecision fp32 = {
  .name = "fp32", .description = "everything in fp32",
  .parameter_dtype = SS_F32, .autocast_dtype = SS_N_DTYPES,
};
static const SsPrecision bf16 = {
  .name = "bf16", .description = "parameters, gradients and states in bf16",
  .parameter_dtype = SS_BF16, .autocast_dtype = SS_N_DTYPES,
};
static const SsPrecision bf16_amp = {
  .name = "bf16-amp", .description = "fp32 parameters under PyTorch's autocast to bf16",
  .parameter_dtype = SS_F32, .autocast_dtype = SS_BF16,
};
static const SsPrecision fp16_amp = {
  .name = "fp16-amp", .description = "fp32 parameters under autocast to fp16, with GradScaler",
  .parameter_dtype = SS_F32, .autocast_dtype = SS_F16, .has_scaler = TRUE,
};
static const SsPrecision bf16_mixed = {
  .name = "bf16-mixed", .description = "bf16 parameters with an fp32 master copy (assumed)",
  .parameter_dtype = SS_BF16, .autocast_dtype = SS_N_DTYPES, .has_master = TRUE, .is_assumed = TRUE,
};
static const SsPrecision bf16_mixed_fp32_grads = {
  .name = "bf16-mixed-fp32-grads",
  .description = "the same, gradients accumulated in fp32 buffers (assumed)",
  .parameter_dtype = SS_BF16,
  .autocast_dtype = SS_N_DTYPES,
  .has_master = TRUE,
  .accumulates_f32 = TRUE,
  .is_assumed = TRUE,
};

/* apex/amp/_process_optimizer.py: opt_level O2 */
static const SsPrecision fp16_mixed = {
  .name = "fp16-mixed",
  .description = "fp16 parameters with fp32 masters and their gradients, as apex O2 (assumed)",
  .parameter_dtype = SS_F16,
  .autocast_dtype = SS_N_DTYPES,
  .has_master = TRUE,
  .widens_gradients = TRUE,
  .is_assumed = TRUE,
};

const SsPrecision *const *
ss_precisions (void)
{
  static const SsPrecision *const all[] = {
    &fp32, &bf16, &bf16_amp, &fp16_amp, &bf16_mixed, &bf16_mixed_fp32_grads, &fp16_mixed,
    NULL,
  };

  return all;
}

const SsPrecision *
ss_precision_find (const char *name)
{
  for (const SsPrecision *const *p = ss_precisions (); *p; p++)
    if (g_str_equal ((*p)->name, name))
      return *p;
  return NULL;
}
