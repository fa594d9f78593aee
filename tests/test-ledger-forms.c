/* SPDX-License-Identifier: MIT
 *
 * The closed forms against the numbers that papers and lessons print (rows P, M, A, F, E, K of
 * the ledger).
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>

#include "memory/tensor.h"
#include "ops/ledger.h"

/* Equal when rounded to the digits that were published. */
static void
near (const char *row, double value, double published, double half_a_digit)
{
  cr_assert (fabs (value - published) <= half_a_digit, "%s: %g, published %g", row, value,
             published);
}

/* P4: attention and MLP of Llama 3 8B, 70B, 405B, in millions */
Test (ledger_forms, llama_blocks_split_as_published)
{
  near ("8B attention", (double) ss_ledger_llama_attention_parameters (4096, 4096, 1024) / 1e6,
        41.9, 0.05);
  near ("8B mlp", (double) ss_ledger_llama_mlp_parameters (4096, 14336) / 1e6, 176.2, 0.05);
  near ("70B attention", (double) ss_ledger_llama_attention_parameters (8192, 8192, 1024) / 1e6,
        151.0, 0.05);
  near ("70B mlp", (double) ss_ledger_llama_mlp_parameters (8192, 28672) / 1e6, 704.6, 0.05);
  near ("405B attention", (double) ss_ledger_llama_attention_parameters (16384, 16384, 1024) / 1e6,
        570.4, 0.05);
  near ("405B mlp", (double) ss_ledger_llama_mlp_parameters (16384, 53248) / 1e6, 2617.2, 0.05);
}

/* P6: Qwen3 8B's matrices per layer, 192.9M = 11.5 h^2; P5: embedding and head */
Test (ledger_forms, qwen3_and_the_tables)
{
  guint64 matrices = ss_ledger_llama_attention_parameters (4096, 4096, 1024)
                     + ss_ledger_llama_mlp_parameters (4096, 12288);

  near ("qwen3 matrices", (double) matrices / 1e6, 192.9, 0.05);
  near ("over h^2", (double) matrices / (4096.0 * 4096.0), 11.5, 0.05);
  near ("8B tables", 2 * 4096.0 * 128256 / 1e9, 1.05, 0.005);
  near ("405B tables", 2 * 16384.0 * 128256 / 1e9, 4.20, 0.005);
}

/* P8: 12 L h^2 for LLaMA's four sizes; P9: LoRA of rank 8 on q and v of Qwen3 8B */
Test (ledger_forms, rough_counts_and_adapters)
{
  const double h[] = { 4096, 5120, 6656, 8192 }, layers[] = { 32, 40, 60, 80 };
  const double published[] = { 6.44, 12.58, 31.90, 64.42 };
  guint64 lora
    = ss_ledger_lora_parameters (8, 4096, 4096) + ss_ledger_lora_parameters (8, 4096, 1024);

  for (guint i = 0; i < 4; i++)
    near ("12 L h^2", 12 * layers[i] * h[i] * h[i] / 1e9, published[i], 0.005);
  cr_assert (eq (u64, lora, 106496));
  cr_assert (eq (u64, 36 * lora, 3833856));
}

/* Ledger section 2, and M1 to M3 */
Test (ledger_forms, bytes_per_parameter)
{
  const guint sums[] = { 8, 12, 16, 16, 20, 8, 2 };
  const SsLedgerRecipe *r = ss_ledger_recipes ();

  for (guint i = 0; i < G_N_ELEMENTS (sums); i++)
    cr_assert (eq (u32, ss_ledger_recipe_bytes (&r[i]), sums[i]), "%s", r[i].name);
  cr_assert (eq (ptr, (void *) r[G_N_ELEMENTS (sums)].name, NULL));
  near ("M1", 8e9 * ss_ledger_recipe_bytes (&r[3]) / 1e9, 128, 0.5);
  for (guint i = 0; i < 3; i++)
    near ("M2", 8e9 * ss_ledger_recipe_bytes (&r[i]) / 1e9, (const double[]) { 64, 96, 128 }[i],
          0.5);
  near ("M3 8.03B", 8.03e9 * ss_ledger_recipe_bytes (&r[4]) / 1e9, 161, 0.5);
  near ("M3 405B", 405e9 * ss_ledger_recipe_bytes (&r[3]) / 1e9, 6480, 0.5);
}

/* A1 to A7 */
Test (ledger_forms, activations)
{
  guint64 layer = ss_ledger_gpt_activation_bytes (8192, 1, 4096, 32), short_layer;
  guint64 llama = ss_ledger_llama_activation_bytes (1, 1, 4096, 4096, 1024, 14336);

  near ("A1 a layer", (double) layer / 1e9, 11.88, 0.005);
  near ("A1 36 layers", 36 * (double) layer / 1e9, 427.6, 0.05);
  short_layer = ss_ledger_gpt_activation_bytes (4096, 1, 4096, 32);
  near ("A2", 36 * (double) short_layer / 1e9, 117, 0.5);
  near ("A2 ratio", (double) layer / (double) short_layer, 3.65, 0.005);
  cr_assert (eq (u64, llama, 167936));
  near ("A3", 32 * 8192 * (double) llama / 1e9, 44.0, 0.05);
  near ("A4", 32 * (double) ss_ledger_softmax_bytes (8192, 1, 32) / 1e9, 137.4, 0.05);
  cr_assert (eq (u64, ss_ledger_logits_bytes (8192, 1, 128256), 4202692608));
  near ("A7", 1 - (double) ss_ledger_gpt_selective_activation_bytes (2048, 1, 12288)
                    / (double) ss_ledger_gpt_activation_bytes (2048, 1, 12288, 96), 0.70, 0.005);
}

/* A6, A8, A9 */
Test (ledger_forms, the_first_lesson)
{
  SsTensor block = ss_tensor (SS_BF16, 3, (gint64[]) { 1, 8192, 4096 });
  const SsLedgerRecipe *r = &ss_ledger_recipes ()[3];   /* bf16 mixed, fp32 master, Adam */
  double gpt = 36 * (double) ss_ledger_gpt_activation_bytes (8192, 1, 4096, 32);

  cr_assert (eq (u64, ss_tensor_bytes (&block), 64 << 20));
  near ("A8", ss_ledger_result_bytes (4e6, 8192, 64, 20, 2) / 1e12, 83.9, 0.05);
  near ("A8 block remat", ss_ledger_result_bytes (4e6, 8192, 64, 1, 2) / 1e12, 4.19, 0.005);
  near ("A9 weights and gradients", 8e9 * (r->weights + r->gradients) / 1e9, 32, 0.5);
  near ("A9 master and Adam", 8e9 * (r->master + r->optimizer) / 1e9, 96, 0.5);
  near ("A9", (8e9 * ss_ledger_recipe_bytes (r) + gpt) / 1e9, 560, 5);
  near ("A9 in cards of 80 GB", (8e9 * ss_ledger_recipe_bytes (r) + gpt) / 80e9, 7, 0.06);
}

/* E5, E9, E10 */
Test (ledger_forms, hours_and_published_utilization)
{
  const double tflops[] = { 430, 400, 380 }, published[] = { 43.5, 40.4, 38.4 };

  near ("E5 hours", ss_ledger_hours (30.84e6, 16384), 1882, 0.5);
  near ("E5 days", ss_ledger_hours (30.84e6, 16384) / 24, 78.4, 0.05);
  near ("E5 utilization", 100 * ss_ledger_mfu_of_hours (405853388800, 15.6e12, 30.84e6, 989e12),
        34.6, 0.05);
  near ("E9 years", ss_ledger_hours (3.1e6, 1) / 24 / 365.25, 354, 0.5);
  near ("E9 1000", ss_ledger_hours (3.1e6, 1000) / 24, 129, 0.5);
  near ("E9 10000", ss_ledger_hours (3.1e6, 10000) / 24, 13, 0.5);
  for (guint i = 0; i < 3; i++)   /* per card: 6 N tokens/s is what is published, 989 the peak */
    near ("E10", 100 * ss_ledger_mfu (405e9, tflops[i] * 1e12 / (6 * 405e9), 989e12), published[i],
          0.05);
}

/* F1 to F4 and E1 to E3, E6 to E8 */
Test (ledger_forms, flops_and_time)
{
  near ("F1", ss_ledger_training_flops (8.03e9, 1, FALSE) / 1e9, 48.2, 0.05);
  near ("F2", 32 * (double) ss_ledger_attention_core_flops (1, 8192, 4096, TRUE) / 8192 / 1e9, 6.44,
        0.005);
  near ("F3", ss_ledger_training_flops (405e9, 15.6e12, FALSE) / 1e25, 3.79, 0.005);
  near ("F4", ss_ledger_training_flops (8e9, 1e9, FALSE) / 1e19, 4.8, 0.05);
  near ("E1", ss_ledger_seconds (4.8e19, 1, 989e12, 0.4) / 3600, 33.7, 0.05);
  near ("E2", ss_ledger_tokens_per_s (8.03e9, 989e12, 0.4), 8211, 0.5);
  near ("E3", 100 * ss_ledger_mfu (8.03e9, 3000, 989e12), 14.6, 0.05);
  near ("E4",
        ss_ledger_seconds (ss_ledger_training_flops (405e9, 15.6e12, FALSE), 16384, 989e12, 0.41)
          / 86400,
        66.0, 0.05);
  near ("E6", 100 * 6 * 37e9 * 14.8e12 / (2.664e6 * 3600 * 1979e12), 17.3, 0.05);
  near ("E7",
        ss_ledger_seconds (ss_ledger_training_flops (7e9, 2e12, TRUE), 1000, 312e12, 0.45) / 86400,
        9.2, 0.05);
  near ("E8",
        ss_ledger_seconds (ss_ledger_training_flops (175e9, 300e9, TRUE), 1024, 312e12, 0.45)
          / 86400,
        33.8, 0.05);
}

/* Korthikanti's equation 7 is three times the blocks' and the head's forward. */
Test (ledger_forms, iteration_flops_are_three_forwards)
{
  double forward = 96.0 * (double) ss_ledger_gpt_block_flops (1, 2048, 12288)
                   + (double) ss_ledger_head_flops (1, 2048, 12288, 51200);

  near ("equation 7", ss_ledger_gpt_model_flops (1, 2048, 12288, 96, 51200) / (3 * forward), 1,
        1e-12);
}

/* K1 */
Test (ledger_forms, key_value_cache)
{
  cr_assert (eq (u64, ss_ledger_kv_cache_bytes (1, 32, 1024, 2), 131072));
  near ("K1", (double) ss_ledger_kv_cache_bytes (8192, 32, 1024, 2) / 1e9, 1.074, 0.0005);
}

/* Block count: 12 h^2 + 13 h; the model with tied head (ledger section 1) by hand for h = 4, L
 * = 2, V = 10 */
Test (ledger_forms, gpt_parameters)
{
  cr_assert (eq (u64, ss_ledger_gpt_block_parameters (4), 12 * 16 + 13 * 4));
  cr_assert (eq (u64, ss_ledger_gpt_parameters (4, 2, 10), 40 + 2 * 244 + 8));
}

Test (ledger_forms, overflow_is_said_not_wrapped)
{
  cr_assert (eq (u64, ss_ledger_softmax_bytes (G_MAXUINT32, G_MAXUINT32, 2), G_MAXUINT64));
}
