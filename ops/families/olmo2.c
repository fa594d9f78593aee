/* SPDX-License-Identifier: MIT
 *
 * OLMo 2 as transformers 5.24 writes it: a Llama whose norms come after attention and MLP, with
 * norms of all of q and k, and rotary tables in fp32.  Names follow modeling_olmo2.py.
 */
#include "ops/families/causal-lm.h"
#include "ops/families/llama-fields.h"
#include "ops/kinds/embedding.h"
#include "ops/kinds/pointwise.h"
#include "ops/kinds/view.h"
#include "ops/families/gated-mlp.h"
#include "ops/nn/layers.h"
#include "ops/nn/module.h"
#include "ops/nn/rms-norm.h"
#include "ops/nn/rope.h"

typedef struct
{
  const SsModelSetup *setup;
  SsAttention core;
  SsGatedMlp mlp;
  SsLinear q, k, v, o;
  SsValue *q_norm, *k_norm;      /* (heads * head_dim), (key heads * head_dim) */
  SsValue *post_attention_norm, *post_feedforward_norm;
} Layer;

typedef struct
{
  SsModel parent;
  SsValue *embed_tokens, *norm, *lm_head;
  SsRopeBuffers rope;
  Layer *layers;
} Olmo2;

/* ---- forward ---- */

static SsValue *
norm (SsTape *t, const Layer *l, const char *name, SsValue *weight, SsValue *x)
{
  return ss_rms_norm_rounded_last (t, l->setup->kernels.norm, name, weight, x);
}

/* (B, S, heads * D) -> (B, heads, S, D) */
static SsValue *
heads (SsTape *t, const Layer *l, SsValue *x)
{
  gint64 d = ss_llama_config (l->setup->config)->head_dim;
  gint64 b = ss_value_size (x, 0), s = ss_value_size (x, 1), n = ss_value_size (x, 2) / d;

  return ss_transpose (t, ss_view (t, x, SS_DIMS (b, s, n, d)), 1, 2);
}

static SsValue *
attention (SsTape *t, const Layer *l, SsValue *h, SsValue *cos, SsValue *sin, SsValue *mask,
           SsValue **weights)
{
  SS_MODULE (t, "self_attn");
  const SsLlamaConfig *c = ss_llama_config (l->setup->config);
  gint64 b = ss_value_size (h, 0), s = ss_value_size (h, 1);
  g_autoptr (SsValue) q = ss_keep (norm (t, l, "q_norm", l->q_norm, ss_linear (t, &l->q, h)));
  g_autoptr (SsValue) k = ss_keep (norm (t, l, "k_norm", l->k_norm, ss_linear (t, &l->k, h)));
  g_autoptr (SsValue) v = ss_keep (ss_linear (t, &l->v, h));
  g_autoptr (SsValue) out = NULL;

  ss_rebind (&q, heads (t, l, q));
  ss_rebind (&k, heads (t, l, k));
  ss_rebind (&v, heads (t, l, v));
  ss_rope_apply_rounded (t, l->setup->kernels.rope, &q, &k, cos, sin);
  out = ss_keep (ss_module_attention (t, l->setup, &l->core, q, k, v, mask, weights));
  ss_rebind (&out, ss_reshape (t, out, SS_DIMS (b, s, c->n_heads * c->head_dim)));
  return ss_linear (t, &l->o, out);
}

static SsValue *
post_attention_norm (SsTape *t, gconstpointer self, SsValue *const *in)
{
  const Layer *l = self;

  return norm (t, l, "post_attention_layernorm", l->post_attention_norm, in[0]);
}

static SsValue *
post_feedforward_norm (SsTape *t, gconstpointer self, SsValue *const *in)
{
  const Layer *l = self;

  return norm (t, l, "post_feedforward_layernorm", l->post_feedforward_norm, in[0]);
}

/* in: hidden states, cos, sin, position ids, mask or nothing */
static SsValue *
layer_forward (SsTape *t, gconstpointer self, SsValue *const *in)
{
  const Layer *l = self;
  const SsModelSetup *s = l->setup;
  g_autoptr (SsValue) residual = ss_keep (in[0]);
  g_autoptr (SsValue) weights = NULL;   /* Python's `_` */
  g_autoptr (SsValue) h
    = ss_keep (attention (t, l, residual, in[1], in[2], in[4], &weights));
  g_autoptr (SsValue) out = NULL;

  ss_rebind (&h, ss_module_run (t, s, SS_DROP_NORMS, post_attention_norm, l, 1, SS_VALUES (h)));
  ss_module_replace (t, s, SS_DROP_NORMS, &h, ss_add (t, residual, h));
  ss_rebind (&residual, h);
  ss_rebind (&h, ss_module_run (t, s, SS_DROP_MLP, ss_gated_mlp, &l->mlp, 1, SS_VALUES (h)));
  ss_rebind (&h, ss_module_run (t, s, SS_DROP_NORMS, post_feedforward_norm, l, 1, SS_VALUES (h)));
  out = ss_keep (ss_add (t, residual, h));
  ss_module_discard (t, s, SS_DROP_NORMS, h, out);
  return ss_give (&out);
}

static SsValue *
olmo2_hidden (SsTape *t, SsModel *model, SsValue *ids)
{
  SS_MODULE (t, "model");
  Olmo2 *m = (Olmo2 *) model;
  const SsModelSetup *setup = model->setup;
  gint64 s = ss_value_size (ids, 1);
  SsLayers layers = {
    setup, "layers", layer_forward, (const char *) m->layers, sizeof (Layer),
    (guint) setup->config->n_layers,
  };
  g_autoptr (SsValue) inputs_embeds = NULL, position_ids = NULL, mask = NULL;
  g_autoptr (SsValue) cos = NULL, sin = NULL, h = NULL;
  gboolean grad;

  {
    SS_MODULE (t, "embed_tokens");
    inputs_embeds = ss_keep (ss_embedding (t, m->embed_tokens, ids));
  }
  ss_model_require_input_grads (model, inputs_embeds);
  grad = ss_tape_set_grad_enabled (t, FALSE);
  position_ids
    = ss_keep (ss_view (t, ss_plain (t, SS_PLAIN_ADD, ss_arange (t, SS_I64, s), NULL, SS_I64),
                        SS_DIMS (1, s)));
  mask = ss_causal_mask (t, setup->kernels.attention, position_ids, ss_value_size (ids, 0),
                         setup->dtype, 0);
  ss_rope_tables (t, &m->rope, position_ids, SS_F32, &cos, &sin);
  ss_tape_set_grad_enabled (t, grad);
  h = ss_keep (inputs_embeds);
  ss_layers_run (t, &layers, &h, mask ? 4 : 3, (SsValue *[]) { cos, sin, position_ids, mask });
  return ss_rms_norm_rounded_last (t, setup->kernels.norm, "norm", m->norm, h);
}

/* ---- parameters ---- */

static void
build_layer (SsTape *t, Olmo2 *m, Layer *l, guint i)
{
  SS_LAYER (t, "layers", (gint) i);
  SsModel *model = &m->parent;
  const SsLlamaConfig *c = ss_llama_config (model->setup->config);
  gint64 h = c->hidden_size, q = c->n_heads * c->head_dim, kv = c->n_kv_heads * c->head_dim;

  l->setup = model->setup;
  l->core = (SsAttention) { l->setup->kernels.attention, c->attn_pdrop, TRUE };
  {
    SS_MODULE (t, "self_attn");
    ss_model_linear (t, model, &l->q, "q_proj", q, h, c->attention_bias);
    ss_model_linear (t, model, &l->k, "k_proj", kv, h, c->attention_bias);
    ss_model_linear (t, model, &l->v, "v_proj", kv, h, c->attention_bias);
    ss_model_linear (t, model, &l->o, "o_proj", h, q, c->attention_bias);
    l->q_norm = ss_model_parameter (t, model, "q_norm", SS_DIMS (q));
    l->k_norm = ss_model_parameter (t, model, "k_norm", SS_DIMS (kv));
  }
  ss_gated_mlp_build (t, model, &l->mlp, h, c->intermediate_size, FALSE);
  l->post_attention_norm = ss_model_parameter (t, model, "post_attention_layernorm", SS_DIMS (h));
  l->post_feedforward_norm
    = ss_model_parameter (t, model, "post_feedforward_layernorm", SS_DIMS (h));
}

static SsModel *
olmo2_build (SsTape *t, const SsModelSetup *setup)
{
  const SsLlamaConfig *c = ss_llama_config (setup->config);
  Olmo2 *m = g_new0 (Olmo2, 1);
  SsModel *model = &m->parent;

  ss_model_init (model, setup);
  m->layers = g_new0 (Layer, (gsize) setup->config->n_layers);
  {
    SS_MODULE (t, "model");
    m->embed_tokens
      = ss_model_parameter (t, model, "embed_tokens", SS_DIMS (c->vocab_size, c->hidden_size));
    for (guint i = 0; i < setup->config->n_layers; i++)
      build_layer (t, m, &m->layers[i], i);
    m->norm = ss_model_parameter (t, model, "norm", SS_DIMS (c->hidden_size));
    ss_rope_build (t, c->rope_type, c->head_dim, &m->rope);
  }
  m->lm_head = ss_model_head (t, model, m->embed_tokens, c->tie_word_embeddings);
  ss_model_adapt (t, model);
  return model;
}

static SsValue *
olmo2_head (SsModel *model, SsValue **bias)
{
  *bias = NULL;
  return ((Olmo2 *) model)->lm_head;
}

static void
olmo2_destroy (SsModel *model)
{
  Olmo2 *m = (Olmo2 *) model;

  ss_rope_clear (&m->rope);
  ss_model_clear (model);
  g_free (m->layers);
  g_free (m);
}

static SsValue *
olmo2_loss (SsTape *t, SsModel *model, const SsBatch *batch)
{
  static const SsCausalLm lm = { olmo2_hidden, olmo2_head, NULL };

  return ss_causal_lm_loss (t, model, &lm, batch);
}

/* ---- config: models/olmo2/configuration_olmo2.py ---- */

static const SsConfigField fields[] = {
  SIZES, KV_HEADS (SS_ABSENT_SAME_AS, 0), HEAD_DIM (SS_ABSENT_QUOTIENT, 0), POSITIONS (2048),
  FLAG ("tie_word_embeddings", tie_word_embeddings), FLAG ("attention_bias", attention_bias),
  ROPE, DROPOUT, ACTIVATION,
};

static gboolean
finish (SsModelConfig *config, char **problem)
{
  return ss_llama_check_heads (ss_llama_config (config), problem);
}

/* Two norms of a layer's width, one of all of q and one of all of k. */
static guint64
olmo2_count (const SsModelConfig *config)
{
  const SsLlamaConfig *c = ss_llama_config (config);
  guint64 h = (guint64) c->hidden_size, q = (guint64) (c->n_heads * c->head_dim);
  guint64 kv = (guint64) (c->n_kv_heads * c->head_dim), f = (guint64) c->intermediate_size;
  guint64 layer = 2 * h * q + 2 * h * kv + 3 * h * f + 2 * h + q + kv;
  guint64 rows = ss_size_mul ((guint64) c->vocab_size, c->tie_word_embeddings ? 1 : 2);

  if (c->attention_bias)
    layer += q + 2 * kv + h;
  return ss_size_add (ss_size_mul (layer, (guint64) config->n_layers),
                      ss_size_add (ss_size_mul (rows, h), h));
}

static const SsModelType types[] = { { "olmo2", fields, G_N_ELEMENTS (fields), finish } };

const SsModelFamily ss_family_olmo2 = {
  .name = "olmo2",
  .description = "OLMo 2: a Llama with norms behind attention and MLP, and norms of q and k",
  .types = types, .n_types = G_N_ELEMENTS (types), .linears = ss_llama_linears,
  .count_parameters = olmo2_count, .account = ss_llama_account, .widths = ss_llama_widths,
  .build = olmo2_build, .make_inputs = ss_causal_lm_make_inputs, .loss = olmo2_loss,
  .destroy = olmo2_destroy,
};
