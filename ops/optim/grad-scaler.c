/* SPDX-License-Identifier: MIT
 *
 * torch/amp/grad_scaler.py, without a call of unscale_ by the loop.
 */
#include "ops/optim/grad-scaler.h"

#include "ops/kinds/foreach.h"
#include "ops/kinds/in-place.h"
#include "ops/kinds/pointwise.h"
#include "ops/core/function.h"

/* _lazy_init_scale_growth_tracker */
static void
init (SsGradScaler *self, SsTape *t)
{
  if (self->scale)
    return;
  self->scale = ss_keep (ss_full (t, SS_F32, 0, NULL));
  self->growth_tracker = ss_keep (ss_full (t, SS_I32, 0, NULL));
  ss_value_claim (self->scale, SS_CATEGORY_OPTIMIZER_STATES);
  ss_value_claim (self->growth_tracker, SS_CATEGORY_OPTIMIZER_STATES);
}

SsValue *
ss_grad_scaler_scale (SsGradScaler *self, SsTape *t, SsValue *loss)
{
  SsValue *scaled;

  init (self, t);
  scaled = ss_keep (ss_mul (t, loss, self->scale));
  /* it is one of the loss's scalars, although the loss phase is over */
  ss_value_claim (scaled, SS_CATEGORY_LOGITS);
  if (scaled->node)
    ss_node_mark_loss (scaled->node);
  return scaled;
}

/* self._scale.double ().reciprocal ().float () */
static SsValue *
inverse_scale (SsGradScaler *self, SsTape *t)
{
  SsValue *wide = ss_to (t, self->scale, SS_F64);

  return ss_to (t, ss_plain (t, SS_PLAIN_RECIPROCAL, wide, NULL, SS_F64), SS_F32);
}

/* _MultiDeviceReplicator: the kernel gets a copy even on the scalar's own device. */
static SsValue *
replicate (SsTape *t, SsValue *scalar)
{
  return ss_keep (ss_copy (t, scalar));
}

/* _unscale_grads_, or for a fused step _check_inf_per_device, which scales by one. (transfer
 * full) */
static SsValue *
check_and_unscale (SsGradScaler *self, SsOptimizerRun *optimizer)
{
  SsTape *t = optimizer->tape;
  gboolean is_fused = optimizer->implementation == SS_FUSED;
  g_autoptr (SsValue) inverse
      = ss_keep (is_fused ? ss_full (t, SS_F32, 0, NULL) : inverse_scale (self, t));
  g_autoptr (SsValue) master = ss_keep (ss_full (t, SS_F32, 0, NULL));
  g_autoptr (SsValue) found_inf = replicate (t, master);
  g_autoptr (SsValue) inverse_copy = replicate (t, inverse);
  g_autoptr (GPtrArray) gradients = ss_optimizer_gradients (optimizer), flags = ss_list_new ();
  g_autoptr (GPtrArray) scales = ss_list_new ();

  ss_list_add (flags, found_inf);
  ss_list_add (scales, inverse_copy);
  SS_FOREACH (t, CHECK_AND_UNSCALE, { gradients, 2 }, { flags, 1 }, { scales, 1 });
  return g_steal_pointer (&found_inf);
}

/* A fused optimizer gets sum (found_inf) and scale * 1 as attributes, and skips by itself. */
static void
step_fused (SsGradScaler *self, SsOptimizerRun *optimizer, SsValue *found_inf)
{
  SsTape *t = optimizer->tape;

  optimizer->found_inf = ss_keep (ss_plain (t, SS_PLAIN_ADD, found_inf, NULL, SS_F32));
  optimizer->grad_scale = ss_keep (ss_plain (t, SS_PLAIN_MUL, self->scale, NULL, SS_F32));
  ss_optimizer_step (optimizer);
  ss_drop (&optimizer->grad_scale);
  ss_drop (&optimizer->found_inf);
}

void
ss_grad_scaler_step (SsGradScaler *self, SsOptimizerRun *optimizer)
{
  g_autoptr (SsValue) found_inf = check_and_unscale (self, optimizer);

  if (optimizer->implementation == SS_FUSED)
    step_fused (self, optimizer, found_inf);
  else
    {
      /* any gradient that is not finite makes it skip the step: the host looks */
      ss_item (optimizer->tape, found_inf);
      ss_optimizer_step (optimizer);
    }
  /* update () */
  SS_IN_PLACE (optimizer->tape, UPDATE_SCALE, self->scale, self->growth_tracker, found_inf);
}

void
ss_grad_scaler_clear (SsGradScaler *self)
{
  ss_drop (&self->scale);
  ss_drop (&self->growth_tracker);
}
