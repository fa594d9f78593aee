/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "trace-fixture.h"

/* multiprocessors, threads and workspace of an H100 */
static const SsTarget h100 = { 90, 132, 2048, 33554432, FALSE };

static SsTraceConfig
llama3 (gint64 n_layers, gint64 hidden, gint64 intermediate, gint64 n_heads)
{
  const FixtureSizes sizes = {
    .hidden = hidden, .intermediate = intermediate, .vocabulary = 128256, .n_layers = n_layers,
    .n_heads = n_heads, .n_kv_heads = 8, .head_dim = 128, .n_positions = 8192,
  };
  SsTraceConfig c = {
    .model = fixture_model ("llama", &sizes),
    .n_steps = 2,
    .micro_batch = 1,
    .sequence_length = 2048,
    .gradient_accumulation = 1,
    .precision = ss_precision_find ("bf16"),
    .optimizer = ss_optimizer_find ("adamw"),
    .implementation = SS_FUSED,
    .checkpointing = { .policy = ss_checkpoint_policy_find ("none"), .has_early_stop = TRUE },
    .kernels = ss_kernel_profile_find ("hf-sdpa")->kernels,
  };

  return c;
}

/* ledger P1, P2, P3 */
Test (trace, llama_parameters_are_the_published_counts)
{
  const struct { gint64 layers, hidden, intermediate, heads; guint64 parameters;
  } rows[] = {
    { 32, 4096, 14336, 32, 8030261248 },
    { 80, 8192, 28672, 64, 70553706496 },
    { 126, 16384, 53248, 128, 405853388800 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      SsTraceConfig c
        = llama3 (rows[i].layers, rows[i].hidden, rows[i].intermediate, rows[i].heads);

      cr_assert (eq (u64, c.model.family->count_parameters (&c.model), rows[i].parameters));
    }
}

typedef struct
{
  guint64 now, peak[SS_N_PHASES], end[SS_N_PHASES];
} Curve;

/* requested bytes by phase of one step */
static Curve
curve_of (const SsProgram *p, guint step)
{
  Curve curve = { 0 };
  const SsMark *at = NULL;

  for (guint i = 0; i < ss_program_n_instructions (p); i++)
    {
      guint32 index = ss_program_instruction (p, i)->index;
      SsInstructionType type = (SsInstructionType) ss_program_instruction (p, i)->type;

      if (type == SS_MARK && ss_program_mark (p, index)->type == SS_MARK_PHASE)
        {
          at = ss_program_mark (p, index);
          if (at->step == step)
            curve.peak[at->phase] = curve.now;
        }
      else if (type == SS_ALLOCATE)
        curve.now += ss_program_storage (p, index)->bytes;
      else if (type == SS_RELEASE)
        curve.now -= ss_program_storage (p, index)->bytes;
      if (at && at->step == step)
        {
          curve.peak[at->phase] = MAX (curve.peak[at->phase], curve.now);
          curve.end[at->phase] = curve.now;
        }
    }
  return curve;
}

/* Two layers of Llama 3 8B at 1 x 2048 in bf16 with fused AdamW, in step 2, by hand: parameters
 * P 2,973,802,496; states 2 P + 21 x 4; gradients P; ids 16,384, rope buffers 2 x 256; two
 * workspaces of 32 MiB. */
Test (trace, the_second_step_of_llama_adds_up)
{
  g_autoptr (GError) error = NULL;
  SsTraceConfig c = llama3 (2, 4096, 14336, 32);
  g_autoptr (SsProgram) p = ss_trace (&c, &h100, FALSE, &error);
  const guint64 parameters = 2973802496,
                fixed = 3 * parameters + 21 * 4 + 16384 + 512 + 2 * 33554432;
  Curve curve;

  cr_assert (ne (ptr, p, NULL));
  curve = curve_of (p, 2);
  cr_assert (eq (u64, ss_program_n_parameters (p), parameters / 2));
  cr_assert (eq (u64, curve.end[SS_PHASE_ZERO_GRAD], fixed));
  cr_assert (eq (u64, curve.peak[SS_PHASE_OPTIMIZER], fixed + parameters));
}

Test (trace, an_overflow_is_an_error_that_says_where)
{
  g_autoptr (GError) error = NULL;
  SsTraceConfig c = llama3 (2, G_GINT64_CONSTANT (1) << 30, G_MAXINT32, 32);
  g_autoptr (SsProgram) p = NULL;

  c.micro_batch = 1 << 20;
  p = ss_trace (&c, &h100, FALSE, &error);
  cr_assert (eq (ptr, p, NULL));
  cr_assert (g_error_matches (error, SS_OPS_ERROR, SS_OPS_ERROR_OVERFLOW));
  cr_assert (g_strrstr (error->message, "model.") != NULL);
}

Test (trace, every_release_follows_its_allocation_once)
{
  SsTraceConfig c = llama3 (3, 1024, 2048, 8);
  g_autoptr (SsProgram) p = NULL;
  g_autofree guint8 *alive = NULL;

  c.checkpointing.policy = ss_checkpoint_policy_find ("full");
  p = ss_trace (&c, &h100, FALSE, NULL);
  alive = g_new0 (guint8, ss_program_n_storages (p));
  for (guint i = 0; i < ss_program_n_instructions (p); i++)
    {
      guint32 index = ss_program_instruction (p, i)->index;
      SsInstructionType type = (SsInstructionType) ss_program_instruction (p, i)->type;

      if (type == SS_ALLOCATE)
        {
          cr_assert (eq (int, alive[index], 0));
          alive[index] = 1;
        }
      else if (type == SS_RELEASE)
        {
          cr_assert (eq (int, alive[index], 1));
          alive[index] = 0;
        }
    }
}

static guint64
start_of_forward (gboolean holds, guint n_micro_batches, guint step, guint micro_batch)
{
  SsTraceConfig c = fixture_config ("llama", "hf-sdpa", 2, 1, 256);
  g_autoptr (SsProgram) p = NULL;

  c.holds_outputs = holds;
  c.gradient_accumulation = n_micro_batches;
  c.n_steps = 2;
  p = ss_trace (&c, &fixture_h100, FALSE, NULL);
  return fixture_phase (p, step, micro_batch, SS_PHASE_FORWARD).start_bytes;
}

/* outputs = model (...); loss = outputs.loss / 2: beside the logits, 256 x 128,256 in bf16, there
 * are two names for losses in f32, once a first micro-batch has been; undivided they are one. */
Test (trace, a_loop_that_holds_outputs_holds_two_losses)
{
  const guint64 logits = 256 * 128256 * 2;

  cr_expect (eq (u64, start_of_forward (TRUE, 2, 1, 1) - start_of_forward (FALSE, 2, 1, 1), 0));
  cr_expect (eq (u64, start_of_forward (TRUE, 2, 1, 2) - start_of_forward (FALSE, 2, 1, 2),
                 logits + 4 + 4));
  cr_expect (eq (u64, start_of_forward (TRUE, 2, 2, 1) - start_of_forward (FALSE, 2, 2, 1),
                 logits + 4 + 4));
  cr_expect (eq (u64, start_of_forward (TRUE, 1, 2, 1) - start_of_forward (FALSE, 1, 2, 1),
                 logits + 4));
}
