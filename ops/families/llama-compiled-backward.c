/* SPDX-License-Identifier: MIT
 *
 * torch.compile (model), loss inside: the backward graph.  Every gradient it returns stays in it
 * until its end; kept values go where they are used last.  Products come in the order in which
 * autograd, which is traced for the graph, makes them: nodes of a later call first, of one node the
 * weight's gradient before the input's.  Inductor may move them.  Source: see
 * llama-compiled-forward.c.
 */
#include "ops/families/llama-compiled.h"

#include "ops/families/inductor-sum.h"
#include "ops/kinds/attention.h"
#include "ops/kinds/compiled.h"
#include "ops/kinds/matmul.h"
#include "ops/kinds/pointwise.h"
#include "ops/kinds/view.h"

/* q, k and v take one norm's output */
#define MAX_BRANCHES 3

typedef struct
{
  SsGraph graph;
  SsValue *grad; /* (T, H) of the residual stream, in its type; written over all the way */
  SsValue *low; /* the same in the type of products; the same buffer if that is its type */
} Backward;

/* ---- gradients of parameters ---- */

static SsValue *
take_like (SsGraph *g, SsDtype dtype, const SsValue *x)
{
  return ss_graph_take (g, dtype, x->tensor.n_dims, x->tensor.size);
}

/* dy^T x, and its cast to the parameter's type; the product's buffer serves later ones if
 * `is_reused` */
static SsValue *
weight_product (SsGraph *g, guint index, SsValue *dy, SsValue *x)
{
  SsValue *out = take_like (g, g->low, ss_graph_parameter (g, index));

  ss_mm_out (g->tape, ss_transpose (g->tape, dy, 0, 1), x, out);
  return out;
}

static void
cast_gradient (SsGraph *g, guint index, SsValue *product)
{
  g->grad[index] = take_like (g, SS_F32, ss_graph_parameter (g, index));
  SS_COMPILED (g->tape, CAST, 0, product, g->grad[index]);
}

static void
linear_gradient (SsGraph *g, guint layer, guint weight, SsValue *dy, SsValue *x)
{
  guint index = ss_graph_index (g, layer, weight);
  SsValue *product = weight_product (g, index, dy, x);

  if (ss_value_dtype (ss_graph_parameter (g, index)) == g->low)
    {
      g->grad[index] = product;
      return;
    }
  cast_gradient (g, index, product);
  ss_graph_give (g, &product);
}

/* `dy` stands for what the norm's output gets, `x` for its input */
static void
norm_gradient (SsGraph *g, guint index, SsValue *dy, SsValue *x, SsValue *roots)
{
  SsValue *w = ss_graph_parameter (g, index);
  gint64 width = ss_value_size (w, 0);
  gint64 n_rows = (gint64) (ss_tensor_count (&x->tensor) / (guint64) width);
  gint64 n_partials = ss_inductor_n_partial_sums (ss_tape_target (g->tape), n_rows, width);
  g_autoptr (SsValue) partial = NULL;

  if (n_partials == 1)
    {
      g->grad[index] = take_like (g, ss_value_dtype (w), w);
      SS_COMPILED (g->tape, NORM_SUM, 0, dy, x, roots, g->grad[index]);
      return;
    }
  partial = ss_graph_take (g, SS_F32, SS_DIMS (n_partials * width));
  SS_COMPILED (g->tape, NORM_SUM, 0, dy, x, roots, partial);
  g->grad[index] = take_like (g, ss_value_dtype (w), w);
  SS_COMPILED (g->tape, NORM_SUM, 0, partial, g->grad[index]);
}

/* ---- the residual stream ---- */

/* Buffers of one type serve as both; else the products get a copy of their own. */
static void
lower_grad (Backward *b)
{
  SsGraph *g = &b->graph;

  if (g->low == g->wide)
    {
      b->low = ss_value_ref (b->grad);
      return;
    }
  b->low = take_like (g, g->low, b->grad);
  SS_COMPILED (g->tape, CAST, 0, b->grad, b->low);
}

static void
drop_low (Backward *b)
{
  if (b->graph.low == b->graph.wide)
    g_clear_pointer (&b->low, ss_value_unref);
  else
    ss_graph_give (&b->graph, &b->low);
}

/* dy w, for y = x w^T */
static SsValue *
input_gradient (SsGraph *g, SsValue *dy, SsValue *w)
{
  SsValue *out = ss_graph_take (g, g->low, SS_DIMS (g->t, ss_value_size (w, 1)));

  ss_mm_out (g->tape, dy, w, out);
  return out;
}

/* The norm's input gets its share on top of what came past it: one kernel adds up what n
 * products gave the norm's output. */
static void
through_norm (Backward *b, guint index, guint n, SsValue **dy, SsValue **x, SsValue **roots)
{
  SsGraph *g = &b->graph;
  SsValue *operands[MAX_BRANCHES + 3] = { b->grad, *x, *roots };

  g_assert (n <= MAX_BRANCHES);
  norm_gradient (g, index, dy[0], *x, *roots);
  memcpy (operands + 3, dy, n * sizeof *dy);
  ss_compiled (g->tape, SS_COMPILED_NORM_GRAD, 1, n + 3, operands);
  for (guint i = 0; i < n; i++)
    ss_graph_give (g, &dy[i]);
  ss_drop (x);
  ss_drop (roots);
}

/* ---- loss and head ---- */

/* The logits are an output of the graph: autograd makes zeros for the gradient that nobody gave. */
static SsValue *
logits_gradient (SsGraph *g, SsValue *grad)
{
  SsValue **logits = ss_graph_once (g, SS_GRAPH_LOGITS);
  g_autoptr (SsValue) zeros
    = ss_keep (ss_zeros (g->tape, g->low, SS_DIMS (g->t, g->config->vocab_size)));
  SsValue *out = take_like (g, g->low, zeros);

  ss_value_claim (out, SS_CATEGORY_LOGITS);
  SS_COMPILED (g->tape, NLL_GRAD, 0, *logits, *ss_graph_once (g, SS_GRAPH_MAX),
               *ss_graph_once (g, SS_GRAPH_LOG_SUM), *ss_graph_once (g, SS_GRAPH_LABELS), grad,
               zeros, out);
  for (guint i = SS_GRAPH_LOGITS; i <= SS_GRAPH_N_TARGETS; i++)
    ss_drop (ss_graph_once (g, i));
  ss_drop (ss_graph_once (g, SS_GRAPH_LABELS));
  return out;
}

static void
head_backward (Backward *b, SsValue *grad)
{
  SS_MODULE (b->graph.tape, "lm_head");
  SsGraph *g = &b->graph;
  guint index = ss_graph_head_index (g);
  SsValue **cast = ss_graph_once (g, SS_GRAPH_HEAD), **normed = ss_graph_once (g, SS_GRAPH_NORMED);
  SsValue *logits = logits_gradient (g, grad);
  SsValue *product = weight_product (g, index, logits, *normed);

  b->low = input_gradient (g, logits, *cast ? *cast : ss_graph_parameter (g, index));
  ss_drop (normed);
  ss_drop (&logits);
  if (*cast)
    ss_drop (cast);
  /* a tied one is cast when it is added to the embedding's */
  g->grad[index] = g_steal_pointer (&product);
  if (ss_value_dtype (ss_graph_parameter (g, index)) != g->low && !g->config->tie_word_embeddings)
    {
      product = g_steal_pointer (&g->grad[index]);
      cast_gradient (g, index, product);
      ss_drop (&product);
    }
}

static void
last_norm_backward (Backward *b)
{
  SS_MODULE (b->graph.tape, "norm");
  SsGraph *g = &b->graph;
  SsValue **x = ss_graph_once (g, SS_GRAPH_DOWN), **roots = ss_graph_once (g, SS_GRAPH_ROOTS);

  norm_gradient (g, ss_graph_norm_index (g), b->low, *x, *roots);
  if (g->low == g->wide)
    {
      b->grad = g_steal_pointer (&b->low);
      SS_COMPILED (g->tape, NORM_GRAD, 1, b->grad, *x, *roots);
    }
  else
    {
      b->grad = take_like (g, g->wide, b->low);
      SS_COMPILED (g->tape, NORM_GRAD, 0, b->low, *x, *roots, b->grad);
      ss_graph_give (g, &b->low);
    }
  ss_drop (x);
  ss_drop (roots);
}

/* ---- a layer ---- */

static void
drop_cast (SsGraph *g, guint layer, guint which)
{
  SsValue **cast = ss_graph_layer (g, layer, SS_LAYER_CAST + which);

  if (*cast)
    ss_drop (cast);
}

static void
mlp_backward (Backward *b, guint i)
{
  SS_MODULE (b->graph.tape, "mlp");
  SsGraph *g = &b->graph;
  SsValue **gate = ss_graph_layer (g, i, SS_LAYER_GATE), **up = ss_graph_layer (g, i, SS_LAYER_UP);
  SsValue **both = ss_graph_layer (g, i, SS_LAYER_PRODUCT);
  SsValue **x = ss_graph_layer (g, i, SS_LAYER_MIDDLE_NORMED), *dx[2];
  SsValue *d;

  linear_gradient (g, i, SS_WEIGHT_DOWN, b->low, *both);
  d = input_gradient (g, b->low, ss_graph_weight (g, i, SS_WEIGHT_DOWN));
  ss_drop (both);
  /* up's gradient over the product's, gate's over gate itself */
  SS_COMPILED (g->tape, SILU_MUL_GRAD, 2, d, *gate, *up);
  ss_drop (up);
  linear_gradient (g, i, SS_WEIGHT_UP, d, *x);
  dx[0] = input_gradient (g, d, ss_graph_weight (g, i, SS_WEIGHT_UP));
  ss_graph_give (g, &d);
  linear_gradient (g, i, SS_WEIGHT_GATE, *gate, *x);
  dx[1] = input_gradient (g, *gate, ss_graph_weight (g, i, SS_WEIGHT_GATE));
  ss_drop (gate);
  ss_drop (x);
  for (guint k = 4; k < 7; k++)
    drop_cast (g, i, k);
  drop_low (b);
  through_norm (b, ss_graph_index (g, i, SS_WEIGHT_POST_NORM), 2, dx,
                ss_graph_layer (g, i, SS_LAYER_MIDDLE),
                ss_graph_layer (g, i, SS_LAYER_MIDDLE_ROOTS));
}

/* Back through the rotation, the norm over heads if there is one, and the sum over the query
 * heads of a key head: what the projection made, (T, heads * D). */
static SsValue *
unrotated (SsGraph *g, guint i, SsValue *dy, gint64 n_heads, guint raw_field, guint norm)
{
  gint64 d = g->config->head_dim;
  SsValue **raw = ss_graph_layer (g, i, raw_field), **roots = ss_graph_layer (g, i, raw_field + 1);
  SsValue *out = ss_graph_take (g, g->low, SS_DIMS (g->t, n_heads * d));

  if (!*raw)
    {
      SS_COMPILED (g->tape, ROPE_GRAD, 0, dy, out);
      return out;
    }
  norm_gradient (g, ss_graph_index (g, i, norm), dy, *raw, *roots);
  SS_COMPILED (g->tape, NORM_ROPE_GRAD, 0, dy, *raw, *roots, out);
  ss_drop (raw);
  ss_drop (roots);
  return out;
}

/* d[3]: gradients of the projections of q, k and v */
static void
heads_backward (Backward *b, guint i, SsValue *dout, SsValue **d)
{
  SsGraph *g = &b->graph;
  const SsLlamaConfig *c = g->config;
  SsValue *mask = *ss_graph_once (g, SS_GRAPH_MASK), *all[3], *result[SS_ATTENTION_N_RESULTS];
  SsValue *dq, *dk, *dv;

  for (guint k = 0; k < SS_ATTENTION_N_RESULTS; k++)
    result[k] = *ss_graph_layer (g, i, SS_LAYER_OUT + k);
  ss_attention_backward (g->tape, ss_graph_attention (g, *ss_graph_layer (g, i, SS_LAYER_Q)), dout,
                         *ss_graph_layer (g, i, SS_LAYER_Q),
                         *ss_graph_layer (g, i, SS_LAYER_K), *ss_graph_layer (g, i, SS_LAYER_V),
                         result, mask, all);
  dq = ss_keep (all[0]);
  dk = ss_keep (all[1]);
  dv = ss_keep (all[2]);
  for (guint k = SS_LAYER_Q; k <= SS_LAYER_OFFSET; k++)
    ss_drop (ss_graph_layer (g, i, k));
  d[0] = unrotated (g, i, dq, c->n_heads, SS_LAYER_Q_RAW, SS_WEIGHT_Q_NORM);
  ss_graph_give (g, &dq);
  d[1] = unrotated (g, i, dk, c->n_kv_heads, SS_LAYER_K_RAW, SS_WEIGHT_K_NORM);
  ss_graph_give (g, &dk);
  if (!mask)
    {
      d[2] = ss_graph_rows (g, dv, c->n_kv_heads * c->head_dim);
      ss_drop (&dv);
      return;
    }
  d[2] = ss_graph_take (g, g->low, SS_DIMS (g->t, c->n_kv_heads * c->head_dim));
  SS_COMPILED (g->tape, GROUP_SUM, 0, dv, d[2]);
  ss_graph_give (g, &dv);
}

static void
attention_backward (Backward *b, guint i)
{
  SS_MODULE (b->graph.tape, "self_attn");
  SsGraph *g = &b->graph;
  gint64 width = g->config->n_heads * g->config->head_dim;
  SsValue **x = ss_graph_layer (g, i, SS_LAYER_X_NORMED), *d[3], *dx[3];
  SsValue *dout = ss_graph_take_heads (g, g->config->n_heads);

  {
    g_autoptr (SsValue) out = ss_graph_rows (g, *ss_graph_layer (g, i, SS_LAYER_OUT), width);
    g_autoptr (SsValue) rows = ss_graph_rows (g, dout, width);

    linear_gradient (g, i, SS_WEIGHT_O, b->low, out);
    ss_mm_out (g->tape, b->low, ss_graph_weight (g, i, SS_WEIGHT_O), rows);
  }
  drop_low (b);
  heads_backward (b, i, dout, d);
  ss_graph_give (g, &dout);
  for (guint k = 3; k-- > 0;)
    {
      linear_gradient (g, i, SS_WEIGHT_Q + k, d[k], *x);
      dx[k] = input_gradient (g, d[k], ss_graph_weight (g, i, SS_WEIGHT_Q + k));
      ss_graph_give (g, &d[k]);
    }
  for (guint k = 0; k < 4; k++)
    drop_cast (g, i, k);
  ss_drop (x);
  through_norm (b, ss_graph_index (g, i, SS_WEIGHT_INPUT_NORM), 3, dx,
                ss_graph_layer (g, i, SS_LAYER_X), ss_graph_layer (g, i, SS_LAYER_X_ROOTS));
}

static void
layer_backward (Backward *b, guint i)
{
  SS_LAYER (b->graph.tape, "layers", (gint) i);

  ss_tape_mark_backward_begin (b->graph.tape, (gint) i);
  lower_grad (b);
  mlp_backward (b, i);
  lower_grad (b);
  attention_backward (b, i);
}

/* ---- the embedding ---- */

/* Rows are added up in f32; then the sum is cast, on top of the head's gradient if they are
 * tied. */
static void
embedding_backward (Backward *b)
{
  SS_MODULE (b->graph.tape, "embed_tokens");
  SsGraph *g = &b->graph;
  SsValue *w = ss_graph_parameter (g, 0), *head = g_steal_pointer (&g->grad[0]);
  SsValue *sum = ss_graph_take (g, SS_F32, SS_DIMS (ss_value_size (w, 0), ss_value_size (w, 1)));

  SS_COMPILED (g->tape, ZERO, 0, sum);
  SS_COMPILED (g->tape, EMBED_GRAD, 1, b->grad);
  if (!head)
    ss_drop (&b->grad);
  if (g->wide == SS_F32)
    {
      if (head)
        SS_COMPILED (g->tape, SUM, 1, sum, head);
      g->grad[0] = g_steal_pointer (&sum);
    }
  else
    {
      g->grad[0] = take_like (g, g->wide, w);
      if (head)
        SS_COMPILED (g->tape, SUM, 0, sum, head, g->grad[0]);
      else
        SS_COMPILED (g->tape, CAST, 0, sum, g->grad[0]);
      ss_drop (&sum);
    }
  if (head)
    ss_drop (&head);
  if (b->grad)
    ss_drop (&b->grad);
}

/* ---- the graph ---- */

static void
model_backward (Backward *b)
{
  SS_MODULE (b->graph.tape, "model");
  SsGraph *g = &b->graph;

  last_norm_backward (b);
  for (guint i = g->n_layers; i-- > 0;)
    layer_backward (b, i);
  ss_graph_flush (g);
  if (*ss_graph_once (g, SS_GRAPH_MASK))
    ss_drop (ss_graph_once (g, SS_GRAPH_MASK));
  embedding_backward (b);
}

void
ss_graph_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out G_GNUC_UNUSED)
{
  SsModel *model = ss_node_context (n);
  const gint64 *a = ss_node_attributes (n);
  guint n_parameters = model->parameters->len;
  g_autofree SsValue **grads = g_new0 (SsValue *, n_parameters);
  Backward b = { .grad = NULL };

  ss_graph_init (&b.graph, t, model, (SsDtype) a[2], a[0], a[1]);
  b.graph.kept = ss_node_saves (n);
  b.graph.grad = grads;
  head_backward (&b, grad[0]);
  ss_tape_context (t)->is_loss_node = FALSE;
  model_backward (&b);
  ss_graph_clear (&b.graph);
  for (guint i = 0; i < n_parameters; i++)
    {
      if (!ss_tape_is_stopped (t))
        ss_accumulate_grad (t, ss_graph_parameter (&b.graph, i), &grads[i]);
      ss_value_unref (grads[i]);
    }
}
