/* SPDX-License-Identifier: MIT
 *
 * Fields of config.json and what holds when they are absent: transformers'
 * models/{llama,mistral,qwen2,qwen3}/configuration_*.py.  What follows from the numbers alone.
 */
#include "ops/families/llama-fields.h"

#include <string.h>

#include "ops/ledger.h"

/* transformers' default where the field is absent; null is none */
#define WINDOW(number)                                                                             \
  { "sliding_window", SS_FIELD_COUNT, AT (sliding_window), SS_ABSENT_CONSTANT, SS_ABSENT_ZERO,     \
    number, 0, 0 }

static const SsConfigField llama[] = {
  SIZES, KV_HEADS (SS_ABSENT_SAME_AS, 0), HEAD_DIM (SS_ABSENT_QUOTIENT, 0), POSITIONS (2048),
  FLAG ("tie_word_embeddings", tie_word_embeddings), FLAG ("attention_bias", attention_bias),
  FLAG ("mlp_bias", mlp_bias), ROPE, DROPOUT,
  ACTIVATION,
};
static const SsConfigField mistral[] = {
  SIZES, KV_HEADS (SS_ABSENT_CONSTANT, 8), HEAD_DIM (SS_ABSENT_QUOTIENT, 0), POSITIONS (131072),
  WINDOW (4096), FLAG ("tie_word_embeddings", tie_word_embeddings), ROPE, DROPOUT,
  ACTIVATION,
};
static const SsConfigField qwen2[] = {
  SIZES, KV_HEADS (SS_ABSENT_CONSTANT, 32), HEAD_DIM (SS_ABSENT_QUOTIENT, 0), POSITIONS (32768),
  FLAG ("tie_word_embeddings", tie_word_embeddings),
  FLAG ("use_sliding_window", uses_sliding_window), ROPE, DROPOUT,
  ACTIVATION,
};
static const SsConfigField qwen3[] = {
  SIZES, KV_HEADS (SS_ABSENT_CONSTANT, 32), HEAD_DIM (SS_ABSENT_CONSTANT, 128), POSITIONS (32768),
  FLAG ("tie_word_embeddings", tie_word_embeddings), FLAG ("attention_bias", attention_bias),
  FLAG ("use_sliding_window", uses_sliding_window), ROPE, DROPOUT,
  ACTIVATION,
};

G_STATIC_ASSERT (sizeof (SsLlamaConfig) <= SS_MODEL_OWN_BYTES);

static SsLlamaConfig *
own (SsModelConfig *config)
{
  return (SsLlamaConfig *) config->own;
}

gboolean
ss_llama_check_heads (const SsLlamaConfig *c, char **problem)
{
  if (c->head_dim < 1)
    *problem = g_strdup_printf ("%" G_GINT64_FORMAT " heads in a hidden size of %" G_GINT64_FORMAT
                                "; a head has at least one element",
                                c->n_heads, c->hidden_size);
  else if (c->n_heads % c->n_kv_heads != 0 || c->head_dim % 2 != 0)
    *problem = g_strdup_printf ("%" G_GINT64_FORMAT " heads of %" G_GINT64_FORMAT
                                " over %" G_GINT64_FORMAT " key-value heads;"
                                " expected a multiple of them, and an even head_dim",
                                c->n_heads, c->head_dim, c->n_kv_heads);
  return *problem == NULL;
}

static gboolean
finish_common (SsModelConfig *config, char **problem)
{
  if (own (config)->uses_sliding_window)
    {
      *problem = g_strdup ("use_sliding_window is true; only false is known");
      return FALSE;
    }
  return ss_llama_check_heads (own (config), problem);
}

/* q, k and v have biases although no field says so; the field head_dim is not used */
static gboolean
finish_qwen2 (SsModelConfig *config, char **problem)
{
  SsLlamaConfig *c = own (config);

  c->qkv_bias = TRUE;
  c->head_dim = c->hidden_size / c->n_heads;
  return finish_common (config, problem);
}

static gboolean
finish_qwen3 (SsModelConfig *config, char **problem)
{
  own (config)->has_qk_norm = TRUE;
  return finish_common (config, problem);
}

const SsModelType ss_llama_types[SS_N_LLAMA_TYPES] = {
  { "llama", llama, G_N_ELEMENTS (llama), finish_common },
  { "mistral", mistral, G_N_ELEMENTS (mistral), finish_common },
  { "qwen2", qwen2, G_N_ELEMENTS (qwen2), finish_qwen2 },
  { "qwen3", qwen3, G_N_ELEMENTS (qwen3), finish_qwen3 },
};

const SsLinearName ss_llama_linears[] = {
  { "q", "q_proj", TRUE }, { "k", "k_proj", FALSE }, { "v", "v_proj", TRUE },
  { "o", "o_proj", FALSE }, { "gate", "gate_proj", FALSE }, { "up", "up_proj", FALSE },
  { "down", "down_proj", FALSE }, { NULL, NULL, FALSE },
};

/* ---- closed forms and names ---- */

void
ss_llama_account (const SsModelConfig *config, guint64 s, guint64 b, SsModelAccount *out)
{
  const SsLlamaConfig *c = ss_llama_config (config);
  guint64 q = (guint64) (c->n_heads * c->head_dim), kv = (guint64) (c->n_kv_heads * c->head_dim);

  out->layer_bytes = ss_ledger_llama_activation_bytes (s, b, (guint64) c->hidden_size, q, kv,
                                                       (guint64) c->intermediate_size);
  out->layer_form = "2 s b (4 h + 2 q + 2 kv + 4 f), FlashAttention";
  out->softmax_bytes = ss_ledger_softmax_bytes (s, b, (guint64) c->n_heads);
  out->logits_bytes = ss_ledger_logits_bytes (s, b, (guint64) c->vocab_size);
  out->core_flops = ss_size_mul ((guint64) config->n_layers,
                                 ss_ledger_attention_core_flops (1, s, q, TRUE));
  out->n_active = config->family->count_parameters (config);
  out->n_embedding = ss_size_mul ((guint64) c->vocab_size, (guint64) c->hidden_size);
  out->n_head = c->tie_word_embeddings ? 0 : out->n_embedding;
  out->n_attention = ss_ledger_llama_attention_parameters ((guint64) c->hidden_size, q, kv);
  out->n_mlp = ss_ledger_llama_mlp_parameters ((guint64) c->hidden_size,
                                               (guint64) c->intermediate_size);
  out->kv_width = kv;
}

guint
ss_llama_widths (const SsModelConfig *config, SsWidth *out)
{
  const SsLlamaConfig *c = ss_llama_config (config);
  const SsWidth widths[] = {
    { c->vocab_size, "words", SS_WIDTH_WORDS },
    { c->intermediate_size, "MLP features", SS_WIDTH_FEATURES },
    { c->hidden_size, "features", SS_WIDTH_HIDDEN },
    { c->n_heads * c->head_dim, "query features", SS_WIDTH_FEATURES },
    { c->n_kv_heads * c->head_dim, "key features", SS_WIDTH_FEATURES },
    { c->head_dim, "head features", SS_WIDTH_FEATURES },
    { c->n_heads, "heads", SS_WIDTH_HEADS },
    { c->n_kv_heads, "key heads", SS_WIDTH_KEY_HEADS },
  };

  G_STATIC_ASSERT (G_N_ELEMENTS (widths) <= SS_MAX_WIDTHS);
  memcpy (out, widths, sizeof widths);
  return G_N_ELEMENTS (widths);
}
