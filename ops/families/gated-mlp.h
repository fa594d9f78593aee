/* SPDX-License-Identifier: MIT
 *
 * The MLP of Llama's kin: down (silu (gate (x)) * up (x)), by implementation.
 */
#pragma once

#include "ops/families/model.h"

G_BEGIN_DECLS

typedef struct
{
  const SsModelSetup *setup;
  SsLinear gate, up, down;
} SsGatedMlp;

/* The module "mlp": gate and up (f, h), down (h, f). */
void ss_gated_mlp_build (SsTape *t, SsModel *model, SsGatedMlp *mlp, gint64 h, gint64 f,
                         gboolean has_bias);
/* self: an SsGatedMlp; in: what it is applied to.  A segment. */
SsValue *ss_gated_mlp (SsTape *t, gconstpointer self, SsValue *const *in);

G_END_DECLS
