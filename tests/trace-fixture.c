/* SPDX-License-Identifier: MIT */
#include "trace-fixture.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "scenarios/model-config.h"

const SsTarget fixture_h100 = { 90, 132, 2048, 33554432, FALSE };

/* ---- models ---- */

static void
take_number (GHashTable *values, const char *name, double number)
{
  SsConfigValue *value = g_new0 (SsConfigValue, 1);

  if (number <= 0)
    {
      g_free (value);
      return;
    }
  value->kind = SS_CONFIG_NUMBER;
  value->number = number;
  value->text = g_strdup_printf ("%g", number);
  g_hash_table_replace (values, g_strdup (name), value);
}

static void
take_sizes (GHashTable *values, const FixtureSizes *x)
{
  const struct { const char *llama, *gpt2; double number; } sizes[] = {
    { "hidden_size", "n_embd", (double) x->hidden },
    { "intermediate_size", "n_inner", (double) x->intermediate },
    { "vocab_size", "vocab_size", (double) x->vocabulary },
    { "num_hidden_layers", "n_layer", (double) x->n_layers },
    { "num_attention_heads", "n_head", (double) x->n_heads },
    { "num_key_value_heads", "num_key_value_heads", (double) x->n_kv_heads },
    { "head_dim", "head_dim", (double) x->head_dim },
    { "max_position_embeddings", "n_positions", (double) x->n_positions },
  };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      take_number (values, sizes[i].llama, sizes[i].number);
      take_number (values, sizes[i].gpt2, sizes[i].number);
    }
}

SsModelConfig
fixture_model (const char *model_type, const FixtureSizes *x)
{
  g_autoptr (GHashTable) values = ss_config_values_new ();
  g_autoptr (SsProblems) problems = ss_problems_new ();
  g_autoptr (GError) error = NULL;
  SsConfigValue *tied = g_new0 (SsConfigValue, 1), *activation = g_new0 (SsConfigValue, 1);
  SsTraceConfig c = { 0 };

  take_sizes (values, x);
  tied->kind = SS_CONFIG_FLAG;
  tied->flag = x->is_tied;
  g_hash_table_replace (values, g_strdup ("tie_word_embeddings"), tied);
  activation->kind = SS_CONFIG_TEXT;
  activation->text = g_strdup (x->activation ? x->activation : "gelu_new");
  g_hash_table_replace (values, g_strdup ("activation_function"), activation);
  ss_model_config_resolve (&c.model, model_type, values, "fixture", 0, '_', problems);
  ss_problems_settle (problems, &error);
  cr_assert (error == NULL, "%s", error->message);
  fixture_set_dropout (&c, x->dropout);
  return c.model;
}

void
fixture_set_dropout (SsTraceConfig *c, double probability)
{
  const SsModelType *type = ss_model_type_find (c->model.model_type, NULL);

  for (guint i = 0; i < type->n_fields; i++)
    if (type->fields[i].type == SS_FIELD_PROBABILITY)
      *(double *) ((char *) &c->model + type->fields[i].offset) = probability;
}

double
fixture_dropout (const SsModelConfig *model)
{
  const SsModelType *type = ss_model_type_find (model->model_type, NULL);
  double sum = 0;

  for (guint i = 0; i < type->n_fields; i++)
    if (type->fields[i].type == SS_FIELD_PROBABILITY)
      sum += *(const double *) ((const char *) model + type->fields[i].offset);
  return sum;
}

SsLlamaConfig *
fixture_llama (SsTraceConfig *c)
{
  return (SsLlamaConfig *) c->model.own;
}

SsTraceConfig
fixture_config (const char *model_type, const char *profile, gint64 n_layers, gint64 micro_batch,
                gint64 sequence_length)
{
  gboolean is_qwen = g_str_equal (model_type, "qwen3");
  FixtureSizes sizes = {
    .hidden = is_qwen ? 1024 : 4096, .intermediate = is_qwen ? 3072 : 14336,
    .vocabulary = is_qwen ? 151936 : 128256, .n_layers = n_layers, .n_heads = is_qwen ? 16 : 32,
    .n_kv_heads = 8, .head_dim = 128, .n_positions = 8192, .is_tied = is_qwen,
  };
  SsTraceConfig c = {
    .model = fixture_model (model_type, &sizes),
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
  SsInstructionType type = (SsInstructionType) ss_program_instruction (p, i)->type;

  *index = ss_program_instruction (p, i)->index;
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
