/* SPDX-License-Identifier: MIT
 *
 * GPT-2 as transformers 5.24 writes it: learned positions, LayerNorm with biases, Conv1D, gelu_new
 * out of single kernels, dropout, a head tied to the embedding.  Names follow modeling_gpt2.py.
 */
#include <string.h>

#include "ops/families/causal-lm.h"
#include "ops/ledger.h"
#include "ops/kinds/embedding.h"
#include "ops/kinds/fused.h"
#include "ops/kinds/norm.h"
#include "ops/kinds/pointwise.h"
#include "ops/kinds/random.h"
#include "ops/kinds/view.h"
#include "ops/nn/layers.h"
#include "ops/nn/linear.h"
#include "ops/nn/module.h"

/* activation_function: gelu and its approximation are one kernel each */
enum
{
  GELU_NEW,
  GELU,
  GELU_TANH
};

/* Its own part of SsModelConfig. */
typedef struct
{
  gint64 hidden_size, intermediate_size, vocab_size, n_heads;
  gboolean tie_word_embeddings;
  gint activation;
  double embd_pdrop, attn_pdrop, resid_pdrop;
} Config;

G_STATIC_ASSERT (sizeof (Config) <= SS_MODEL_OWN_BYTES);

typedef struct
{
  const SsModelSetup *setup;
  SsValue *ln_1_weight, *ln_1_bias, *ln_2_weight, *ln_2_bias;
  SsAttention core;
  SsLinear c_attn, attn_proj, c_fc, mlp_proj;
} Block;

typedef struct
{
  SsModel parent;
  SsValue *wte, *wpe, *ln_f_weight, *ln_f_bias, *lm_head;
  Block *blocks;
} Gpt2;

static const Config *
own (const SsModelConfig *config)
{
  return (const Config *) config->own;
}

/* ---- forward ---- */

static SsValue *
layer_norm (SsTape *t, const SsModelSetup *setup, const char *name, SsValue *x, SsValue *weight,
            SsValue *bias)
{
  SS_MODULE (t, name);

  if (setup->kernels.norm == SS_NORM_PAPER)
    return ss_fused_norm (t, x, weight, bias);
  return ss_layer_norm (t, x, weight, bias);
}

/* (B, S, H) -> (B, heads, S, D) */
static SsValue *
heads (SsTape *t, SsValue *x, gint64 n)
{
  gint64 b = ss_value_size (x, 0), s = ss_value_size (x, 1), h = ss_value_size (x, 2);

  return ss_transpose (t, ss_view (t, x, SS_DIMS (b, s, n, h / n)), 1, 2);
}

static SsValue *
attention (SsTape *t, const Block *l, SsValue *h, SsValue *mask, SsValue **weights)
{
  SS_MODULE (t, "attn");
  const Config *c = own (l->setup->config);
  gint64 b = ss_value_size (h, 0), s = ss_value_size (h, 1), width = ss_value_size (h, 2);
  SsValue *part[3];
  g_autoptr (SsValue) q = NULL, k = NULL, v = NULL, out = NULL;

  ss_split_last (t, ss_linear (t, &l->c_attn, h), 3, part);
  k = ss_keep (heads (t, part[1], c->n_heads));
  v = ss_keep (heads (t, part[2], c->n_heads));
  q = ss_keep (heads (t, part[0], c->n_heads));
  out = ss_keep (ss_module_attention (t, l->setup, &l->core, q, k, v, mask, weights));
  ss_rebind (&out, ss_contiguous (t, ss_reshape (t, out, SS_DIMS (b, s, width))));
  ss_rebind (&out, ss_linear (t, &l->attn_proj, out));
  ss_rebind (&out, ss_dropout (t, out, c->resid_pdrop));
  return ss_give (&out);
}

/* NewGELUActivation: 0.5 * x * (1 + tanh (sqrt (2 / pi) * (x + 0.044715 * x^3))) */
static SsValue *
gelu_new (SsTape *t, SsValue *x)
{
  SsValue *half = ss_scale (t, x);
  SsValue *inner = ss_scale (t, ss_add (t, x, ss_scale (t, ss_pow (t, x))));

  return ss_mul (t, half, ss_add_scalar (t, ss_tanh (t, inner)));
}

static SsValue *
activation (SsTape *t, gconstpointer self, SsValue *const *in)
{
  const Block *l = self;

  if (l->setup->kernels.mlp == SS_MLP_PAPER || own (l->setup->config)->activation != GELU_NEW)
    return ss_gelu (t, in[0]);
  return gelu_new (t, in[0]);
}

/* in: normed hidden states */
static SsValue *
mlp (SsTape *t, gconstpointer self, SsValue *const *in)
{
  SS_MODULE (t, "mlp");
  const Block *l = self;
  g_autoptr (SsValue) h = ss_keep (ss_linear (t, &l->c_fc, in[0]));

  ss_rebind (&h, ss_module_run (t, l->setup, SS_DROP_ACTIVATIONS, activation, l, 1, SS_VALUES (h)));
  ss_module_replace (t, l->setup, SS_DROP_ACTIVATIONS, &h, ss_linear (t, &l->mlp_proj, h));
  ss_rebind (&h, ss_dropout (t, h, own (l->setup->config)->resid_pdrop));
  return ss_give (&h);
}

static SsValue *
ln_1 (SsTape *t, gconstpointer self, SsValue *const *in)
{
  const Block *l = self;

  return layer_norm (t, l->setup, "ln_1", in[0], l->ln_1_weight, l->ln_1_bias);
}

static SsValue *
ln_2 (SsTape *t, gconstpointer self, SsValue *const *in)
{
  const Block *l = self;

  return layer_norm (t, l->setup, "ln_2", in[0], l->ln_2_weight, l->ln_2_bias);
}

/* in: hidden states, mask or nothing, position ids */
static SsValue *
block_forward (SsTape *t, gconstpointer self, SsValue *const *in)
{
  const Block *l = self;
  const SsModelSetup *s = l->setup;
  g_autoptr (SsValue) residual = ss_keep (in[0]);
  g_autoptr (SsValue) h
    = ss_keep (ss_module_run (t, s, SS_DROP_NORMS, ln_1, l, 1, SS_VALUES (residual)));
  g_autoptr (SsValue) weights = NULL;   /* Python's `_` */
  g_autoptr (SsValue) attn_output = ss_keep (attention (t, l, h, in[1], &weights));
  g_autoptr (SsValue) feed_forward = NULL;

  ss_module_discard (t, s, SS_DROP_NORMS, h, attn_output);
  ss_rebind (&h, ss_add (t, attn_output, residual));
  ss_rebind (&residual, h);
  ss_rebind (&h, ss_module_run (t, s, SS_DROP_NORMS, ln_2, l, 1, SS_VALUES (h)));
  feed_forward = ss_keep (ss_module_run (t, s, SS_DROP_MLP, mlp, l, 1, SS_VALUES (h)));
  ss_module_discard (t, s, SS_DROP_NORMS, h, feed_forward);
  return ss_add (t, residual, feed_forward);
}

static SsValue *
embed (SsTape *t, const char *name, SsValue *weight, SsValue *ids)
{
  SS_MODULE (t, name);

  return ss_embedding (t, weight, ids);
}

static SsValue *
gpt2_hidden (SsTape *t, SsModel *model, SsValue *ids)
{
  SS_MODULE (t, "transformer");
  Gpt2 *m = (Gpt2 *) model;
  const SsModelSetup *setup = model->setup;
  gint64 b = ss_value_size (ids, 0), s = ss_value_size (ids, 1);
  SsLayers layers = {
    setup, "h", block_forward, (const char *) m->blocks, sizeof (Block),
    (guint) setup->config->n_layers, .n_by_position = 2,
  };
  g_autoptr (SsValue) inputs_embeds = ss_keep (embed (t, "wte", m->wte, ids));
  g_autoptr (SsValue) position_ids = NULL, position_embeds = NULL, h = NULL, mask = NULL;

  ss_model_require_input_grads (model, inputs_embeds);
  position_ids
    = ss_keep (ss_view (t, ss_plain (t, SS_PLAIN_ADD, ss_arange (t, SS_I64, s), NULL, SS_I64),
                        SS_DIMS (1, s)));
  position_embeds = ss_keep (embed (t, "wpe", m->wpe, position_ids));
  h = ss_keep (ss_add (t, inputs_embeds, position_embeds));
  mask = ss_causal_mask (t, setup->kernels.attention, position_ids, b, setup->dtype, 0);
  ss_rebind (&h, ss_dropout (t, h, own (setup->config)->embd_pdrop));
  ss_layers_run (t, &layers, &h, 2, (SsValue *[]) { mask, position_ids });
  return layer_norm (t, setup, "ln_f", h, m->ln_f_weight, m->ln_f_bias);
}

/* ---- parameters ---- */

static void
norm (SsTape *t, Gpt2 *m, const char *name, SsValue **weight, SsValue **bias)
{
  gint64 h = own (m->parent.setup->config)->hidden_size;

  *weight = ss_model_parameter (t, &m->parent, name, 1, &h);
  *bias = ss_model_parameter (t, &m->parent, name, 1, &h);
}

static void
build_block (SsTape *t, Gpt2 *m, Block *l, guint i)
{
  SS_LAYER (t, "h", (gint) i);
  SsModel *model = &m->parent;
  const Config *c = own (model->setup->config);
  gint64 h = c->hidden_size, f = c->intermediate_size;

  l->setup = model->setup;
  l->core = (SsAttention) { l->setup->kernels.attention, c->attn_pdrop, FALSE };
  norm (t, m, "ln_1", &l->ln_1_weight, &l->ln_1_bias);
  {
    SS_MODULE (t, "attn");
    ss_model_conv1d (t, model, &l->c_attn, "c_attn", h, 3 * h);
    ss_model_conv1d (t, model, &l->attn_proj, "c_proj", h, h);
  }
  norm (t, m, "ln_2", &l->ln_2_weight, &l->ln_2_bias);
  {
    SS_MODULE (t, "mlp");
    ss_model_conv1d (t, model, &l->c_fc, "c_fc", h, f);
    ss_model_conv1d (t, model, &l->mlp_proj, "c_proj", f, h);
  }
}

static SsModel *
gpt2_build (SsTape *t, const SsModelSetup *setup)
{
  const Config *c = own (setup->config);
  gint64 n_positions = setup->config->max_position_embeddings;
  Gpt2 *m = g_new0 (Gpt2, 1);
  SsModel *model = &m->parent;

  ss_model_init (model, setup);
  m->blocks = g_new0 (Block, (gsize) setup->config->n_layers);
  {
    SS_MODULE (t, "transformer");
    m->wte = ss_model_parameter (t, model, "wte", SS_DIMS (c->vocab_size, c->hidden_size));
    m->wpe
      = ss_model_parameter (t, model, "wpe", SS_DIMS (n_positions, c->hidden_size));
    for (guint i = 0; i < setup->config->n_layers; i++)
      build_block (t, m, &m->blocks[i], i);
    norm (t, m, "ln_f", &m->ln_f_weight, &m->ln_f_bias);
  }
  m->lm_head = ss_model_head (t, model, m->wte, c->tie_word_embeddings);
  ss_model_adapt (t, model);
  return model;
}

static SsValue *
gpt2_head (SsModel *model, SsValue **bias)
{
  *bias = NULL;
  return ((Gpt2 *) model)->lm_head;
}

static void
gpt2_destroy (SsModel *model)
{
  Gpt2 *m = (Gpt2 *) model;

  ss_model_clear (model);
  g_free (m->blocks);
  g_free (m);
}

/* Ledger section 1, positions counted: they are parameters too. */
static guint64
gpt2_count (const SsModelConfig *config)
{
  const Config *c = own (config);
  guint64 h = (guint64) c->hidden_size, f = (guint64) c->intermediate_size;
  guint64 block = 4 * h + (3 * h * h + 3 * h) + (h * h + h) + (h * f + f) + (f * h + h);
  guint64 rows = (guint64) c->vocab_size * (c->tie_word_embeddings ? 1 : 2)
                 + (guint64) config->max_position_embeddings;

  return ss_size_add (ss_size_mul (block, (guint64) config->n_layers),
                      ss_size_add (ss_size_mul (rows, h), 2 * h));
}

static void
gpt2_account (const SsModelConfig *config, guint64 s, guint64 b, SsModelAccount *out)
{
  const Config *c = own (config);
  guint64 h = (guint64) c->hidden_size;

  out->layer_bytes = ss_ledger_gpt_activation_bytes (s, b, h, (guint64) c->n_heads);
  out->layer_form = "s b h (34 + 5 a s / h), dropout, unfused attention";
  out->softmax_bytes = ss_ledger_softmax_bytes (s, b, (guint64) c->n_heads);
  out->logits_bytes = ss_ledger_logits_bytes (s, b, (guint64) c->vocab_size);
  out->core_flops = ss_size_mul ((guint64) config->n_layers,
                                 ss_ledger_attention_core_flops (1, s, h, TRUE));
  out->n_active = config->family->count_parameters (config);
  out->n_embedding = ss_size_mul ((guint64) (c->vocab_size + config->max_position_embeddings), h);
  out->n_head = c->tie_word_embeddings ? 0 : ss_size_mul ((guint64) c->vocab_size, h);
  out->n_attention = ss_size_mul (4, ss_size_mul (h, h));
  out->n_mlp = ss_size_mul (2, ss_size_mul (h, (guint64) c->intermediate_size));
  out->kv_width = h;
}

static guint
gpt2_widths (const SsModelConfig *config, SsWidth *out)
{
  const Config *c = own (config);
  const SsWidth widths[] = {
    { c->vocab_size, "words", SS_WIDTH_WORDS },
    { c->intermediate_size, "MLP features", SS_WIDTH_FEATURES },
    { c->hidden_size, "features", SS_WIDTH_HIDDEN },
    { 3 * c->hidden_size, "query, key and value features", SS_WIDTH_FEATURES },
    { config->max_position_embeddings, NULL, SS_WIDTH_FEATURES },
    { c->hidden_size / c->n_heads, "head features", SS_WIDTH_FEATURES },
    { c->n_heads, "heads", SS_WIDTH_HEADS },
  };

  G_STATIC_ASSERT (G_N_ELEMENTS (widths) <= SS_MAX_WIDTHS);
  memcpy (out, widths, sizeof widths);
  return G_N_ELEMENTS (widths);
}

/* ---- config: models/gpt2/configuration_gpt2.py ---- */

#define AT(field) SS_MODEL_OWN_AT (Config, field)
#define COUNT(json, at)                                                                            \
  { json, SS_FIELD_COUNT, at, SS_ABSENT_REQUIRED, SS_ABSENT_REQUIRED, 0, 0, 0 }
#define DROPOUT(json, field)                                                                       \
  { json, SS_FIELD_PROBABILITY, AT (field), SS_ABSENT_CONSTANT, SS_ABSENT_REQUIRED, 0.1, 0, 0 }

/* NewGELUActivation, a kernel for each of its operations */
static const char *const activations[] = { [GELU_NEW] = "gelu_new", [GELU] = "gelu",
                                           [GELU_TANH] = "gelu_pytorch_tanh", NULL };
static const char *const off[] = { "false", "no", NULL };
static const char *const on[] = { "true", "yes", NULL };

static const SsConfigField fields[] = {
  COUNT ("n_embd", AT (hidden_size)),
  COUNT ("n_layer", SS_MODEL_AT (n_layers)),
  COUNT ("n_head", AT (n_heads)),
  COUNT ("n_positions", SS_MODEL_AT (max_position_embeddings)),
  COUNT ("vocab_size", AT (vocab_size)),
  { "n_inner", SS_FIELD_COUNT, AT (intermediate_size), SS_ABSENT_MULTIPLE, SS_ABSENT_MULTIPLE,
    4, AT (hidden_size), 0 },
  DROPOUT ("embd_pdrop", embd_pdrop),
  DROPOUT ("attn_pdrop", attn_pdrop),
  DROPOUT ("resid_pdrop", resid_pdrop),
  { "tie_word_embeddings", SS_FIELD_FLAG, AT (tie_word_embeddings), SS_ABSENT_CONSTANT,
    SS_ABSENT_CONSTANT, 1, 0, 0 },
  { .name = "activation_function", .type = SS_FIELD_WORD, .offset = AT (activation),
    .words = activations },
  { .name = "add_cross_attention", .type = SS_FIELD_WORD, .words = off },
  /* other ways to scale the scores, and scores in fp32 */
  { .name = "scale_attn_weights", .type = SS_FIELD_WORD, .words = on },
  { .name = "scale_attn_by_inverse_layer_idx", .type = SS_FIELD_WORD, .words = off },
  { .name = "reorder_and_upcast_attn", .type = SS_FIELD_WORD, .words = off },
};

static gboolean
finish (SsModelConfig *config, char **problem)
{
  const Config *c = own (config);

  if (c->hidden_size % c->n_heads == 0)
    return TRUE;
  *problem = g_strdup_printf ("n_embd %" G_GINT64_FORMAT
                              " is no multiple of n_head %" G_GINT64_FORMAT,
                              c->hidden_size, c->n_heads);
  return FALSE;
}

/* peft's "c_proj" too means both, that of attention and that of the MLP */
static const SsLinearName linears[] = {
  { "c_attn", "c_attn", TRUE }, { "c_proj", "c_proj", FALSE }, { "c_fc", "c_fc", FALSE },
  { NULL, NULL, FALSE },
};

static const SsModelType types[] = { { "gpt2", fields, G_N_ELEMENTS (fields), finish } };

static SsValue *
gpt2_loss (SsTape *t, SsModel *model, const SsBatch *batch)
{
  static const SsCausalLm lm = { gpt2_hidden, gpt2_head, NULL };

  return ss_causal_lm_loss (t, model, &lm, batch);
}

const SsModelFamily ss_family_gpt2 = {
  .name = "gpt2",
  .description = "GPT-2: learned positions, LayerNorm, biases, gelu_new, dropout, tied head",
  .types = types, .n_types = G_N_ELEMENTS (types), .linears = linears,
  .has_learned_positions = TRUE,
  .count_parameters = gpt2_count, .account = gpt2_account, .widths = gpt2_widths,
  .build = gpt2_build, .make_inputs = ss_causal_lm_make_inputs, .loss = gpt2_loss,
  .destroy = gpt2_destroy,
};
