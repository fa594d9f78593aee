/* SPDX-License-Identifier: MIT */
#include "ops/ledger.h"

#include "memory/tensor.h"

#define MUL ss_size_mul
#define ADD ss_size_add

/* ---- parameters ---- */

guint64
ss_ledger_gpt_block_parameters (guint64 h)
{
  return ADD (MUL (12, MUL (h, h)), MUL (13, h));
}

guint64
ss_ledger_gpt_parameters (guint64 h, guint64 layers, guint64 vocabulary)
{
  return ADD (MUL (h, vocabulary),
              ADD (MUL (layers, ss_ledger_gpt_block_parameters (h)), MUL (2, h)));
}

guint64
ss_ledger_llama_attention_parameters (guint64 h, guint64 q, guint64 kv)
{
  return MUL (2, MUL (h, ADD (q, kv)));
}

guint64
ss_ledger_llama_mlp_parameters (guint64 h, guint64 f)
{
  return MUL (3, MUL (h, f));
}

guint64
ss_ledger_lora_parameters (guint64 rank, guint64 d_in, guint64 d_out)
{
  return MUL (rank, ADD (d_in, d_out));
}

/* ---- bytes per parameter ---- */

const SsLedgerRecipe *
ss_ledger_recipes (void)
{
  static const SsLedgerRecipe recipes[] = {
    { "fp32 + SGD", 4, 4, 0, 0 },
    { "fp32 + SGD with momentum", 4, 4, 0, 4 },
    { "fp32 + Adam", 4, 4, 0, 8 },
    { "bf16 mixed, fp32 master, Adam", 2, 2, 4, 8 },
    { "the same, gradients summed in fp32", 2, 2 + 4, 4, 8 },
    { "pure bf16 + Adam", 2, 2, 0, 4 },
    { "inference, bf16", 2, 0, 0, 0 },
    { NULL, 0, 0, 0, 0 },
  };

  return recipes;
}

guint
ss_ledger_recipe_bytes (const SsLedgerRecipe *recipe)
{
  return recipe->weights + recipe->gradients + recipe->master + recipe->optimizer;
}

/* ---- activations ---- */

guint64
ss_ledger_gpt_activation_bytes (guint64 s, guint64 b, guint64 h, guint64 a)
{
  return ADD (ss_ledger_gpt_selective_activation_bytes (s, b, h),
              MUL (5, MUL (MUL (a, b), MUL (s, s))));
}

guint64
ss_ledger_gpt_flash_activation_bytes (guint64 s, guint64 b, guint64 h)
{
  return MUL (32, MUL (MUL (s, b), h));
}

guint64
ss_ledger_gpt_selective_activation_bytes (guint64 s, guint64 b, guint64 h)
{
  return MUL (34, MUL (MUL (s, b), h));
}

guint64
ss_ledger_llama_activation_bytes (guint64 s, guint64 b, guint64 h, guint64 q, guint64 kv, guint64 f)
{
  guint64 widths = ADD (ADD (MUL (4, h), MUL (2, q)), ADD (MUL (2, kv), MUL (4, f)));

  return MUL (MUL (2, MUL (s, b)), widths);
}

guint64
ss_ledger_softmax_bytes (guint64 s, guint64 b, guint64 a)
{
  return MUL (MUL (2, MUL (a, b)), MUL (s, s));
}

guint64
ss_ledger_logits_bytes (guint64 s, guint64 b, guint64 vocabulary)
{
  return MUL (MUL (4, vocabulary), MUL (s, b));
}

double
ss_ledger_result_bytes (double tokens, double h, double layers, double per_layer,
                        double element_bytes)
{
  return tokens * h * layers * per_layer * element_bytes;
}

guint64
ss_ledger_kv_cache_bytes (guint64 s, guint64 layers, guint64 kv, guint64 element_bytes)
{
  return MUL (MUL (2, MUL (s, layers)), MUL (kv, element_bytes));
}

/* ---- flops ---- */

guint64
ss_ledger_gpt_block_flops (guint64 b, guint64 s, guint64 h)
{
  guint64 tokens = MUL (b, s);

  return ADD (MUL (MUL (24, tokens), MUL (h, h)), MUL (MUL (4, tokens), MUL (s, h)));
}

guint64
ss_ledger_head_flops (guint64 b, guint64 s, guint64 h, guint64 vocabulary)
{
  return MUL (MUL (2, MUL (b, s)), MUL (h, vocabulary));
}

guint64
ss_ledger_attention_core_flops (guint64 b, guint64 s, guint64 q, gboolean is_causal)
{
  return MUL (is_causal ? 6 : 12, MUL (MUL (b, s), MUL (s, q)));
}

double
ss_ledger_training_flops (double n, double tokens, gboolean is_recomputed)
{
  return (is_recomputed ? 8 : 6) * n * tokens;
}

double
ss_ledger_gpt_model_flops (double b, double s, double h, double layers, double vocabulary)
{
  return 72 * b * layers * s * h * h * (1 + s / (6 * h) + vocabulary / (12 * h * layers));
}

/* ---- time ---- */

double
ss_ledger_seconds (double flops, double n_devices, double peak_flop_per_s, double mfu)
{
  return flops / (n_devices * peak_flop_per_s * mfu);
}

double
ss_ledger_tokens_per_s (double n, double peak_flop_per_s, double mfu)
{
  return mfu * peak_flop_per_s / (6 * n);
}

double
ss_ledger_mfu (double n, double tokens_per_s, double peak_flop_per_s)
{
  return 6 * n * tokens_per_s / peak_flop_per_s;
}

double
ss_ledger_mfu_of_hours (double n, double tokens, double device_hours, double peak_flop_per_s)
{
  return ss_ledger_training_flops (n, tokens, FALSE) / (device_hours * 3600 * peak_flop_per_s);
}

double
ss_ledger_hours (double device_hours, double n_devices)
{
  return device_hours / n_devices;
}
