/* SPDX-License-Identifier: MIT
 *
 * Activation checkpointing: runs a segment of a model without keeping what its nodes would save,
 * and again when a gradient needs it.  It knows no policy: that chooses the segments.
 */
#pragma once

#include "plan/policy.h"
#include "ops/core/hooks.h"
#include "ops/core/tape.h"

G_BEGIN_DECLS

/* Code of a segment: one output; `in` belong to the caller. (transfer floating) */
typedef SsForward SsSegment;

#define SS_MAX_CARRIERS 3

/* One call of torch.utils.checkpoint. */
typedef struct
{
  SsSegment run;
  gconstpointer self;
  gsize self_bytes;              /* the checkpoint keeps a copy of `self`; 0: it outlives the run */
  guint n_carriers;              /* the first inputs: passed by position, they carry gradients */
  guint n_by_position;           /* the carriers, and what else is passed so; 0: the carriers */
  const char *layers;            /* list that has `layer`, whose backward begins with it; or NULL */
  gint layer;
  gboolean is_reentrant;
  gboolean has_early_stop;       /* non-reentrant: recomputation ends at the last saved value */
  const SsKeptOps *keep;         /* non-reentrant: ops whose results are kept instead; NULL: none */
} SsCheckpointCall;

/* Keeps all n_in values that Python passes, used or not: what a reentrant one gets by position goes
 * with its node's backward, what it gets by name with the graph. Within another checkpoint the
 * carriers are saved values of that one. (transfer floating) */
SsValue *ss_checkpoint (SsTape *t, const SsCheckpointCall *call, guint n_in, SsValue *const *in);

/* Megatron's CheckpointWithoutOutput (core/tensor_parallel/random.py): a checkpoint whose output
 * can be let go. (transfer floating) */
SsValue *ss_checkpoint_without_output (SsTape *t, const SsCheckpointCall *call, guint n_in,
                                       SsValue *const *in);
/* discard_output_and_register_recompute: lets the bytes of such an output go, though others hold
 * it, until the gradient of `hook` is complete. */
void ss_checkpoint_discard (SsTape *t, SsValue *out, SsValue *hook);

G_END_DECLS
