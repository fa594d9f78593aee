/* SPDX-License-Identifier: MIT
 *
 * Buffers and weights of the compiled graphs.
 */
#include "ops/families/llama-compiled.h"

#define FIRST_LAYER 1            /* parameter 0 is the embedding */

void
ss_graph_init (SsGraph *g, SsTape *t, SsModel *model, SsDtype low, gint64 b, gint64 s)
{
  *g = (SsGraph) {
    .tape = t, .model = model, .config = ss_llama_config (model->setup->config),
    .n_layers = (guint) model->setup->config->n_layers, .b = b, .s = s, .t = b * s,
    .low = low, .wide = model->setup->dtype, .pool = g_ptr_array_new (),
  };
}

void
ss_graph_clear (SsGraph *g)
{
  ss_graph_flush (g);
  g_ptr_array_unref (g->pool);
}

SsValue **
ss_graph_once (const SsGraph *g, guint field)
{
  return &g->kept[field].value;
}

SsValue **
ss_graph_layer (const SsGraph *g, guint layer, guint field)
{
  return &g->kept[SS_GRAPH_N_ONCE + layer * SS_LAYER_N + field].value;
}

/* ---- buffers ---- */

static SsValue *
take (SsGraph *g, const SsTensor *x)
{
  for (guint i = g->pool->len; i-- > 0;)
    {
      SsValue *old = g->pool->pdata[i], *buffer;

      if (ss_tensor_bytes (&old->tensor) != ss_tensor_bytes (x))
        continue;
      buffer = ss_keep (ss_value_new (g->tape, x, ss_storage_ref (old->storage)));
      g_ptr_array_remove_index (g->pool, i);
      ss_name_release (old);
      return buffer;
    }
  return ss_keep (ss_empty (g->tape, x));
}

SsValue *
ss_graph_take (SsGraph *g, SsDtype dtype, guint n_dims, const gint64 *size)
{
  SsTensor x = ss_tensor (dtype, n_dims, size);

  return take (g, &x);
}

SsValue *
ss_graph_take_heads (SsGraph *g, gint64 n_heads)
{
  gint64 d = g->config->head_dim;
  SsTensor x = ss_tensor (g->low, 4, (gint64[]) { g->b, g->s, n_heads, d });

  x.size[1] = n_heads;
  x.size[2] = g->s;
  x.stride[1] = d;
  x.stride[2] = n_heads * d;
  return take (g, &x);
}

void
ss_graph_give (SsGraph *g, SsValue **buffer)
{
  g_ptr_array_add (g->pool, g_steal_pointer (buffer));
}

void
ss_graph_flush (SsGraph *g)
{
  for (guint i = 0; i < g->pool->len; i++)
    ss_name_release (g->pool->pdata[i]);
  g_ptr_array_set_size (g->pool, 0);
}

SsValue *
ss_graph_rows (const SsGraph *g, SsValue *buffer, gint64 width)
{
  SsTensor x = ss_tensor (ss_value_dtype (buffer), 2, (gint64[]) { g->t, width });

  return ss_keep (ss_value_new (g->tape, &x, ss_storage_ref (buffer->storage)));
}

/* ---- parameters ---- */

static guint
n_of_layer (const SsGraph *g)
{
  return g->config->has_qk_norm ? SS_WEIGHT_N : SS_WEIGHT_N - 2;
}

guint
ss_graph_index (const SsGraph *g, guint layer, guint weight)
{
  if (!g->config->has_qk_norm && weight > SS_WEIGHT_K_NORM)
    weight -= 2;
  return FIRST_LAYER + layer * n_of_layer (g) + weight;
}

guint
ss_graph_norm_index (const SsGraph *g)
{
  return FIRST_LAYER + g->n_layers * n_of_layer (g);
}

guint
ss_graph_head_index (const SsGraph *g)
{
  return g->config->tie_word_embeddings ? 0 : ss_graph_norm_index (g) + 1;
}

SsValue *
ss_graph_parameter (const SsGraph *g, guint index)
{
  return g->model->parameters->pdata[index];
}

/* Which of the seven linears a weight is. */
static guint
linear_of (guint weight)
{
  return weight <= SS_WEIGHT_O ? weight : weight - 2;
}

SsValue *
ss_graph_weight (const SsGraph *g, guint layer, guint weight)
{
  SsValue *cast = *ss_graph_layer (g, layer, SS_LAYER_CAST + linear_of (weight));

  return cast ? cast : ss_graph_parameter (g, ss_graph_index (g, layer, weight));
}
