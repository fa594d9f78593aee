/* SPDX-License-Identifier: MIT
 *
 * SsLayerGraph: the ops of one layer as a graph, each with the bytes of its result and the flops it
 * takes again; what a choice of results to keep costs, and the best choice for a budget.
 * It knows no tape and no framework.  Who made it owns it.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define SS_LAYER_GRAPH_MAX_OPS 20

typedef struct
{
  const char *name;              /* of the result: "gate" */
  guint64 bytes;
  guint64 flops;                 /* 0: what is only read and written */
  guint32 inputs;                /* results that it reads, bit i: of op i; the block's input is not
                                  * among them */
  gboolean is_read;              /* by a backward */
} SsLayerGraphOp;

typedef struct
{
  guint64 input_bytes;
  guint n_ops;                   /* in an order in which they can run */
  SsLayerGraphOp ops[SS_LAYER_GRAPH_MAX_OPS];
} SsLayerGraph;

/* A Llama block in 2-byte numbers: pre-norm, grouped queries, SwiGLU, fused attention without its
 * log-sum-exp, no dropout.  Results n1 q k v o r n2 gate up act m y of n_tokens x width; y, the
 * next block's input, is read by no backward of this one.  `attention_flops` are 4 T s h, or half
 * of them if causal ones are counted. */
SsLayerGraph ss_layer_graph_llama (guint64 n_tokens, guint64 hidden, guint64 hidden_kv,
                                   guint64 intermediate, guint64 attention_flops);
/* The set of these names, NULL-terminated; all must be names of results. */
guint32 ss_layer_graph_set (const SsLayerGraph *self, const char *const *names);
/* Results that backwards read. */
guint32 ss_layer_graph_read (const SsLayerGraph *self);
guint64 ss_layer_graph_flops (const SsLayerGraph *self, guint32 ops);

typedef struct
{
  guint32 recomputed;            /* ops that run again, each once */
  guint64 recompute_flops;
  guint64 needed_bytes;          /* of what is kept and read, by a backward or by what runs again:
                                  * what JAX saves */
  guint64 kept_bytes;            /* of all that is kept: what PyTorch's selective checkpoint
                                  * caches */
} SsLayerGraphCost;

/* Of keeping the results `kept` beside the block's input.  The backward's other operands are made
 * again, from what is kept and what must be made again for that. */
SsLayerGraphCost ss_layer_graph_cost (const SsLayerGraph *self, guint32 kept);
/* The set of read results of at most `budget_bytes` for which the fewest flops run again, then of
 * the fewest bytes, then the lowest number; by trying all.  At most 16 results are read. */
guint32 ss_layer_graph_best (const SsLayerGraph *self, guint64 budget_bytes);

/* Named choices (specs of frameworks): what each drops of the read results. */
typedef struct
{
  const char *name;
  const char *const *dropped;    /* NULL-terminated */
  gboolean repeats_output;       /* the op that makes the block's output runs again though nothing
                                  * reads it: checkpointed code without early stop */
} SsBlockPolicy;

/* For ss_layer_graph_llama; ends with a name that is NULL. */
const SsBlockPolicy *ss_layer_graph_policies (void);

G_END_DECLS
