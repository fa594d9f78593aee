/* SPDX-License-Identifier: MIT
 *
 * What an exception releases: temporaries of the expression and of compiled code, not names.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "trace-fixture.h"

static const SsTarget h100 = { 90, 132, 2048, 33554432, FALSE };

enum
{
  S = 256,
  H = 1024,
  F = 2048,
  V = 4096
};

static SsTraceConfig
small_llama (const char *recipe)
{
  const FixtureSizes sizes = {
    .hidden = H, .intermediate = F, .vocabulary = V, .n_layers = 2, .n_heads = 8, .n_kv_heads = 2,
    .head_dim = 128, .n_positions = 8192,
  };

  return (SsTraceConfig) {
    .model = fixture_model ("llama", &sizes),
    .n_steps = 1, .micro_batch = 1, .sequence_length = S, .gradient_accumulation = 1,
    .precision = ss_precision_find (recipe), .optimizer = ss_optimizer_find ("adamw"),
    .implementation = SS_FUSED,
    .checkpointing = { .policy = ss_checkpoint_policy_find ("none"), .has_early_stop = TRUE },
    .kernels = ss_kernel_profile_find ("hf-sdpa")->kernels,
  };
}

/* The storage that the n-th op of that name (from 1) asks for first. */
static guint32
storage_of (const SsProgram *p, const char *op, guint n)
{
  guint32 last = G_MAXUINT32;

  for (guint i = 0; i < ss_program_n_storages (p); i++)
    {
      const SsStorageInfo *s = ss_program_storage (p, i);

      if (s->op_id == last || s->op_id >= ss_program_n_ops (p))
        continue;
      last = s->op_id;
      if (g_str_equal (ss_op_name (ss_program_op (p, s->op_id)), op) && --n == 0)
        return i;
    }
  cr_fatal ("no such op");
  return 0;
}

static guint64
released_bytes (const SsTraceConfig *c, const char *op, guint n)
{
  g_autoptr (SsProgram) p = ss_trace (c, &h100, FALSE, NULL);
  g_autoptr (GArray) unwound = ss_trace_unwound (c, &h100, storage_of (p, op, n));
  guint64 bytes = 0;

  for (guint i = 0; i < unwound->len; i++)
    bytes += ss_program_storage (p, g_array_index (unwound, guint32, i))->bytes;
  return bytes;
}

/* gate_proj (x) is the argument of act_fn's forward: its frame keeps it */
Test (unwind, an_argument_of_a_python_function_stays)
{
  SsTraceConfig c = small_llama ("bf16");

  cr_assert (eq (u64, released_bytes (&c, "aten::silu", 1), 0));
}

/* q * cos + rotate_half (q) * sin: when the second product fails, the first one (S H 2) and the
 * rotated tensor (S H 2) were only on the evaluation stack. Forward's products before: norm 2,
 * q * cos. */
Test (unwind, temporaries_of_an_expression_go)
{
  SsTraceConfig c = small_llama ("bf16");

  cr_assert (eq (u64, released_bytes (&c, "aten::cat", 3), S * H * 2 + S * H / 2 * 2));
}

/* Under autocast the failing head had cast its input (S H 2) and its weight (V H 2), whose
 * cache goes with the context; of the casts before, those of q, k, v, o, gate, up and down are
 * saved by their nodes. */
Test (unwind, casts_and_their_cache_go)
{
  SsTraceConfig c = small_llama ("bf16-amp");

  cr_assert (eq (u64, released_bytes (&c, "aten::mm", 15), S * H * 2 + V * H * 2));
}

/* The first backward node after the loss's: log_softmax's gradient fails, and the incoming one
 * (S V 4) goes. */
Test (unwind, the_failing_node_drops_its_incoming_gradient)
{
  SsTraceConfig c = small_llama ("bf16");

  cr_assert (eq (u64, released_bytes (&c, "aten::_log_softmax_backward_data", 1), S * V * 4));
}

/* A fused optimizer makes its states by name: nothing to lose. */
Test (unwind, optimizer_states_stay)
{
  SsTraceConfig c = small_llama ("bf16");

  cr_assert (eq (u64, released_bytes (&c, "aten::zeros_like", 5), 0));
}

/* Whichever request fails, recomputations and nested backwards included: what is let go was alive,
 * and the failing request itself is not among it. */
Test (unwind, any_request_may_fail)
{
  const struct { gboolean is_checkpointed, is_reentrant; const char *recipe; } rows[] = {
    { FALSE, FALSE, "bf16" }, { TRUE, FALSE, "fp32" }, { TRUE, TRUE, "bf16-amp" },
    { TRUE, FALSE, "bf16-mixed-fp32-grads" },
  };

  for (guint r = 0; r < G_N_ELEMENTS (rows); r++)
    {
      SsTraceConfig c = small_llama (rows[r].recipe);
      g_autoptr (SsProgram) p = NULL;

      c.gradient_accumulation = 2;
      c.kernels.attention = SS_ATTENTION_EAGER;
      if (rows[r].is_checkpointed)
        c.checkpointing.policy = ss_checkpoint_policy_find ("full");
      c.checkpointing.is_reentrant = rows[r].is_reentrant;
      p = ss_trace (&c, &h100, FALSE, NULL);
      for (guint i = 0; i < ss_program_n_storages (p); i += 5)
        {
          g_autoptr (GArray) unwound = ss_trace_unwound (&c, &h100, i);

          for (guint k = 0; k < unwound->len; k++)
            cr_assert (lt (u32, g_array_index (unwound, guint32, k), i),
                       "row %u, storage %u", r, i);
        }
    }
}
