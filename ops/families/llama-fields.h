/* SPDX-License-Identifier: MIT
 *
 * Fields of config.json that Llama's kin share, as rows of SsConfigField into SsLlamaConfig.
 */
#pragma once

#include "ops/families/llama.h"

#define AT(field) SS_MODEL_OWN_AT (SsLlamaConfig, field)
#define COUNT_AT(json, at)                                                                         \
  { json, SS_FIELD_COUNT, at, SS_ABSENT_REQUIRED, SS_ABSENT_REQUIRED, 0, 0, 0 }
#define COUNT(json, field) COUNT_AT (json, AT (field))
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
    COUNT_AT ("num_hidden_layers", SS_MODEL_AT (n_layers)),                                        \
    COUNT ("num_attention_heads", n_heads), COUNT ("vocab_size", vocab_size)
#define POSITIONS(number)                                                                          \
  { "max_position_embeddings", SS_FIELD_COUNT, SS_MODEL_AT (max_position_embeddings),              \
    SS_ABSENT_CONSTANT, SS_ABSENT_REQUIRED, number, 0, 0 }
#define ROPE                                                                                       \
  { "rope_scaling", SS_FIELD_ROPE, AT (rope_type), SS_ABSENT_CONSTANT, SS_ABSENT_CONSTANT,         \
    SS_ROPE_DEFAULT, 0, 0 }
#define DROPOUT                                                                                    \
  { "attention_dropout", SS_FIELD_PROBABILITY, AT (attn_pdrop), SS_ABSENT_CONSTANT,                \
    SS_ABSENT_CONSTANT, 0, 0, 0 }

/* transformers' ACT2FN knows nn.SiLU under both */
static const char *const silu[] = { "silu", "swish", NULL };
#define ACTIVATION                                                                                 \
  { .name = "hidden_act", .type = SS_FIELD_WORD, .words = silu }
