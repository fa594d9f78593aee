/* SPDX-License-Identifier: MIT
 *
 * The Llama family, and what families of its kin share with it: the config, its closed forms.
 */
#pragma once

#include "ops/families/family.h"

G_BEGIN_DECLS

/* Its own part of SsModelConfig; 0 where a type has no use. */
typedef struct
{
  gint64 hidden_size, intermediate_size, vocab_size;
  gint64 n_heads, n_kv_heads, head_dim;
  gboolean tie_word_embeddings;
  gboolean attention_bias, mlp_bias;        /* every projection of the block */
  gboolean qkv_bias;                        /* qwen2: q, k and v only */
  gboolean has_qk_norm;                     /* qwen3: RMSNorm of q and k over a head */
  gint64 sliding_window;                    /* tokens a query looks back; 0: all */
  gboolean uses_sliding_window;             /* qwen: a switch beside it */
  SsRopeType rope_type;
  double attn_pdrop;
} SsLlamaConfig;

static inline const SsLlamaConfig *
ss_llama_config (const SsModelConfig *config)
{
  return (const SsLlamaConfig *) config->own;
}

#define SS_N_LLAMA_TYPES 4
extern const SsModelType ss_llama_types[SS_N_LLAMA_TYPES];
extern const SsLinearName ss_llama_linears[];

/* What holds of heads in every type: FALSE and *problem (transfer full). */
gboolean ss_llama_check_heads (const SsLlamaConfig *config, char **problem);
/* Members of SsModelFamily. */
void ss_llama_account (const SsModelConfig *config, guint64 s, guint64 b, SsModelAccount *out);
guint ss_llama_widths (const SsModelConfig *config, SsWidth *out);

G_END_DECLS
