/* SPDX-License-Identifier: MIT
 *
 * What a config of GPT-2 may say beside its sizes: a head of its own, another activation function.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "trace-fixture.h"

#define HIDDEN 64
#define INNER 251
#define VOCABULARY 1001
#define TOKENS 32
#define N_LAYERS 2

static SsProgram *
traced (gboolean is_tied, const char *activation)
{
  const FixtureSizes sizes = {
    .hidden = HIDDEN, .intermediate = INNER, .vocabulary = VOCABULARY, .n_layers = N_LAYERS,
    .n_heads = 4, .n_positions = TOKENS, .is_tied = is_tied, .activation = activation,
  };
  g_autoptr (GError) error = NULL;
  SsTraceConfig c = fixture_config ("gpt2", "hf-sdpa", N_LAYERS, 1, TOKENS);
  SsProgram *p;

  c.model = fixture_model ("gpt2", &sizes);
  p = ss_trace (&c, &fixture_h100, FALSE, &error);
  cr_assert (ne (ptr, p, NULL), "%s", error ? error->message : "");
  return p;
}

/* The weight, its gradient and AdamW's two states are there twice, and one step counter more. */
Test (gpt2, a_head_of_its_own_is_one_more_parameter)
{
  g_autoptr (SsProgram) tied = traced (TRUE, "gelu_new"), untied = traced (FALSE, "gelu_new");
  const guint64 weight = 2 * VOCABULARY * HIDDEN;
  FixturePhase a = fixture_phase (tied, 1, 1, SS_PHASE_BACKWARD);
  FixturePhase b = fixture_phase (untied, 1, 1, SS_PHASE_BACKWARD);

  cr_assert (eq (u64, ss_program_n_parameters (untied),
                 ss_program_n_parameters (tied) + VOCABULARY * HIDDEN));
  cr_assert (eq (u64, b.start_bytes, a.start_bytes + weight));
  cr_assert (eq (u64, b.end_bytes, a.end_bytes + 2 * weight));
  a = fixture_phase (tied, 1, 0, SS_PHASE_OPTIMIZER);
  b = fixture_phase (untied, 1, 0, SS_PHASE_OPTIMIZER);
  cr_assert (eq (u64, b.end_bytes, a.end_bytes + 4 * weight + 4));
}

/* gelu_new keeps its input, the tanh, the halved input and the sum, and the cube's input is the
 * first again; one kernel keeps its input alone. The product goes to the linear either way. */
Test (gpt2, gelu_is_one_kernel_that_keeps_its_input)
{
  g_autoptr (SsProgram) chain = traced (TRUE, "gelu_new"), kernel = traced (TRUE, "gelu");
  const guint64 inner = 2 * TOKENS * INNER;
  FixturePhase a = fixture_phase (chain, 1, 1, SS_PHASE_BACKWARD);
  FixturePhase b = fixture_phase (kernel, 1, 1, SS_PHASE_BACKWARD);
  guint64 flops;

  cr_assert (eq (u32, fixture_runs (kernel, 1, 1, SS_PHASE_FORWARD, "aten::gelu", &flops),
                 N_LAYERS));
  cr_assert (eq (u32, fixture_runs (kernel, 1, 1, SS_PHASE_FORWARD, "aten::pow", &flops), 0));
  cr_assert (eq (u64, a.start_bytes, b.start_bytes + N_LAYERS * 3 * inner));
}
