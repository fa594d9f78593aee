/* SPDX-License-Identifier: MIT
 *
 * Invented recordings of the shape real ones have, for the tests of what reads recordings.
 * A run of a few numbers: every layer keeps the same bytes, every op lasts the same time.
 */
#pragma once

#include "sim/recording.h"

G_BEGIN_DECLS

#define SS_MIB (G_GUINT64_CONSTANT (1) << 20)
#define SS_GIB (G_GUINT64_CONSTANT (1) << 30)

typedef struct
{
  const char *scenario_name, *model_name, *device_name;
  guint n_layers, n_steps, n_micro_batches;
  guint n_ops;                   /* per layer and forward; backward has twice as many */
  guint64 capacity_bytes, context_bytes;
  /* totals of the model, except where a layer is named */
  guint64 parameter_bytes, master_bytes, gradient_bytes, state_bytes;
  guint64 layer_activation_bytes, layer_temporary_bytes, logits_bytes, workspace_bytes;
} SsFixture;

/* Four layers, two steps, 8 MiB of parameters, 64 MiB of device: fits. */
extern const SsFixture ss_fixture_fits;
/* The same on 36 MiB: step 1 fits, step 2 dies in forward because the states of step 1 stay. */
extern const SsFixture ss_fixture_oom;

/* Runs of many shapes, for what must hold for all of them: nothing of it is near a real model. */
extern const SsFixture ss_fixture_gallery[];
extern const guint ss_n_fixture_gallery;

/* (transfer full) */
SsRecording *ss_fixture_record (const SsFixture *fixture);

G_END_DECLS
