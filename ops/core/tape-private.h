/* SPDX-License-Identifier: MIT
 *
 * The insides of the tape, the program and the graph, for the files of ops/core/ that make them.
 */
#pragma once

#include "memory/slab.h"
#include "memory/stream-id.h"
#include "ops/core/function.h"
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
  guint n_uses;                  /* SS_USE_ON_STREAM instructions */
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
  guint8 is_loss : 1;            /* made in the loss phase: its gradients are the logits' */
  guint8 is_reached : 1;         /* as of values */
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
  guint32 next_event;
  SsValue *newest_value;         /* of those alive; the others are linked to it */
  SsTraceWatch watch;            /* or NULL */
  gpointer watch_data;
  GArray *unwound; /* guint32: storages that the failed request's unwinding releases */
  SsStorage *workspace[SS_N_THREADS][SS_N_STREAMS];
  GHashTable *module_ids;        /* SsModuleInfo key -> id */
  GHashTable *forward_hooks;     /* module id -> GArray; NULL: none */
  GArray *begun_layers;          /* gboolean by layer: its backward has been marked */
};

void ss_tape_emit (SsTape *t, SsInstructionType type, guint8 stream, guint32 index);
void ss_storage_claim (SsStorage *self, SsCategory category);
gint ss_tape_layer (const SsTape *t);

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
