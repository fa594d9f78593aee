/* SPDX-License-Identifier: MIT */
#include "ops/nn/rms-norm.h"

#include "ops/kinds/fused.h"
#include "ops/kinds/liger.h"
#include "ops/kinds/pointwise.h"
#include "ops/kinds/reduce.h"

/* transformers' LlamaRMSNorm, kernel by kernel */
static SsValue *
rms_norm_hf (SsTape *t, SsValue *weight, SsValue *x_arg, gboolean is_rounded_last)
{
  SsDtype dtype = ss_value_dtype (x_arg);
  /* nn.Module.__call__ holds its arguments until forward has returned */
  g_autoptr (SsValue) x = ss_keep (x_arg);
  g_autoptr (SsValue) h = ss_keep (ss_to (t, x, SS_F32));
  g_autoptr (SsValue) variance = ss_keep (ss_mean_last (t, ss_pow (t, h)));

  ss_rebind (&h, ss_mul (t, h, ss_rsqrt (t, ss_add_scalar (t, variance))));
  if (is_rounded_last)
    return ss_to (t, ss_mul (t, weight, h), dtype);
  return ss_mul (t, weight, ss_to (t, h, dtype));
}

SsValue *
ss_rms_norm (SsTape *t, SsNormChoice choice, const char *name, SsValue *weight, SsValue *x)
{
  SS_MODULE (t, name);

  if (choice == SS_NORM_PAPER)
    return ss_fused_norm (t, x, weight, NULL);
  if (choice == SS_NORM_LIGER)
    return ss_liger_rms_norm (t, x, weight);
  return rms_norm_hf (t, weight, x, FALSE);
}

SsValue *
ss_rms_norm_rounded_last (SsTape *t, SsNormChoice choice, const char *name, SsValue *weight,
                          SsValue *x)
{
  SS_MODULE (t, name);

  if (choice == SS_NORM_PAPER)
    return ss_fused_norm (t, x, weight, NULL);
  if (choice == SS_NORM_LIGER)
    ss_tape_fail (t, SS_OPS_ERROR_UNSUPPORTED,
                  "norm=\"liger\" has no rules for a norm that rounds last");
  return rms_norm_hf (t, weight, x, TRUE);
}
