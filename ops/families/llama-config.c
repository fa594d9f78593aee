/* SPDX-License-Identifier: MIT
 *
 * Fields of config.json and what holds when they are absent: transformers'
 * models/{llama,mistral,qwen2,qwen3}/configuration_*.py.
 */
#include "ops/families/llama.h"

#define AT(field) G_STRUCT_OFFSET (SsModelConfig, field)
#define COUNT(json, field)                                                                         \
  { json, SS_FIELD_COUNT, AT (field), SS_ABSENT_REQUIRED, SS_ABSENT_REQUIRED, 0, 0, 0 }
#define FLAG(json, field)                                                                          \
  { json, SS_FIELD_FLAG, AT (field), SS_ABSENT_CONSTANT, SS_ABSENT_CONSTANT, 0, 0, 0 }
#define KV_HEADS(when_absent, number)                                                              \
  { "num_key_value_heads", SS_FIELD_COUNT, AT (n_kv_heads), when_absent, SS_ABSENT_SAME_AS,        \
    number, AT (n_heads), 0 }
#define HEAD_DIM(when_absent, number)                                                              \
  { "head_dim", SS_FIELD_COUNT, AT (head_dim), when_absent, SS_ABSENT_QUOTIENT,                    \
    number, AT (hidden_size), AT (n_heads) }
#define SIZES                                                                                      \
  COUNT ("hidden_size", hidden_size), COUNT ("intermediate_size", intermediate_size),              \
    COUNT ("num_hidden_layers", n_layers), COUNT ("num_attention_heads", n_heads),                 \
    COUNT ("vocab_size", vocab_size)
#define POSITIONS(number)                                                                          \
  { "max_position_embeddings", SS_FIELD_COUNT, AT (max_position_embeddings), SS_ABSENT_CONSTANT,   \
    SS_ABSENT_REQUIRED, number, 0, 0 }
#define ROPE                                                                                       \
  { "rope_scaling", SS_FIELD_ROPE, AT (rope_type), SS_ABSENT_CONSTANT, SS_ABSENT_CONSTANT,         \
    SS_ROPE_DEFAULT, 0, 0 }
#define DROPOUT                                                                                    \
  { "attention_dropout", SS_FIELD_PROBABILITY, AT (attn_pdrop), SS_ABSENT_CONSTANT,                \
    SS_ABSENT_CONSTANT, 0, 0, 0 }

/* transformers' default where the field is absent; null is none */
#define WINDOW(number)                                                                             \
  { "sliding_window", SS_FIELD_COUNT, AT (sliding_window), SS_ABSENT_CONSTANT, SS_ABSENT_ZERO,     \
    number, 0, 0 }

/* transformers' ACT2FN knows nn.SiLU under both */
static const char *const silu[] = { "silu", "swish", NULL };
#define ACTIVATION                                                                                 \
  { .name = "hidden_act", .type = SS_FIELD_WORD, .words = silu }

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

static gboolean
finish_common (SsModelConfig *c, char **problem)
{
  if (c->uses_sliding_window)
    {
      *problem = g_strdup ("use_sliding_window is true; only false is known");
      return FALSE;
    }
  if (c->n_heads % c->n_kv_heads == 0 && c->head_dim % 2 == 0)
    return TRUE;
  *problem = g_strdup_printf ("%" G_GINT64_FORMAT " heads of %" G_GINT64_FORMAT
                              " over %" G_GINT64_FORMAT " key-value heads;"
                              " expected a multiple of them, and an even head_dim",
                              c->n_heads, c->head_dim, c->n_kv_heads);
  return FALSE;
}

/* q, k and v have biases although no field says so; the field head_dim is not used */
static gboolean
finish_qwen2 (SsModelConfig *c, char **problem)
{
  c->qkv_bias = TRUE;
  c->head_dim = c->hidden_size / c->n_heads;
  return finish_common (c, problem);
}

static gboolean
finish_qwen3 (SsModelConfig *c, char **problem)
{
  c->has_qk_norm = TRUE;
  return finish_common (c, problem);
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
