/* SPDX-License-Identifier: MIT
 *
 * SsGradScaler: torch.amp.GradScaler: the loss is scaled before backward, gradients are unscaled
 * and checked before the step.  Owned by the training loop.
 */
#pragma once

#include "ops/optim/optimizer.h"

G_BEGIN_DECLS

typedef struct
{
  SsValue *scale, *growth_tracker;   /* made by the first ss_grad_scaler_scale; held */
} SsGradScaler;

/* scaler.scale (loss): a new loss, whose backward scales the gradient. (transfer full) */
SsValue *ss_grad_scaler_scale (SsGradScaler *self, SsTape *t, SsValue *loss);
/* scaler.step (optimizer); scaler.update () */
void ss_grad_scaler_step (SsGradScaler *self, SsOptimizerRun *optimizer);
/* Lets go of what it holds. */
void ss_grad_scaler_clear (SsGradScaler *self);

G_END_DECLS
