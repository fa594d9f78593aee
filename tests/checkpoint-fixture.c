/* SPDX-License-Identifier: MIT */
#include "checkpoint-fixture.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "trace-fixture.h"

static const SsTarget h100 = { 90, 132, 2048, 33554432, FALSE };

SsTraceConfig
ckpt_config (const char *model_type, gint64 n_layers, const char *attention, const char *policy)
{
  const FixtureSizes sizes = {
    .hidden = CKPT_H, .intermediate = CKPT_F, .vocabulary = 1000, .n_layers = n_layers,
    .n_heads = CKPT_HEADS, .n_kv_heads = CKPT_KV / CKPT_HEAD_DIM, .head_dim = CKPT_HEAD_DIM,
    .n_positions = 1024,
  };
  SsTraceConfig c = {
    .model = fixture_model (model_type, &sizes),
    .n_steps = 1, .micro_batch = CKPT_B, .sequence_length = CKPT_S, .gradient_accumulation = 1,
    .precision = ss_precision_find ("bf16"), .optimizer = ss_optimizer_find ("sgd"),
    .implementation = SS_FUSED,
    .checkpointing = { .policy = ss_checkpoint_policy_find (policy), .has_early_stop = TRUE,
                       .skips_last_inner_forward = TRUE },
    .kernels = ss_kernel_profile_find ("paper")->kernels,
  };
  char *problem = NULL;

  cr_assert (c.checkpointing.policy != NULL, "%s", policy);
  cr_assert (ss_kernels_set (&c.kernels, "attention", attention, &problem));
  return c;
}

SsProgram *
ckpt_trace (const SsTraceConfig *c)
{
  g_autoptr (GError) error = NULL;
  SsProgram *p = ss_trace (c, &h100, FALSE, &error);

  cr_assert (p != NULL, "%s", error ? error->message : "");
  return p;
}

guint64
ckpt_saved_bytes (const SsTraceConfig *c)
{
  g_autoptr (SsProgram) p = ckpt_trace (c);
  guint32 i = 0;

  while (i < ss_program_n_marks (p) && ss_program_mark (p, i)->type != SS_MARK_SAVED)
    i++;
  cr_assert (lt (u32, i, ss_program_n_marks (p)));
  return ss_program_mark (p, i)->bytes;
}

char *
ckpt_dump (const SsTraceConfig *c)
{
  g_autoptr (SsProgram) p = ckpt_trace (c);
  GString *text = g_string_new (NULL);

  ss_program_dump (p, text);
  return g_string_free (text, FALSE);
}

CkptFlops
ckpt_flops (const SsTraceConfig *c)
{
  g_autoptr (SsProgram) p = ckpt_trace (c);
  CkptFlops flops = { 0, 0, 0 };

  for (guint32 i = 0; i < ss_program_n_ops (p); i++)
    {
      const SsOp *op = ss_program_op (p, i);

      flops.model += op->model_flops;
      if (op->is_recompute && op->op_class == SS_OP_MATMUL)
        flops.matmul += op->flops;
      if (op->is_recompute && op->op_class == SS_OP_ATTENTION)
        flops.attention += op->flops;
    }
  return flops;
}

static void
assert_storages_sound (const SsProgram *p)
{
  g_autofree guint8 *alive = g_new0 (guint8, ss_program_n_storages (p));

  for (guint i = 0; i < ss_program_n_instructions (p); i++)
    {
      guint32 index = ss_program_instruction (p, i)->index;
      SsInstructionType type = (SsInstructionType) ss_program_instruction (p, i)->type;

      if (type != SS_ALLOCATE && type != SS_RELEASE)
        continue;
      cr_assert (eq (int, alive[index], type == SS_ALLOCATE ? 0 : 1), "storage %u", index);
      alive[index] = type == SS_ALLOCATE ? 1 : 2;
    }
}

void
ckpt_assert_sound (const SsProgram *p, guint n_layers, guint n_micro_batches)
{
  g_autofree guint *ends = g_new0 (guint, n_layers), *begins = g_new0 (guint, n_layers);

  assert_storages_sound (p);
  for (guint32 i = 0; i < ss_program_n_marks (p); i++)
    {
      const SsMark *m = ss_program_mark (p, i);

      if (m->type == SS_MARK_FORWARD_END)
        ends[m->layer]++;
      else if (m->type == SS_MARK_BACKWARD_BEGIN)
        begins[m->layer]++;
    }
  for (guint i = 0; i < n_layers; i++)
    {
      cr_assert (eq (u32, ends[i], n_micro_batches), "forward_end of layer %u", i);
      cr_assert (eq (u32, begins[i], n_micro_batches), "backward_begin of layer %u", i);
    }
}
