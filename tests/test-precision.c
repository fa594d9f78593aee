/* SPDX-License-Identifier: MIT
 *
 * The recipes of mixed precision, on a small Llama of three layers.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "trace-fixture.h"

static const SsTarget h100 = { 90, 132, 2048, 33554432, FALSE };

/* embedding, head, final norm; per layer four projections, three of the MLP, two norms */
#define N_TENSORS (3 + 3 * 9)
/* inv_freq and its original: 32 floats each */
#define BUFFER_BYTES (2 * 32 * 4)

static SsTraceConfig
config (const char *recipe, const char *optimizer, SsImplementation implementation)
{
  const FixtureSizes sizes = {
    .hidden = 256, .intermediate = 512, .vocabulary = 1000, .n_layers = 3, .n_heads = 4,
    .n_kv_heads = 2, .head_dim = 64, .n_positions = 256,
  };
  SsTraceConfig c = {
    .model = fixture_model ("llama", &sizes),
    .n_steps = 2, .micro_batch = 1, .sequence_length = 64, .gradient_accumulation = 1,
    .precision = ss_precision_find (recipe), .optimizer = ss_optimizer_find (optimizer),
    .implementation = implementation,
    .checkpointing = { .policy = ss_checkpoint_policy_find ("none"), .has_early_stop = TRUE },
    .kernels = ss_kernel_profile_find ("hf-sdpa")->kernels,
  };

  return c;
}

typedef struct
{
  guint64 now[SS_N_CATEGORIES], peak;
} Held;

static guint64
total (const Held *held)
{
  guint64 bytes = 0;

  for (guint i = 0; i < SS_N_CATEGORIES; i++)
    bytes += held->now[i];
  return bytes;
}

/* What is alive at the end of a phase of a step, and the phase's peak. */
static Held
held_at_end (const SsProgram *p, SsPhase phase, guint step)
{
  Held held = { { 0 }, 0 };
  gboolean within = FALSE;

  for (guint i = 0; i < ss_program_n_instructions (p); i++)
    {
      guint32 index = ss_program_instruction (p, i)->index;
      SsInstructionType type = (SsInstructionType) ss_program_instruction (p, i)->type;

      if (type == SS_MARK)
        {
          const SsMark *mark = ss_program_mark (p, index);

          if (within && (mark->type == SS_MARK_PHASE || mark->type == SS_MARK_END))
            return held;
          within |= mark->type == SS_MARK_PHASE && mark->phase == phase && mark->step == step;
        }
      else if (type == SS_ALLOCATE)
        held.now[ss_program_storage (p, index)->category] += ss_program_storage (p, index)->bytes;
      else if (type == SS_RELEASE)
        held.now[ss_program_storage (p, index)->category] -= ss_program_storage (p, index)->bytes;
      if (within)
        held.peak = MAX (held.peak, total (&held));
    }
  cr_assert (within, "the phase does not end");
  return held;
}

static guint
n_ops (const SsProgram *p, const char *name, SsDtype dtype)
{
  guint n = 0;

  for (guint i = 0; i < ss_program_n_ops (p); i++)
    {
      const SsOp *op = ss_program_op (p, i);

      n += g_str_equal (ss_op_name (op), name) && op->dtype == dtype;
    }
  return n;
}

/* ---- ledger, section 2: bytes per parameter ---- */

/* Bytes of one parameter in each category. */
typedef struct
{
  const char *recipe, *optimizer;
  guint weights, masters, gradients, buffers, states;
} LedgerRow;

static void
check_row (const LedgerRow *row, const SsProgram *p, guint64 counters)
{
  Held held = held_at_end (p, SS_PHASE_OPTIMIZER, 2);
  guint64 n = ss_program_n_parameters (p);
  const struct { SsCategory category; guint64 bytes; } wanted[] = {
    { SS_CATEGORY_PARAMETERS, row->weights * n + BUFFER_BYTES },
    { SS_CATEGORY_MASTER_WEIGHTS, row->masters * n },
    { SS_CATEGORY_GRADIENTS, row->gradients * n },
    { SS_CATEGORY_GRADIENT_ACCUMULATION, row->buffers * n },
    { SS_CATEGORY_OPTIMIZER_STATES, row->states * n + counters },
    { SS_CATEGORY_TEMPORARIES, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++)
    cr_assert (eq (u64, held.now[wanted[i].category], wanted[i].bytes), "%s, %s: %s", row->recipe,
               row->optimizer, ss_category_name (wanted[i].category));
}

Test (precision, a_parameter_costs_the_bytes_of_the_ledger)
{
  const LedgerRow rows[] = {
    { "fp32", "sgd", 4, 0, 4, 0, 0 },
    { "fp32", "momentum", 4, 0, 4, 0, 4 },
    { "fp32", "adam", 4, 0, 4, 0, 8 },
    { "bf16-mixed", "adam", 2, 4, 2, 0, 8 },
    { "bf16-mixed-fp32-grads", "adam", 2, 4, 2, 4, 8 },
    { "bf16", "adam", 2, 0, 2, 0, 4 },
    { "bf16-mixed", "momentum", 2, 4, 2, 0, 4 },
    { "bf16-mixed", "adagrad", 2, 4, 2, 0, 4 },
    { "bf16-mixed", "nadam", 2, 4, 2, 0, 8 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (SsImplementation k = SS_FOR_LOOP; k < SS_N_IMPLEMENTATIONS; k++)
      {
        SsTraceConfig c = config (rows[i].recipe, rows[i].optimizer, k);
        g_autoptr (SsProgram) p = NULL;

        if (c.optimizer->update[k] == NULL)
          continue;
        p = ss_trace (&c, &h100, FALSE, NULL);
        /* fused Adam counts on the device, 4 bytes a tensor */
        check_row (&rows[i], p,
                   k == SS_FUSED && g_str_equal (rows[i].optimizer, "adam") ? 4 * N_TENSORS : 0);
      }
}

/* ---- masters ---- */

/* Above what stays, a step needs: fused nothing; foreach the fp32 gradients (4 bytes a
 * parameter) and the roots (4); with fp32 buffers the roots alone; a for-loop, at the head, the
 * last and with the embedding the largest: its fp32 gradient, root and quotient, and the
 * quotient of the norm before. */
Test (precision, masters_are_updated_with_the_temporaries_of_the_implementation)
{
  const guint64 head = 1000 * 256, norm = 256;
  const struct
  {
    const char *recipe;
    SsImplementation implementation;
    guint64 per_parameter, bytes;
  } rows[] = {
    { "bf16-mixed", SS_FUSED, 0, 0 },
    { "bf16-mixed", SS_FOREACH, 8, 0 },
    { "bf16-mixed", SS_FOR_LOOP, 0, 4 * (3 * head + norm) },
    { "bf16-mixed-fp32-grads", SS_FUSED, 0, 0 },
    { "bf16-mixed-fp32-grads", SS_FOREACH, 4, 0 },
    { "bf16-mixed-fp32-grads", SS_FOR_LOOP, 0, 4 * (2 * head + norm) },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      SsTraceConfig c = config (rows[i].recipe, "adamw", rows[i].implementation);
      g_autoptr (SsProgram) p = ss_trace (&c, &h100, FALSE, NULL);
      Held held = held_at_end (p, SS_PHASE_OPTIMIZER, 2);
      guint64 wanted = rows[i].per_parameter * ss_program_n_parameters (p) + rows[i].bytes;

      cr_assert (eq (u64, held.peak - total (&held), wanted), "row %u", i);
    }
}

/* kernel-time, section 5: 28 bytes a parameter fused: master and moments in and out, the bf16
 * gradient in, the bf16 copy out; and the step counters. */
Test (precision, a_fused_step_writes_both_copies)
{
  SsTraceConfig c = config ("bf16-mixed", "adamw", SS_FUSED);
  g_autoptr (SsProgram) p = ss_trace (&c, &h100, FALSE, NULL);
  const SsOp *op = ss_program_op (p, ss_program_n_ops (p) - 1);

  cr_assert (eq (str, (char *) ss_op_name (op), "aten::_fused_adamw_"));
  cr_assert (eq (u64, op->bytes, 28 * ss_program_n_parameters (p) + 4 * N_TENSORS));
}

/* Every micro-batch's gradient is added to its fp32 buffer when it arrives, and to .grad from
 * the second on. */
Test (precision, gradients_are_added_to_fp32_buffers_as_they_arrive)
{
  SsTraceConfig c = config ("bf16-mixed-fp32-grads", "adamw", SS_FUSED);
  g_autoptr (SsProgram) one = NULL, three = NULL;

  c.n_steps = 1;
  one = ss_trace (&c, &h100, TRUE, NULL);
  c.gradient_accumulation = 3;
  three = ss_trace (&c, &h100, TRUE, NULL);
  cr_assert (eq (u32, n_ops (one, "aten::add_", SS_F32), n_ops (three, "aten::add_", SS_F32) / 3));
  cr_assert (ge (u32, n_ops (one, "aten::add_", SS_F32), N_TENSORS));
  /* buffers are zeroed by one call, gradients dropped */
  cr_assert (eq (u32, n_ops (three, "aten::_foreach_zero_", SS_F32), 1));
  cr_assert (eq (u64, held_at_end (three, SS_PHASE_ZERO_GRAD, 1).now[SS_CATEGORY_GRADIENTS], 0));
}

/* ---- resume, zero-grad ---- */

/* States are there before the first step, so that it is as high as the second. */
Test (precision, a_resumed_run_has_its_states_from_the_start)
{
  for (const SsOptimizer *const *o = ss_optimizers (); *o; o++)
    {
      SsTraceConfig c = config ("bf16-mixed", (*o)->name,
                                (*o)->update[SS_FOREACH] != NULL ? SS_FOREACH : (*o)->by_default);
      g_autoptr (SsProgram) p = NULL;
      Held load, first, second;

      c.has_resume = TRUE;
      p = ss_trace (&c, &h100, FALSE, NULL);
      load = held_at_end (p, SS_PHASE_LOAD, 0);
      first = held_at_end (p, SS_PHASE_OPTIMIZER, 1);
      second = held_at_end (p, SS_PHASE_OPTIMIZER, 2);
      cr_assert (eq (u64, load.now[SS_CATEGORY_OPTIMIZER_STATES],
                     second.now[SS_CATEGORY_OPTIMIZER_STATES]),
                 "%s", (*o)->name);
      cr_assert (eq (u64, first.peak, second.peak), "%s", (*o)->name);
    }
}

/* zero-grad="zero": gradients stay, so that step 2's forward stands on them too */
Test (precision, gradients_zeroed_in_place_stay)
{
  SsTraceConfig c = config ("bf16", "adamw", SS_FUSED);
  g_autoptr (SsProgram) p = NULL;

  c.zeroes_in_place = TRUE;
  p = ss_trace (&c, &h100, FALSE, NULL);
  cr_assert (eq (u64, held_at_end (p, SS_PHASE_ZERO_GRAD, 1).now[SS_CATEGORY_GRADIENTS],
                 2 * ss_program_n_parameters (p)));
  /* one call a step */
  cr_assert (eq (u32, n_ops (p, "aten::_foreach_zero_", SS_BF16), 2));
}

/* ---- fp16 autocast ---- */

/* Two scalars for ever beside the moments; no trace of the rest once the step is over. */
Test (precision, a_grad_scaler_keeps_two_scalars)
{
  for (SsImplementation k = SS_FOR_LOOP; k <= SS_FUSED; k++)
    {
      SsTraceConfig c = config ("fp16-amp", "sgd", k);
      g_autoptr (SsProgram) p = NULL;
      Held held;

      c.has_clip = TRUE;
      p = ss_trace (&c, &h100, FALSE, NULL);
      held = held_at_end (p, SS_PHASE_OPTIMIZER, 2);
      cr_assert (eq (u64, held.now[SS_CATEGORY_OPTIMIZER_STATES], 8));
      cr_assert (eq (u64, held.now[SS_CATEGORY_TEMPORARIES], 0));
      cr_assert (eq (u64, held.now[SS_CATEGORY_LOGITS], 0));
    }
}

/* No op of the optimizer is the model's mathematics, Adafactor's products least of all. */
Test (precision, an_update_has_no_model_flops)
{
  SsTraceConfig c = config ("bf16", "adafactor", SS_FOR_LOOP);
  g_autoptr (SsProgram) p = ss_trace (&c, &h100, FALSE, NULL);
  guint n_products = 0;

  for (guint i = 0; i < ss_program_n_ops (p); i++)
    {
      const SsOp *op = ss_program_op (p, i);

      if (!op->is_optimizer)
        continue;
      n_products += op->op_class == SS_OP_MATMUL;
      cr_assert (eq (u64, op->model_flops, 0));
    }
  /* all tensors but the seven norms, in two steps */
  cr_assert (eq (u32, n_products, 2 * (N_TENSORS - 7)));
}
