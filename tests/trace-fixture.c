/* SPDX-License-Identifier: MIT */
#include "trace-fixture.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

const SsTarget fixture_h100 = { 90, 132, 2048, 33554432, FALSE };

SsTraceConfig
fixture_config (const char *model_type, const char *profile, gint64 n_layers, gint64 micro_batch,
                gint64 sequence_length)
{
  const SsModelFamily *family;
  const SsModelType *type = ss_model_type_find (model_type, &family);
  gboolean is_qwen = g_str_equal (model_type, "qwen3");
  SsTraceConfig c = {
    .model = { .family = family,
               .model_type = model_type,
               .hidden_size = is_qwen ? 1024 : 4096,
               .intermediate_size = is_qwen ? 3072 : 14336,
               .vocab_size = is_qwen ? 151936 : 128256,
               .n_layers = n_layers,
               .n_heads = is_qwen ? 16 : 32,
               .n_kv_heads = 8,
               .head_dim = 128,
               .max_position_embeddings = 8192,
               .tie_word_embeddings = is_qwen },
    .n_steps = 1,
    .micro_batch = micro_batch,
    .sequence_length = sequence_length,
    .gradient_accumulation = 1,
    .precision = ss_precision_find ("bf16"),
    .optimizer = ss_optimizer_find ("adamw"),
    .implementation = SS_FUSED,
    .checkpointing = { .policy = ss_checkpoint_policy_find ("none"), .has_early_stop = TRUE },
    .kernels = ss_kernel_profile_find (profile)->kernels,
  };
  char *problem = NULL;

  cr_assert (type->finish (&c.model, &problem));
  return c;
}

void
fixture_choose (SsTraceConfig *c, const char *choice, const char *word)
{
  char *known = NULL;

  cr_assert (ss_kernels_set (&c->kernels, choice, word, &known));
}

/* ---- walking a program ---- */

typedef struct
{
  guint step, micro_batch;
  SsPhase phase;
  gboolean is_inside;
} Place;

/* Where instruction i is; marks of phases move the place. */
static SsInstructionType
visit (const SsProgram *p, guint i, Place *place, guint32 *index)
{
  SsInstructionType type = ss_program_instruction (p, i, index);

  if (type == SS_MARK)
    {
      const SsMark *m = ss_program_mark (p, *index);

      if (m->type == SS_MARK_PHASE)
        place->is_inside = m->step == place->step && m->micro_batch == place->micro_batch
                           && m->phase == place->phase;
      else if (m->type == SS_MARK_END)
        place->is_inside = FALSE;
    }
  return type;
}

FixturePhase
fixture_phase (const SsProgram *p, guint step, guint micro_batch, SsPhase phase)
{
  Place place = { step, micro_batch, phase, FALSE };
  FixturePhase f = { 0, 0, 0 };
  guint64 bytes = 0;

  for (guint i = 0; i < ss_program_n_instructions (p); i++)
    {
      guint32 index;
      gboolean was_inside = place.is_inside;
      SsInstructionType type = visit (p, i, &place, &index);

      if (type == SS_ALLOCATE)
        bytes += ss_program_storage (p, index)->bytes;
      else if (type == SS_RELEASE)
        bytes -= ss_program_storage (p, index)->bytes;
      if (place.is_inside && !was_inside)
        f.start_bytes = bytes;
      if (place.is_inside)
        {
          f.peak_bytes = MAX (f.peak_bytes, bytes);
          f.end_bytes = bytes;
        }
    }
  return f;
}

guint
fixture_count (const SsProgram *p, guint step, guint micro_batch, SsPhase phase, guint64 bytes)
{
  Place place = { step, micro_batch, phase, FALSE };
  guint n = 0;

  for (guint i = 0; i < ss_program_n_instructions (p); i++)
    {
      guint32 index;

      if (visit (p, i, &place, &index) == SS_ALLOCATE && place.is_inside)
        n += ss_program_storage (p, index)->bytes == bytes;
    }
  return n;
}

guint
fixture_runs (const SsProgram *p, guint step, guint micro_batch, SsPhase phase, const char *name,
              guint64 *flops)
{
  Place place = { step, micro_batch, phase, FALSE };
  guint n = 0;

  *flops = 0;
  for (guint i = 0; i < ss_program_n_instructions (p); i++)
    {
      guint32 index;
      const SsOp *op;

      if (visit (p, i, &place, &index) != SS_RUN || !place.is_inside)
        continue;
      op = ss_program_op (p, index);
      if (name ? !g_str_equal (ss_op_name (op), name) : op->op_class != SS_OP_MATMUL)
        continue;
      n++;
      *flops += op->flops;
    }
  return n;
}
