/* SPDX-License-Identifier: MIT
 *
 * Llama and its kin (Mistral, Qwen2, Qwen3) as transformers 5.24 writes them: RMSNorm, rotary
 * positions, grouped-query attention, SwiGLU.  Names follow modeling_llama.py.
 */
#include "ops/families/llama.h"

#include "ops/families/causal-lm.h"
#include "ops/families/llama-compiled.h"

#include "ops/kinds/embedding.h"
#include "ops/kinds/pointwise.h"
#include "ops/kinds/view.h"
#include "ops/families/gated-mlp.h"
#include "ops/nn/layers.h"
#include "ops/nn/linear.h"
#include "ops/nn/module.h"
#include "ops/nn/rms-norm.h"
#include "ops/nn/rope.h"

typedef struct
{
  const SsModelSetup *setup;
  SsAttention core;
  SsGatedMlp mlp;
  SsLinear q, k, v, o;
  SsValue *q_norm, *k_norm;      /* (head_dim), Qwen3 only */
  SsValue *input_norm, *post_attention_norm;
} Layer;

typedef struct
{
  SsModel parent;
  SsValue *embed_tokens, *norm, *lm_head;
  SsRopeBuffers rope;
  Layer *layers;
} Llama;

/* ---- forward ---- */

/* (B, S, heads * D) -> (B, heads, S, D), normed over D if the model does that */
static SsValue *
heads (SsTape *t, const Layer *l, SsValue *x, const char *name, SsValue *norm)
{
  const SsLlamaConfig *c = ss_llama_config (l->setup->config);
  gint64 b = ss_value_size (x, 0), s = ss_value_size (x, 1), n = ss_value_size (x, 2) / c->head_dim;
  SsValue *split = ss_view (t, x, SS_DIMS (b, s, n, c->head_dim));

  if (norm)
    split = ss_rms_norm (t, l->setup->kernels.norm, name, norm, split);
  return ss_transpose (t, split, 1, 2);
}

static SsValue *
attention (SsTape *t, const Layer *l, SsValue *h, SsValue *cos, SsValue *sin, SsValue *mask,
           SsValue **weights)
{
  SS_MODULE (t, "self_attn");
  const SsLlamaConfig *c = ss_llama_config (l->setup->config);
  gint64 b = ss_value_size (h, 0), s = ss_value_size (h, 1);
  g_autoptr (SsValue) q = ss_keep (heads (t, l, ss_linear (t, &l->q, h), "q_norm", l->q_norm));
  g_autoptr (SsValue) k = ss_keep (heads (t, l, ss_linear (t, &l->k, h), "k_norm", l->k_norm));
  g_autoptr (SsValue) v = ss_keep (heads (t, l, ss_linear (t, &l->v, h), NULL, NULL));
  g_autoptr (SsValue) out = NULL;

  ss_rope_apply (t, l->setup->kernels.rope, &q, &k, cos, sin);
  out = ss_keep (ss_module_attention (t, l->setup, &l->core, q, k, v, mask, weights));
  ss_rebind (&out, ss_reshape (t, out, SS_DIMS (b, s, c->n_heads * c->head_dim)));
  return ss_linear (t, &l->o, out);
}

static SsValue *
input_norm (SsTape *t, gconstpointer self, SsValue *const *in)
{
  const Layer *l = self;

  return ss_rms_norm (t, l->setup->kernels.norm, "input_layernorm", l->input_norm, in[0]);
}

static SsValue *
post_attention_norm (SsTape *t, gconstpointer self, SsValue *const *in)
{
  const Layer *l = self;

  return ss_rms_norm (t, l->setup->kernels.norm, "post_attention_layernorm",
                      l->post_attention_norm, in[0]);
}

/* in: hidden states, cos, sin, position ids, mask or nothing */
static SsValue *
layer_forward (SsTape *t, gconstpointer self, SsValue *const *in)
{
  const Layer *l = self;
  const SsModelSetup *s = l->setup;
  g_autoptr (SsValue) residual = ss_keep (in[0]);
  g_autoptr (SsValue) h
    = ss_keep (ss_module_run (t, s, SS_DROP_NORMS, input_norm, l, 1, SS_VALUES (residual)));
  g_autoptr (SsValue) weights = NULL;   /* Python's `_` */

  ss_module_replace (t, s, SS_DROP_NORMS, &h, attention (t, l, h, in[1], in[2], in[4], &weights));
  ss_rebind (&h, ss_add (t, residual, h));
  ss_rebind (&residual, h);
  ss_rebind (&h, ss_module_run (t, s, SS_DROP_NORMS, post_attention_norm, l, 1, SS_VALUES (h)));
  ss_module_replace (t, s, SS_DROP_NORMS, &h,
                     ss_module_run (t, s, SS_DROP_MLP, ss_gated_mlp, &l->mlp, 1, SS_VALUES (h)));
  return ss_add (t, residual, h);
}

static SsValue *
llama_hidden (SsTape *t, SsModel *model, SsValue *ids)
{
  SS_MODULE (t, "model");
  Llama *m = (Llama *) model;
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
                         setup->dtype, ss_llama_config (setup->config)->sliding_window);
  ss_rope_tables (t, &m->rope, position_ids, setup->dtype, &cos, &sin);
  ss_tape_set_grad_enabled (t, grad);
  h = ss_keep (inputs_embeds);
  /* Python hands all of them to the layer, so a checkpoint keeps all of them */
  ss_layers_run (t, &layers, &h, mask ? 4 : 3, (SsValue *[]) { cos, sin, position_ids, mask });
  return ss_rms_norm (t, setup->kernels.norm, "norm", m->norm, h);
}

/* ---- parameters ---- */

static void
build_layer (SsTape *t, Llama *m, Layer *l, guint i)
{
  SS_LAYER (t, "layers", (gint) i);
  SsModel *model = &m->parent;
  const SsLlamaConfig *c = ss_llama_config (model->setup->config);
  gint64 h = c->hidden_size;
  gint64 q = c->n_heads * c->head_dim, kv = c->n_kv_heads * c->head_dim;
  gboolean qkv_bias = c->attention_bias || c->qkv_bias;

  l->setup = model->setup;
  l->core = (SsAttention) { l->setup->kernels.attention, c->attn_pdrop, TRUE };
  {
    SS_MODULE (t, "self_attn");
    ss_model_linear (t, model, &l->q, "q_proj", q, h, qkv_bias);
    ss_model_linear (t, model, &l->k, "k_proj", kv, h, qkv_bias);
    ss_model_linear (t, model, &l->v, "v_proj", kv, h, qkv_bias);
    ss_model_linear (t, model, &l->o, "o_proj", h, q, c->attention_bias);
    if (c->has_qk_norm)
      {
        l->q_norm = ss_model_parameter (t, model, "q_norm", SS_DIMS (c->head_dim));
        l->k_norm = ss_model_parameter (t, model, "k_norm", SS_DIMS (c->head_dim));
      }
  }
  ss_gated_mlp_build (t, model, &l->mlp, h, c->intermediate_size, c->mlp_bias);
  l->input_norm = ss_model_parameter (t, model, "input_layernorm", SS_DIMS (h));
  l->post_attention_norm = ss_model_parameter (t, model, "post_attention_layernorm", SS_DIMS (h));
}

static SsModel *
llama_build (SsTape *t, const SsModelSetup *setup)
{
  const SsLlamaConfig *c = ss_llama_config (setup->config);
  Llama *m = g_new0 (Llama, 1);
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
llama_head (SsModel *model, SsValue **bias)
{
  *bias = NULL;
  return ((Llama *) model)->lm_head;
}

static void
llama_destroy (SsModel *model)
{
  Llama *m = (Llama *) model;

  ss_rope_clear (&m->rope);
  ss_model_clear (model);
  g_free (m->layers);
  g_free (m);
}

/* Ledger section 1, with biases and head norms where a type has them. */
static guint64
llama_count (const SsModelConfig *config)
{
  const SsLlamaConfig *c = ss_llama_config (config);
  guint64 h = (guint64) c->hidden_size, q = (guint64) (c->n_heads * c->head_dim);
  guint64 kv = (guint64) (c->n_kv_heads * c->head_dim), f = (guint64) c->intermediate_size;
  guint64 layer = 2 * h * q + 2 * h * kv + 3 * h * f + 2 * h;

  if (c->attention_bias || c->qkv_bias)
    layer += q + 2 * kv + (c->attention_bias ? h : 0);
  if (c->mlp_bias)
    layer += 2 * f + h;
  if (c->has_qk_norm)
    layer += 2 * (guint64) c->head_dim;
  return ss_size_add (ss_size_mul (layer, (guint64) config->n_layers),
                      ss_size_add (ss_size_mul (ss_size_mul ((guint64) c->vocab_size, h),
                                                c->tie_word_embeddings ? 1 : 2), h));
}

static SsValue *
llama_loss (SsTape *t, SsModel *model, const SsBatch *batch)
{
  static const SsCausalLm lm = { llama_hidden, llama_head, ss_llama_compiled };

  return ss_causal_lm_loss (t, model, &lm, batch);
}

const SsModelFamily ss_family_llama = {
  .name = "llama",
  .description = "Llama, Mistral, Qwen2, Qwen3: "
                 "RMSNorm, rotary positions, grouped-query attention, SwiGLU",
  .types = ss_llama_types, .n_types = SS_N_LLAMA_TYPES, .linears = ss_llama_linears,
  .count_parameters = llama_count, .account = ss_llama_account, .widths = ss_llama_widths,
  .build = llama_build, .make_inputs = ss_causal_lm_make_inputs, .loss = llama_loss,
  .destroy = llama_destroy,
};
