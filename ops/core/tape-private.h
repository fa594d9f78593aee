/* SPDX-License-Identifier: MIT
 *
 * The insides of the tape, the program and the graph, for the files of ops/ that make them.
 */
#pragma once

#include "memory/slab.h"
#include "ops/core/context.h"
#include "ops/core/hooks.h"
#include "ops/core/tape.h"

G_BEGIN_DECLS

/* ---- program ---- */

typedef struct
{
  guint32 parent;
  gint32 layer;                  /* inherited from the parent; -1 outside layers */
  gint32 index;                  /* "layers.3": 3; -1 for a plain name */
  const char *name;              /* static */
} SsModuleInfo;

struct _SsProgram
{
  gatomicrefcount ref_count;
  GArray *code;                  /* SsInstruction */
  GArray *storages;              /* SsStorageInfo */
  GArray *ops;                   /* SsOp */
  GArray *operands;              /* SsTensor */
  GArray *marks;                 /* SsMark */
  GArray *modules;               /* SsModuleInfo */
  guint64 n_parameters, n_trainable_parameters;
};

SsProgram *ss_program_new (void);

/* ---- graph ---- */

typedef struct
{
  SsNode *node;
  guint slot;
} SsEdge;

/* One differentiable output of a node: its metadata, and the gradient that waits for it. */
typedef struct
{
  SsTensor tensor;
  SsValue *incoming;
} SsSlot;

struct _SsNode
{
  SsTape *tape;
  const SsOpKind *kind;
  guint32 ref_count;
  guint32 sequence; /* G_MAXUINT32: AccumulateGrad, which runs as soon as it is ready */
  guint32 visited;               /* number of the backward that counted it */
  guint32 n_pending;             /* edges that still lead to it in that backward */
  guint32 module_id;
  guint16 n_edges, n_saved, n_slots;
  guint8 is_loss;                /* made in the loss phase: its gradients are the logits' */
  SsEdge *edge;
  SsSaved *saved;
  SsSlot *slot;
  SsValue *leaf;                 /* AccumulateGrad: held */
  GArray *hooks;                 /* of tensors that it made, and its own; NULL: none */
  gpointer context;              /* of a function's own */
  const SsHolder *holder;        /* of the context; NULL: not held */
  gint64 attribute[SS_N_ATTRIBUTES];
};

SsNode *ss_node_new (SsTape *t, const SsOpKind *kind, guint n_edges, guint n_saved, guint n_slots);
void ss_node_unref (SsNode *self);
/* What an edge leads to: the value's node, its leaf's AccumulateGrad, or NULL. (transfer full) */
SsNode *ss_node_producing (SsTape *t, SsValue *value);
/* A node that no kernel made, over `out` (torch.autograd.Function); saves nothing yet.
 * (transfer none) */
SsNode *ss_node_attach (SsTape *t, const SsOpKind *kind, guint n_in, SsValue *const *in,
                        guint n_saved, SsValue *out);

/* ---- tape ---- */

typedef struct
{
  SsValue *leaf, *cast;
} SsCast;

/* Nodes of up to so many bytes have slabs of their own, one for each multiple of the step; a larger
 * one is rare. */
#define SS_NODE_STEP 128
#define SS_N_NODE_SLABS 12

struct _SsTape
{
  SsProgram *program;
  SsSlab storages, values, nodes[SS_N_NODE_SLABS];
  SsTarget target;
  GError *error;
  SsContext context;
  guint is_recording : 1, is_stopped : 1, keeps_operands : 1;
  guint stops_unwound : 1;       /* a request that fails ends the trace */
  guint32 next_sequence, backward_id;
  SsValue *newest_value;         /* of those alive; the others are linked to it */
  SsTraceWatch watch;            /* or NULL */
  gpointer watch_data;
  GArray *unwound; /* guint32: storages that the failed request's unwinding releases */
  SsStorage *workspace[SS_N_THREADS];
  GHashTable *module_ids;        /* SsModuleInfo key -> id */
  GHashTable *forward_hooks;     /* module id -> GArray; NULL: none */
  GArray *begun_layers;          /* gboolean by layer: its backward has been marked */
};

void ss_tape_emit (SsTape *t, SsInstructionType type, guint8 stream, guint32 index);
SsStorage *ss_storage_new (SsTape *t, guint64 bytes, gboolean is_scratch);
SsStorage *ss_storage_ref (SsStorage *self);
void ss_storage_unref (SsStorage *self);
/* untyped_storage ().resize_ (0), and back: the handles stay. */
void ss_storage_discard (SsStorage *self);
void ss_storage_restore (SsStorage *self);
void ss_storage_claim (SsStorage *self, SsCategory category);
/* A floating value over `storage`, whose reference it takes; NULL on a stopped tape. */
SsValue *ss_value_new (SsTape *t, const SsTensor *tensor, SsStorage *storage);
/* Sinks without saying that a name holds it. */
SsValue *ss_value_sink (SsValue *self);
/* What a multi-tensor kernel made beside a call's outputs: operands of the last op. */
void ss_tape_add_outputs (SsTape *t, guint n, SsValue *const *values);
gint ss_tape_layer (const SsTape *t);
/* The first op of a layer's backward comes next; later calls for the same layer mark nothing. */
void ss_tape_mark_backward_begin (SsTape *t, gint layer);
/* AccumulateGrad for a parameter, with all hooks; they may put another one in *gradient. */
void ss_accumulate_grad (SsTape *t, SsValue *parameter, SsValue **gradient);

/* ---- a request that fails ---- */
/* Finds what the exception releases when the request for that storage, the newest, fails. */
void ss_tape_unwind (SsTape *t, guint32 storage_id);

/* ---- hooks ---- */
void ss_hooks_run_tensor (SsTape *t, const GArray *hooks, guint slot, SsValue **gradient);
void ss_hooks_run_before (SsTape *t, const SsNode *n, SsValue **gradient);
void ss_hooks_run_after (SsTape *t, const SsNode *n, SsValue **of_inputs,
                         SsValue *const *of_outputs);
void ss_hooks_run_accumulated (SsTape *t, SsValue *leaf);
void ss_hooks_each (const GArray *hooks, SsVisit visit, gpointer visit_data);
/* Consumes the queue. */
void ss_callbacks_run (SsTape *t, GArray **queue);

G_END_DECLS
