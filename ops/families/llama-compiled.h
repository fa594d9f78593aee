/* SPDX-License-Identifier: MIT
 *
 * A Llama under torch.compile: the two graphs that AOTAutograd makes of model and loss, as inductor
 * runs them.  Their insides, shared by the files llama-compiled*.c.
 */
#pragma once

#include "ops/families/llama.h"
#include "ops/families/model.h"
#include "ops/core/function.h"

G_BEGIN_DECLS

/* What forward keeps for backward: once, and per layer. */
enum
{
  SS_GRAPH_LABELS,               /* (B, S + 1) i64 */
  SS_GRAPH_MASK,                 /* (B, 1, S, S), added to the scores; NULL: flash attention */
  SS_GRAPH_DOWN,                 /* (T, H) the last MLP's output, summed where types allow */
  SS_GRAPH_NORMED,               /* (T, H) the head's input */
  SS_GRAPH_ROOTS,                /* (T) f32: reciprocal roots of a norm's rows */
  SS_GRAPH_LOGITS,               /* (T, V) */
  SS_GRAPH_MAX, SS_GRAPH_LOG_SUM,   /* (T) f32 */
  SS_GRAPH_N_TARGETS,            /* f32 scalar */
  SS_GRAPH_HEAD,                 /* the head's weight cast; NULL: needs no cast */
  SS_GRAPH_N_ONCE
};

enum
{
  SS_LAYER_X, SS_LAYER_X_NORMED, SS_LAYER_X_ROOTS,
  SS_LAYER_Q_RAW, SS_LAYER_Q_ROOTS, SS_LAYER_K_RAW, SS_LAYER_K_ROOTS,   /* with head norms only */
  SS_LAYER_Q, SS_LAYER_K, SS_LAYER_V,
  SS_LAYER_OUT, SS_LAYER_LOG_SUM_EXP, SS_LAYER_SEED, SS_LAYER_OFFSET,   /* of attention */
  SS_LAYER_MIDDLE, SS_LAYER_MIDDLE_NORMED, SS_LAYER_MIDDLE_ROOTS,
  SS_LAYER_GATE, SS_LAYER_UP, SS_LAYER_PRODUCT,
  SS_LAYER_CAST,                 /* the first of the linears' weights, in the order below */
  SS_LAYER_N = SS_LAYER_CAST + 7
};

/* A layer's parameters in the order of parameters (); the norms of heads may be absent. */
enum
{
  SS_WEIGHT_Q, SS_WEIGHT_K, SS_WEIGHT_V, SS_WEIGHT_O,
  SS_WEIGHT_Q_NORM, SS_WEIGHT_K_NORM,
  SS_WEIGHT_GATE, SS_WEIGHT_UP, SS_WEIGHT_DOWN,
  SS_WEIGHT_INPUT_NORM, SS_WEIGHT_POST_NORM,
  SS_WEIGHT_N
};

typedef struct
{
  SsTape *tape;
  SsModel *model;
  const SsLlamaConfig *config;
  guint n_layers;
  gint64 b, s, t;                /* sequences, tokens of one, of all */
  SsDtype low, wide;             /* type of products; of the residual stream */
  SsSaved *kept;
  SsValue **grad;                /* backward: by parameter; held */
  /* Buffers between kernels that a later one of equal size takes over (inductor's
   * allow_buffer_reuse: last in, first out), alive meanwhile. */
  GPtrArray *pool;
} SsGraph;

void ss_graph_init (SsGraph *g, SsTape *t, SsModel *model, SsDtype low, gint64 b, gint64 s);
void ss_graph_clear (SsGraph *g);

SsValue **ss_graph_once (const SsGraph *g, guint field);
SsValue **ss_graph_layer (const SsGraph *g, guint layer, guint field);

/* A buffer: one of the pool, else a new one. (transfer full) */
SsValue *ss_graph_take (SsGraph *g, SsDtype dtype, guint n_dims, const gint64 *size);
/* The same for (B, heads, S, D), heads within tokens. */
SsValue *ss_graph_take_heads (SsGraph *g, gint64 n_heads);
/* The buffer was used last: a later kernel takes it over. */
void ss_graph_give (SsGraph *g, SsValue **buffer);
/* Nothing takes over what is in the pool. */
void ss_graph_flush (SsGraph *g);
/* A buffer seen as (T, width). (transfer full) */
/* The fused attention that the model's choice comes to. */
SsAttentionKernel ss_graph_attention (const SsGraph *g, const SsValue *q);
SsValue *ss_graph_rows (const SsGraph *g, SsValue *buffer, gint64 width);

/* Which parameter; in parameters () order. */
guint ss_graph_index (const SsGraph *g, guint layer, guint weight);
guint ss_graph_norm_index (const SsGraph *g);
/* The embedding's if they are tied. */
guint ss_graph_head_index (const SsGraph *g);
SsValue *ss_graph_parameter (const SsGraph *g, guint index);
/* The weight in the type of products, as kept if it had to be cast. (transfer none) */
SsValue *ss_graph_weight (const SsGraph *g, guint layer, guint weight);

/* kind->backward of the node over the loss; its attributes: B, S, low type. */
void ss_graph_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out);
/* The family's function of the profile "compiled". */
SsValue *ss_llama_compiled (SsTape *t, SsModel *model, SsValue *ids, SsValue **logits);

G_END_DECLS
