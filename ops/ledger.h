/* SPDX-License-Identifier: MIT
 *
 * The closed forms of a training step's account, as papers and lessons state them: parameters,
 * bytes per parameter, activations, flops, time. They check the trace and are printed beside
 * it; nothing is simulated from them. They know no tape. Letters: h hidden, L layers, V
 * vocabulary, a query heads, kv key-value width (heads times their dimension), f MLP width, s
 * sequence length, b micro-batch, n parameters.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* ---- parameters ---- */

/* GPT block with biases and LayerNorm, f = 4h: 12 h^2 + 13 h. */
guint64 ss_ledger_gpt_block_parameters (guint64 h);
/* Tied head, positions left out: h V + L (12 h^2 + 13 h) + 2 h. */
guint64 ss_ledger_gpt_parameters (guint64 h, guint64 layers, guint64 vocabulary);
/* Attention matrices of a Llama block: 2 h q + 2 h kv, q the query width. */
guint64 ss_ledger_llama_attention_parameters (guint64 h, guint64 q, guint64 kv);
/* Its gated MLP: 3 h f. */
guint64 ss_ledger_llama_mlp_parameters (guint64 h, guint64 f);
/* A low-rank adapter on one matrix: r (d_in + d_out). */
guint64 ss_ledger_lora_parameters (guint64 rank, guint64 d_in, guint64 d_out);

/* ---- bytes per parameter ---- */

typedef struct
{
  const char *name;              /* "bf16 mixed, fp32 master, Adam" */
  guint weights, gradients, master, optimizer;
} SsLedgerRecipe;

/* NULL-name-terminated table. */
const SsLedgerRecipe *ss_ledger_recipes (void);
guint ss_ledger_recipe_bytes (const SsLedgerRecipe *recipe);

/* ---- activations kept for backward, 16-bit, bytes per layer ---- */

/* Korthikanti et al. 2022, equation 2: s b h (34 + 5 a s / h), dropout and unfused attention. */
guint64 ss_ledger_gpt_activation_bytes (guint64 s, guint64 b, guint64 h, guint64 a);
/* Without dropout masks and with FlashAttention: 32 s b h. */
guint64 ss_ledger_gpt_flash_activation_bytes (guint64 s, guint64 b, guint64 h);
/* Selective recomputation (the attention core dropped): 34 s b h; section 4 of the same paper. */
guint64 ss_ledger_gpt_selective_activation_bytes (guint64 s, guint64 b, guint64 h);
/* Llama block with FlashAttention: 2 s b (4 h + 2 q + 2 kv + 4 f); q = h in Llama: 6 h. */
guint64 ss_ledger_llama_activation_bytes (guint64 s, guint64 b, guint64 h, guint64 q, guint64 kv,
                                          guint64 f);
/* The softmax matrix of unfused attention: 2 a s^2 b. */
guint64 ss_ledger_softmax_bytes (guint64 s, guint64 b, guint64 a);
/* fp32 logits: 4 s b V. */
guint64 ss_ledger_logits_bytes (guint64 s, guint64 b, guint64 vocabulary);
/* Results of `per_layer` tensors of width h in every layer: tokens h L per_layer times the element
 * size; with 1, what is left of them when whole blocks are recomputed. */
double ss_ledger_result_bytes (double tokens, double h, double layers, double per_layer,
                               double element_bytes);
/* Keys and values of a sequence: 2 s L kv times the element size. */
guint64 ss_ledger_kv_cache_bytes (guint64 s, guint64 layers, guint64 kv, guint64 element_bytes);

/* ---- flops ---- */

/* GPT block forward: 24 b s h^2 + 4 b s^2 h; the head: 2 b s h V. */
guint64 ss_ledger_gpt_block_flops (guint64 b, guint64 s, guint64 h);
guint64 ss_ledger_head_flops (guint64 b, guint64 s, guint64 h, guint64 vocabulary);
/* Attention core in training: 12 b s^2 q, half of it if causal. */
guint64 ss_ledger_attention_core_flops (guint64 b, guint64 s, guint64 q, gboolean is_causal);
/* 6 N D; with every layer recomputed 8 N D. */
double ss_ledger_training_flops (double n, double tokens, gboolean is_recomputed);
/* Korthikanti et al. 2022, equation 7, per iteration: 72 b L s h^2 (1 + s/(6h) + V/(12hL)). */
double ss_ledger_gpt_model_flops (double b, double s, double h, double layers, double vocabulary);

/* ---- time ---- */

/* Seconds for that many flops on n devices of that dense peak at that utilization. */
double ss_ledger_seconds (double flops, double n_devices, double peak_flop_per_s, double mfu);
/* MFU P / (6 N). */
double ss_ledger_tokens_per_s (double n, double peak_flop_per_s, double mfu);
double ss_ledger_mfu (double n, double tokens_per_s, double peak_flop_per_s);
/* Mean utilization of a training that took so many device hours: 6 N D over hours and peak. */
double ss_ledger_mfu_of_hours (double n, double tokens, double device_hours,
                               double peak_flop_per_s);
/* Hours on the clock when so many devices share them. */
double ss_ledger_hours (double device_hours, double n_devices);

G_END_DECLS
