/* SPDX-License-Identifier: MIT
 *
 * The trace against the closed forms of the papers: what backward keeps, per layer, and the flops.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "trace-fixture.h"

static const SsTarget h100 = { 90, 132, 2048, 33554432, FALSE };

enum
{
  B = 2,
  S = 256
};

static SsTraceConfig
config (const char *model_type, gint64 n_layers, const char *attention)
{
  const FixtureSizes sizes = {
    .hidden = 512, .intermediate = 2048, .vocabulary = 1000, .n_layers = n_layers, .n_heads = 8,
    .n_kv_heads = 2, .head_dim = 64, .n_positions = 1024,
  };
  SsTraceConfig c = {
    .model = fixture_model (model_type, &sizes),
    .n_steps = 1,
    .micro_batch = B,
    .sequence_length = S,
    .gradient_accumulation = 1,
    .precision = ss_precision_find ("bf16"),
    .optimizer = ss_optimizer_find ("sgd"),
    .implementation = SS_FUSED,
    .checkpointing = { .policy = ss_checkpoint_policy_find ("none"), .has_early_stop = TRUE },
    .kernels = ss_kernel_profile_find ("paper")->kernels,
  };
  char *problem = NULL;

  cr_assert (ss_kernels_set (&c.kernels, "attention", attention, &problem));
  return c;
}

static guint64
saved_bytes (const SsTraceConfig *c)
{
  g_autoptr (SsProgram) p = ss_trace (c, &h100, FALSE, NULL);

  for (guint i = 0; i < ss_program_n_marks (p); i++)
    if (ss_program_mark (p, i)->type == SS_MARK_SAVED)
      return ss_program_mark (p, i)->bytes;
  return 0;
}

/* what a second layer adds */
static guint64
saved_per_layer (const char *model_type, const char *attention, double dropout)
{
  SsTraceConfig one = config (model_type, 1, attention), two = config (model_type, 2, attention);

  fixture_set_dropout (&one, dropout);
  fixture_set_dropout (&two, dropout);
  return saved_bytes (&two) - saved_bytes (&one);
}

/* ledger section 3: s b h (34 + 5 a s / h), 32 s b h */
Test (ledger, gpt_keeps_what_korthikanti_counts)
{
  const guint64 h = 512, a = 8, sbh = S * B * h;

  cr_assert (eq (u64, saved_per_layer ("gpt2", "paper-eager", 0.1), 34 * sbh + 5 * a * S * S * B));
  cr_assert (eq (u64, saved_per_layer ("gpt2", "paper-flash", 0), 32 * sbh));
}

/* ledger section 3: 2 s b (6h + 2 h_kv + 4F), and 2 a s^2 b more when unfused */
Test (ledger, llama_keeps_six_h_two_kv_four_f)
{
  const guint64 h = 512, kv = 2 * 64, f = 2048, a = 8, flash = 2 * S * B * (6 * h + 2 * kv + 4 * f);

  cr_assert (eq (u64, saved_per_layer ("llama", "paper-flash", 0), flash));
  cr_assert (eq (u64, saved_per_layer ("llama", "paper-eager", 0), flash + 2 * a * S * S * B));
}

typedef struct
{
  guint64 forward, backward;
} Flops;

static Flops
flops_of (const SsTraceConfig *c, SsOpClass op_class)
{
  g_autoptr (SsProgram) p = ss_trace (c, &h100, FALSE, NULL);
  Flops flops = { 0, 0 };

  for (guint i = 0; i < ss_program_n_ops (p); i++)
    {
      const SsOp *op = ss_program_op (p, i);

      if (op->op_class == op_class)
        *(op->is_backward ? &flops.backward : &flops.forward) += op->model_flops;
    }
  return flops;
}

/* ledger section 4: a block 24 b s h^2 + 4 b s^2 h forward, the head 2 b s h V; backward twice
 * that. The first layer's input needs its gradient, since the embedding is trained. */
Test (ledger, gpt_matmul_flops_are_the_closed_form)
{
  const guint64 h = 512, b = B, s = S, v = 1000, layers = 3;
  SsTraceConfig c = config ("gpt2", layers, "paper-eager");
  Flops flops = flops_of (&c, SS_OP_MATMUL);
  guint64 forward = layers * (24 * b * s * h * h + 4 * b * s * s * h) + 2 * b * s * h * v;

  cr_assert (eq (u64, flops.forward, forward));
  cr_assert (eq (u64, flops.backward, 2 * forward));
}

/* 6 flops a parameter and token in the matrices; the core 12 b s^2 a d_h in training, half of
 * it if causal */
Test (ledger, llama_flops_are_six_n_d_and_half_the_core)
{
  const guint64 h = 512, kv = 128, f = 2048, b = B, s = S, v = 1000, layers = 3, a = 8, d = 64;
  SsTraceConfig c = config ("llama", layers, "paper-flash");
  Flops matmul = flops_of (&c, SS_OP_MATMUL), core = flops_of (&c, SS_OP_ATTENTION);
  guint64 matrices = layers * (2 * h * h + 2 * h * kv + 3 * h * f) + h * v;

  cr_assert (eq (u64, matmul.forward + matmul.backward, 6 * matrices * b * s));
  cr_assert (eq (u64, core.forward + core.backward, layers * 12 * b * s * s * a * d / 2));
}

/* every layer recomputed: one forward more, 8 N D in all */
Test (ledger, full_recompute_costs_one_forward)
{
  const guint64 h = 512, kv = 128, f = 2048, b = B, s = S, layers = 3;
  guint64 block = layers * (2 * h * h + 2 * h * kv + 3 * h * f), recomputed = 0;
  SsTraceConfig c = config ("llama", layers, "paper-flash");
  g_autoptr (SsProgram) p = NULL;

  c.checkpointing.policy = ss_checkpoint_policy_find ("full");
  c.checkpointing.has_early_stop = FALSE;
  p = ss_trace (&c, &h100, FALSE, NULL);
  for (guint i = 0; i < ss_program_n_ops (p); i++)
    if (ss_program_op (p, i)->is_recompute && ss_program_op (p, i)->op_class == SS_OP_MATMUL)
      recomputed += ss_program_op (p, i)->flops;
  cr_assert (eq (u64, recomputed, 2 * block * b * s));
}
