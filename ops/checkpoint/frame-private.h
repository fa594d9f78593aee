/* SPDX-License-Identifier: MIT
 *
 * SsFrame: one checkpointed segment between its forward and its last backward.
 * Counted: by what its nodes saved, by its node, by whoever it waits for.
 */
#pragma once

#include "ops/checkpoint/segment.h"
#include "ops/core/function.h"

G_BEGIN_DECLS

#define SS_MAX_SEGMENT_INPUTS 8

typedef struct _SsFrame
{
  guint ref_count;
  guint n_packed;                /* values that the first forward would have saved */
  guint n_in, n_taken;           /* n_taken: of `kept` */
  guint32 module_id;
  guint is_recomputed : 1, has_autocast : 1;
  guint8 autocast_dtype;
  SsCheckpointCall call;
  gpointer own_self;             /* copy of call.self, or NULL */
  SsValue *in[SS_MAX_SEGMENT_INPUTS];    /* held; NULL: see carrier */
  SsSaved carrier[SS_MAX_CARRIERS];      /* non-reentrant: what Python's _NoopSaveInputs saves */
  GPtrArray *recomputed;         /* SsValue, by pack number; each is taken out once */
  GPtrArray *kept;               /* SsValue: results of kept ops in order; each is taken out once */
  SsValue *output;               /* without output: a plain handle to it, till it is made again */
  SsValue *again, *again_in[SS_MAX_SEGMENT_INPUTS];   /* without output: made again, with history */
} SsFrame;

/* Holds inputs from number `first` on. (transfer full) */
SsFrame *ss_frame_new (SsTape *t, const SsCheckpointCall *call, guint n_in, SsValue *const *in,
                       guint first);
/* Runs the segment under no_grad and puts a node of `kind` over its output, which takes the
 * frame; NULL if nothing wants a gradient, and the frame is gone. (transfer none) */
SsNode *ss_frame_run_without_grad (SsTape *t, SsFrame *self, const SsOpKind *kind, guint n_saved,
                                   SsValue *const *in, SsValue **out);
/* Runs the segment with all that is ambient as it was in its first forward. (transfer full) */
SsValue *ss_frame_run_again (SsTape *t, SsFrame *self, SsValue *const *in);
void ss_frame_unref (gpointer self);
/* As a node's context. */
extern const SsHolder ss_frame_holder;

/* ---- nested backward, as torch.autograd.Function of a checkpoint runs it ---- */
/* Leaves over the inputs: x[i] for in[i], with a gradient if it is a carrier that wants one. */
void ss_frame_detach_inputs (SsTape *t, const SsFrame *self, SsValue *const *in, SsValue **x);
/* torch.autograd.backward (*y, gradient); drops *y, then all of x, and moves their gradients to
 * out. */
void ss_frame_backward (SsTape *t, const SsFrame *self, SsValue **y, SsValue *gradient, SsValue **x,
                        SsValue **out);

G_END_DECLS
