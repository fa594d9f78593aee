/* SPDX-License-Identifier: MIT
 *
 * The loop over decoder layers, with checkpointing as the policy plans it.
 */
#pragma once

#include "ops/checkpoint/segment.h"
#include "ops/nn/setup.h"

G_BEGIN_DECLS

/* Code of one layer: in[0] the hidden states, the rest as given. `layers` has n of `stride`
 * bytes. */
typedef struct
{
  const SsModelSetup *setup;
  const char *name;              /* "layers": "model.layers.3" is layer 3 */
  SsSegment forward;
  const char *layers;
  gsize stride;
  guint n;
  guint n_by_position;           /* inputs that Python passes so; 0: the hidden states alone */
} SsLayers;

/* Runs all layers on *hidden (rebound), passing n_extra further values to each. */
void ss_layers_run (SsTape *t, const SsLayers *layers, SsValue **hidden, guint n_extra,
                    SsValue *const *extra);

G_END_DECLS
