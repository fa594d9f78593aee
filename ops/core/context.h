/* SPDX-License-Identifier: MIT
 *
 * SsContext: all that is ambient while code is traced, as PyTorch's thread-local state is: plain
 * data, saved by copying it and restored whole:
 *   SsContext outer = *ss_tape_context (t); ... *ss_tape_context (t) = outer;
 * What one member points to belongs to whoever opened it. It knows no op.
 */
#pragma once

#include "ops/core/dispatch.h"
#include "ops/core/saved.h"

G_BEGIN_DECLS

/* The host threads that issue work, each with a workspace of its own. */
typedef enum
{
  SS_THREAD_FORWARD,
  SS_THREAD_BACKWARD,            /* autograd's, of the device */
  SS_N_THREADS
} SsThread;

typedef struct
{
  /* where we are */
  guint8 phase;                  /* SsPhase */
  guint8 thread;                 /* SsThread */
  guint8 stream;                 /* SsStreamId: where kernels run and storages are requested */
  guint32 step, micro_batch;
  guint32 module_id;
  guint n_native;                /* SS_NATIVE scopes we are in */
  /* what kind of code runs */
  guint is_grad_enabled : 1;
  guint is_optimizer : 1;
  guint in_backward : 1;
  guint in_recompute : 1;        /* of a checkpointed segment */
  guint is_loss_node : 1;        /* in backward: the node was made in the loss phase */
  /* autocast */
  guint8 lower_dtype;
  GArray *casts;                 /* SsCast; NULL: autocast is off */
  /* innermost ones */
  const SsSavedScope *saved_hooks;
  const SsDispatchMode *modes;
  GArray **callbacks;            /* of the backward under way; NULL: none is */
} SsContext;

SsContext *ss_tape_context (SsTape *t);

G_END_DECLS
