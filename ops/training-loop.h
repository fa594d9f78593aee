/* SPDX-License-Identifier: MIT
 *
 * The training loop: from a model's numbers and a recipe to the traced program: load,
 * micro-batches of forward, loss and backward, clipping, the update, zero_grad, over all steps.
 * It knows no device but SsTarget, no allocator, no clock.
 */
#pragma once

#include "ops/families/model.h"
#include "ops/input.h"
#include "ops/optim/optimizer.h"
#include "ops/precision.h"

G_BEGIN_DECLS

/* Everything a trace depends on.  Plain data; pointers are borrowed for the call. */
typedef struct
{
  SsModelConfig model;
  guint n_steps;                 /* at least 1 */
  gint64 micro_batch;            /* sequences */
  gint64 sequence_length;        /* tokens */
  guint gradient_accumulation;   /* micro-batches per step */
  gboolean has_resume;           /* states exist before step 1 */
  gboolean zeroes_in_place;      /* zero-grad="zero": gradients kept */
  gboolean holds_outputs;        /* the loop keeps logits and loss until the next forward */
  gboolean has_clip;             /* clip_grad_norm_ */
  const SsPrecision *precision;
  const SsOptimizer *optimizer;
  SsImplementation implementation;
  SsGrouping grouping;           /* of the optimizer's parameters */
  SsCheckpointing checkpointing;
  SsKernels kernels;
  SsAdapter adapter;             /* type NULL: none */
  SsInputSettings input;
} SsTraceConfig;

/* SS_OPS_ERROR_OVERFLOW: a size or the program is too large. SS_OPS_ERROR_SHAPE: sizes that a
 * kernel refuses. SS_OPS_ERROR_UNSUPPORTED: kernels that have no rules for this model or recipe.
 * `keep_operands` for dump-ops. (transfer full) */
SsProgram *ss_trace (const SsTraceConfig *config, const SsTarget *target, gboolean keep_operands,
                     GError **error);

/* The same, and `watch` is told of each instruction; if it says that a request fails, *unwound is
 * what the exception has released by the time the training loop's `except` runs (guint32 storage
 * ids, rising; transfer full), else NULL.  The trace goes on as if it had not failed.  (transfer
 * full) */
SsProgram *ss_trace_watched (const SsTraceConfig *config, const SsTarget *target,
                             SsTraceWatch watch, gpointer user_data, GArray **unwound,
                             GError **error);

/* When the request for that storage fails, what its exception has released by the time the
 * training loop's `except` runs: guint32 storage ids, rising. Traces again, up to that point.
 * (transfer full) */
GArray *ss_trace_unwound (const SsTraceConfig *config, const SsTarget *target, guint32 storage_id);

G_END_DECLS
