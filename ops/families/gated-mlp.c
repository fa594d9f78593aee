/* SPDX-License-Identifier: MIT */
#include "ops/families/gated-mlp.h"

#include "ops/kinds/liger.h"
#include "ops/kinds/pointwise.h"
#include "ops/nn/module.h"

void
ss_gated_mlp_build (SsTape *t, SsModel *model, SsGatedMlp *mlp, gint64 h, gint64 f,
                    gboolean has_bias)
{
  SS_MODULE (t, "mlp");

  mlp->setup = model->setup;
  ss_model_linear (t, model, &mlp->gate, "gate_proj", f, h, has_bias);
  ss_model_linear (t, model, &mlp->up, "up_proj", f, h, has_bias);
  ss_model_linear (t, model, &mlp->down, "down_proj", h, f, has_bias);
}

/* the module act_fn holds its argument while it runs */
static SsValue *
act_fn (SsTape *t, SsValue *x_arg)
{
  g_autoptr (SsValue) x = ss_keep (x_arg);

  return ss_silu (t, x);
}

/* in: gate, up */
static SsValue *
gated_activation (SsTape *t, gconstpointer self, SsValue *const *in)
{
  const SsGatedMlp *mlp = self;

  if (mlp->setup->kernels.mlp == SS_MLP_LIGER)
    return ss_liger_silu_mul (t, in[0], in[1]);
  return ss_mul (t, act_fn (t, in[0]), in[1]);
}

/* with the activation as a function of its own, whose output goes */
static SsValue *
without_activation (SsTape *t, const SsGatedMlp *mlp, SsValue *x)
{
  g_autoptr (SsValue) gate = ss_keep (ss_linear (t, &mlp->gate, x));
  g_autoptr (SsValue) up = ss_keep (ss_linear (t, &mlp->up, x));
  g_autoptr (SsValue) h = ss_keep (ss_module_run (t, mlp->setup, SS_DROP_ACTIVATIONS,
                                                  gated_activation, mlp, 2, SS_VALUES (gate, up)));

  ss_module_replace (t, mlp->setup, SS_DROP_ACTIVATIONS, &h, ss_linear (t, &mlp->down, h));
  return ss_give (&h);
}

SsValue *
ss_gated_mlp (SsTape *t, gconstpointer self, SsValue *const *in)
{
  SS_MODULE (t, "mlp");
  const SsGatedMlp *mlp = self;
  SsValue *x = in[0], *gate;

  if (mlp->setup->drops & SS_DROP_ACTIVATIONS)
    return without_activation (t, mlp, x);
  gate = ss_linear (t, &mlp->gate, x);
  if (mlp->setup->kernels.mlp == SS_MLP_LIGER)
    return ss_linear (t, &mlp->down, ss_liger_silu_mul (t, gate, ss_linear (t, &mlp->up, x)));
  gate = act_fn (t, gate);
  return ss_linear (t, &mlp->down, ss_mul (t, gate, ss_linear (t, &mlp->up, x)));
}
