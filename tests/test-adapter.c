/* SPDX-License-Identifier: MIT
 *
 * Adapters of a wider type than their base (peft's tuners/lora/layer.py): only their own branch
 * is computed in it.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "trace-fixture.h"

#define TOKENS 2048
#define HIDDEN 4096
#define RANK 8
#define N_LAYERS 2

static SsProgram *
traced (gboolean is_fp32)
{
  static char *targets[] = { "q", NULL };
  g_autoptr (GError) error = NULL;
  SsTraceConfig c = fixture_config ("llama", "hf-sdpa", N_LAYERS, 1, TOKENS);
  SsProgram *p;

  c.adapter = (SsAdapter) { .type = "lora", .rank = RANK, .targets = targets, .is_fp32 = is_fp32 };
  p = ss_trace (&c, &fixture_h100, FALSE, &error);
  cr_assert (ne (ptr, p, NULL), "%s", error ? error->message : "");
  return p;
}

/* What is kept more, in each layer: the input in f32 in place of bf16 (nothing else keeps it, the
 * base being frozen), and so A's product; the sum goes back to bf16, so that flash attention runs
 * and the residual stream, the norms and the logits are as before. */
Test (adapter, fp32_adapters_leave_the_stream_in_the_type_of_the_base)
{
  g_autoptr (SsProgram) base = traced (FALSE), wide = traced (TRUE);
  FixturePhase a = fixture_phase (base, 1, 1, SS_PHASE_FORWARD);
  FixturePhase b = fixture_phase (wide, 1, 1, SS_PHASE_FORWARD);
  const guint64 weights = 2 * N_LAYERS * 2 * RANK * HIDDEN, inputs = (4 - 2) * TOKENS * HIDDEN,
                low = (4 - 2) * TOKENS * RANK;
  guint64 flops;

  cr_assert (eq (u64, b.start_bytes, a.start_bytes + weights));
  cr_assert (eq (u64, b.end_bytes - b.start_bytes,
                 a.end_bytes - a.start_bytes + N_LAYERS * (inputs + low)));
  cr_assert (eq (u32, fixture_runs (wide, 1, 1, SS_PHASE_FORWARD,
                                    "aten::_scaled_dot_product_flash_attention", &flops),
                 N_LAYERS));
}

/* Llama 3 8B's h over GPT-2: a pair of matrices is rank * (in + out) parameters, and "c_proj" means
 * that of attention (h, h) and that of the MLP (f, h).  All else is frozen, so a frozen Conv1D
 * computes no gradient of its weight. */
Test (adapter, gpt2_takes_them_beside_its_conv1d)
{
  static char *targets[] = { "c_attn", "c_proj", NULL };
  const guint64 h = HIDDEN, f = 14336;
  SsTraceConfig c = fixture_config ("gpt2", "hf-sdpa", N_LAYERS, 1, TOKENS);
  g_autoptr (GError) error = NULL;
  g_autoptr (SsProgram) p = NULL;
  guint64 flops;

  c.adapter = (SsAdapter) { .type = "lora", .rank = RANK, .targets = targets };
  p = ss_trace (&c, &fixture_h100, FALSE, &error);
  cr_assert (ne (ptr, p, NULL), "%s", error ? error->message : "");
  cr_assert (eq (u64, ss_program_n_trainable_parameters (p),
                 N_LAYERS * RANK * ((h + 3 * h) + (h + h) + (f + h))));
  /* forward per layer: four linears and three pairs, and the head */
  cr_assert (eq (u32, fixture_runs (p, 1, 1, SS_PHASE_FORWARD, "aten::addmm", &flops),
                 4 * N_LAYERS));
  cr_assert (eq (u32, fixture_runs (p, 1, 1, SS_PHASE_FORWARD, "aten::mm", &flops),
                 2 * 3 * N_LAYERS + 1));
}
