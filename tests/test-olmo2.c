/* SPDX-License-Identifier: MIT
 *
 * OLMo 2: what a layer keeps whose norms round last and come behind attention and MLP.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "checkpoint-fixture.h"
#include "trace-fixture.h"

#define TOKENS 256

static guint64
kept_by_a_layer (SsTraceConfig c)
{
  guint64 bytes;

  c.model.n_layers = 2;
  bytes = ckpt_saved_bytes (&c);
  c.model.n_layers = 1;
  return bytes - ckpt_saved_bytes (&c);
}

/* A norm that rounds last keeps its input in f32, what the weight is multiplied with in f32, and
 * the root of each row: 8 bytes an element and 4 a row; its output goes to rope or to a sum, which
 * keep nothing.  q, k and v share the residual stream (2 h a token); behind rope q, k and v in
 * bf16; attention's output, its log-sum-exp (4 a head) and 24 bytes of random state; the MLP's
 * input, gate, its silu, up and their product. */
Test (olmo2, a_layer_keeps_its_norms_in_f32)
{
  const guint64 t = TOKENS, h = 4096, f = 14336, q = 4096, kv = 1024, n_heads = 32;
  SsTraceConfig c = fixture_config ("olmo2", "hf-sdpa", 2, 1, TOKENS);
  guint64 norms = t * 8 * (q + kv + h + h) + 4 * 4 * t;
  guint64 core = 2 * t * (q + 2 * kv) + 2 * t * q + 4 * t * n_heads + 24;

  cr_assert (eq (u64, kept_by_a_layer (c), 2 * t * h + norms + core + 2 * t * h + 2 * t * 4 * f));
}

/* Norms within checkpoints: of each remains its input in bf16, which for the one behind the MLP
 * nobody else keeps, nor for the one behind attention; those of q and k stay. */
Test (olmo2, norms_of_a_layer_can_be_recomputed)
{
  const guint64 t = TOKENS, h = 4096;
  SsTraceConfig none = fixture_config ("olmo2", "hf-sdpa", 2, 1, TOKENS), c = none;

  c.checkpointing.policy = ss_checkpoint_policy_find ("selective");
  c.checkpointing.drop = SS_DROP_NORMS;
  cr_assert (eq (u64, kept_by_a_layer (none) - kept_by_a_layer (c),
                 2 * t * (8 * h + 4) - 2 * t * 2 * h));
}

/* Rotary tables in f32: both rotations are sums in f32 that go back to bf16, and so do q and k. */
Test (olmo2, rotations_are_in_f32)
{
  SsTraceConfig c = fixture_config ("olmo2", "hf-sdpa", 1, 1, TOKENS);
  g_autoptr (SsProgram) p = ss_trace (&c, &fixture_h100, FALSE, NULL);
  g_autoptr (GError) error = NULL;

  /* q * cos, rotate_half (q) * sin and their sum */
  cr_assert (eq (u32, fixture_count (p, 1, 1, SS_PHASE_FORWARD, 4 * TOKENS * 4096) >= 3, 1));
  c = fixture_config ("olmo2", "liger", 1, 1, TOKENS);
  g_clear_pointer (&p, ss_program_unref);
  p = ss_trace (&c, &fixture_h100, FALSE, &error);
  cr_assert (eq (ptr, p, NULL));
  cr_assert (g_str_has_suffix (error->message, "norm=\"liger\" has no rules for a norm that "
                                               "rounds last"), "%s", error->message);
}
