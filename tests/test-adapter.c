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
traced_with (SsAdapter adapter)
{
  static char *targets[] = { "q", NULL };
  g_autoptr (GError) error = NULL;
  SsTraceConfig c = fixture_config ("llama", "hf-sdpa", N_LAYERS, 1, TOKENS);
  SsProgram *p;

  adapter.type = "lora";
  adapter.rank = RANK;
  adapter.targets = targets;
  c.adapter = adapter;
  p = ss_trace (&c, &fixture_h100, FALSE, &error);
  cr_assert (ne (ptr, p, NULL), "%s", error ? error->message : "");
  return p;
}

static SsProgram *
traced (gboolean is_fp32)
{
  return traced_with ((SsAdapter) { .is_fp32 = is_fp32 });
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

/* A mask of one byte for each element of q's input, but in layer 0, whose input wants no gradient;
 * the dropped input takes the place of the input itself, which nothing else keeps. */
Test (adapter, dropout_keeps_a_mask_and_the_dropped_input)
{
  g_autoptr (SsProgram) plain = traced (FALSE);
  g_autoptr (SsProgram) dropped = traced_with ((SsAdapter) { .dropout = 0.05 });
  FixturePhase a = fixture_phase (plain, 1, 1, SS_PHASE_FORWARD);
  FixturePhase b = fixture_phase (dropped, 1, 1, SS_PHASE_FORWARD);

  cr_assert (eq (u64, b.start_bytes, a.start_bytes));
  cr_assert (eq (u64, b.end_bytes, a.end_bytes + (N_LAYERS - 1) * TOKENS * HIDDEN));
}

/* Linear4bit: half a byte an element, an fp32 maximum for 64 of them, a code of 16 floats; doubly
 * quantised a byte, an fp32 scale for 256 maxima, a map of 256 floats (and one for all), and the
 * offset.  Nothing more is kept after forward than over bf16 weights. */
Test (adapter, a_packed_base_has_half_a_byte_an_element)
{
  const guint64 n_heads = HIDDEN, n_kv = 1024, f = 14336, h = HIDDEN;
  const guint64 sizes[] = { n_heads * h, n_kv * h, n_kv * h, h * n_heads, f * h, f * h, h * f };
  g_autoptr (SsProgram) plain = traced (FALSE);
  g_autoptr (SsProgram) once = traced_with ((SsAdapter) { .is_quantised = TRUE });
  g_autoptr (SsProgram) twice
    = traced_with ((SsAdapter) { .is_quantised = TRUE, .is_double_quantised = TRUE });
  FixturePhase p = fixture_phase (plain, 1, 1, SS_PHASE_FORWARD);
  FixturePhase a = fixture_phase (once, 1, 1, SS_PHASE_FORWARD);
  FixturePhase b = fixture_phase (twice, 1, 1, SS_PHASE_FORWARD);
  guint64 bf16 = 0, single = 0, doubled = 4 * 256;

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      guint64 n = sizes[i], blocks = n / 64;

      bf16 += N_LAYERS * 2 * n;
      single += N_LAYERS * (n / 2 + 4 * blocks + 64);
      doubled += N_LAYERS * (n / 2 + blocks + 4 * (blocks / 256) + 64 + 4 * 256 + 4);
    }
  cr_assert (eq (u64, a.start_bytes, p.start_bytes - bf16 + single));
  cr_assert (eq (u64, b.start_bytes, p.start_bytes - bf16 + doubled));
  cr_assert (eq (u64, a.end_bytes - a.start_bytes, p.end_bytes - p.start_bytes));
  cr_assert (eq (u64, b.end_bytes - b.start_bytes, p.end_bytes - p.start_bytes));
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
