/* SPDX-License-Identifier: MIT
 *
 * policy="selective" on the trace: what each part gives back and costs, against the table of one
 * Llama 3 8B block and the papers.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "checkpoint-fixture.h"
#include "trace-fixture.h"

#define MIB ((guint64) 1 << 20)

static const SsKeptOps *
kept_ops (const char *name)
{
  const SsKeptOps *const *ops = ss_kept_ops ();

  while (*ops && !g_str_equal ((*ops)->name, name))
    ops++;
  cr_assert (ops[0] != NULL, "%s", name);
  return *ops;
}

static SsTraceConfig
selective (SsTraceConfig c, guint drop, const char *keep)
{
  c.checkpointing.policy = ss_checkpoint_policy_find ("selective");
  c.checkpointing.drop = drop;
  c.checkpointing.keep = keep ? kept_ops (keep) : NULL;
  return c;
}

/* What one layer more keeps. */
static guint64
kept_by_a_layer (SsTraceConfig c)
{
  guint64 bytes;

  c.model.n_layers = 2;
  bytes = ckpt_saved_bytes (&c);
  c.model.n_layers = 1;
  return bytes - ckpt_saved_bytes (&c);
}

/* Llama 3 8B, 1 x 8192, the papers' kernels */
static SsTraceConfig
llama3_8b (void)
{
  SsTraceConfig c = fixture_config ("llama", "paper", 2, 1, 8192);

  c.optimizer = ss_optimizer_find ("sgd");
  return c;
}

/* ---- bytes ---- */

/* A row of 64 MiB is T h in bf16.  The down projection's result is kept though nobody needs it:
 * 64 MiB beyond what the products' readers want. */
Test (checkpoint_parts, what_a_llama_layer_keeps_is_the_table)
{
  const struct
  {
    guint drop;
    const char *keep;
    guint mib;
  } rows[] = {
    /* o is saved by the output projection too: the core alone gives nothing back */
    { SS_DROP_ATTENTION, NULL, 1312 },
    { SS_DROP_NORMS, NULL, 1312 - 2 * 64 },
    { SS_DROP_ACTIVATIONS, NULL, 1312 - 2 * 224 },
    { SS_DROP_NORMS | SS_DROP_ACTIVATIONS, NULL, 736 },
    { SS_DROP_ATTENTION | SS_DROP_NORMS | SS_DROP_ACTIVATIONS, NULL, 736 },
    { SS_DROP_MLP, NULL, 1312 - 4 * 224 },
    { SS_DROP_MLP | SS_DROP_NORMS, NULL, 416 - 2 * 64 },
    { 0, "matmul", 672 + 64 },
    { 0, "attention", 2 * 64 },
  };
  SsTraceConfig none = llama3_8b ();

  cr_assert (eq (u64, kept_by_a_layer (none), 1312 * MIB));
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    cr_assert (eq (u64, kept_by_a_layer (selective (none, rows[i].drop, rows[i].keep)),
                   rows[i].mib * MIB),
               "row %u", i);
}

/* Korthikanti et al. 2022, section 5: GPT-3 has 5 a s / h = 80, MT-NLG 64, beside 34: recomputing
 * the core saves 70 % and 65 % of a layer. */
Test (checkpoint_parts, the_core_saves_the_published_share)
{
  const struct
  {
    gint64 hidden, heads;
    guint percent;
  } rows[] = { { 12288, 96, 70 }, { 20480, 128, 65 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const FixtureSizes sizes = {
        .hidden = rows[i].hidden, .intermediate = 4 * rows[i].hidden, .vocabulary = 1000,
        .n_layers = 2, .n_heads = rows[i].heads, .n_positions = 2048, .dropout = 0.1,
      };
      SsTraceConfig c = ckpt_config ("gpt2", 2, "paper-eager", "none");
      guint64 sbh = 2048 * (guint64) rows[i].hidden;
      guint64 scores = 5 * (guint64) rows[i].heads * 2048 * 2048, part;

      c.model = fixture_model ("gpt2", &sizes);
      c.sequence_length = 2048;
      c.micro_batch = 1;
      cr_assert (eq (u64, kept_by_a_layer (c), 34 * sbh + scores));
      part = kept_by_a_layer (selective (c, SS_DROP_ATTENTION, NULL));
      cr_assert (eq (u64, part, 34 * sbh));
      cr_assert (eq (u64, (100 * scores + (34 * sbh + scores) / 2) / (34 * sbh + scores),
                     rows[i].percent));
    }
}

/* Norms by Hugging Face, per token: the f32 copy (4 h) that pow and mul save, the reciprocal
 * root (4), the rounded product (2 h) and the output (2 h) go, and nothing instead is kept but
 * the input: the first norm's is the layer's, the second's is the residual sum, which nobody
 * else saves. */
Test (checkpoint_parts, norms_go_with_all_that_is_within_them)
{
  SsTraceConfig none = ckpt_config ("llama", 2, "paper-flash", "none");
  const guint64 h = CKPT_H, t = CKPT_T;

  fixture_choose (&none, "norm", "hf");
  cr_assert (eq (u64, kept_by_a_layer (none)
                        - kept_by_a_layer (selective (none, SS_DROP_NORMS, NULL)),
                 2 * t * (4 * h + 4 + 2 * h + 2 * h) - 2 * t * 2 * h));
}

/* ---- flops ---- */

Test (checkpoint_parts, what_is_repeated_is_the_table)
{
  const guint64 layers = 3, all = CKPT_MATRICES, core = CKPT_CORE, down = CKPT_DOWN;
  const struct
  {
    guint drop;
    const char *keep;
    guint64 matmul, early_matmul, attention;
  } rows[] = {
    { SS_DROP_ATTENTION, NULL, 0, 0, core },
    { SS_DROP_NORMS, NULL, 0, 0, 0 },
    { SS_DROP_ACTIVATIONS, NULL, 0, 0, 0 },
    { SS_DROP_MLP, NULL, 3 * down, 2 * down, 0 },
    { 0, "matmul", 0, 0, core },
    { 0, "attention", all, all - down, 0 },
  };
  SsTraceConfig none = ckpt_config ("llama", (gint64) layers, "paper-flash", "none");
  guint64 model = ckpt_flops (&none).model;

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint early = 0; early < 2; early++)
      {
        SsTraceConfig c = selective (none, rows[i].drop, rows[i].keep);
        CkptFlops flops;

        c.checkpointing.has_early_stop = early;
        flops = ckpt_flops (&c);
        cr_assert (eq (u64, flops.matmul,
                       layers * (early ? rows[i].early_matmul : rows[i].matmul)),
                   "row %u", i);
        cr_assert (eq (u64, flops.attention, layers * rows[i].attention), "row %u", i);
        cr_assert (eq (u64, flops.model, model), "row %u", i);
      }
}

/* Korthikanti et al. 2022, appendix A: Q K^T and the product with V, 4 b s^2 h a layer (eq. 8 says
 * more); early stop leaves the second one out. */
Test (checkpoint_parts, the_unfused_core_repeats_two_products)
{
  const guint64 b = CKPT_B, s = CKPT_S, h = CKPT_H, layers = 3;
  SsTraceConfig c = ckpt_config ("gpt2", (gint64) layers, "paper-eager", "none");

  c = selective (c, SS_DROP_ATTENTION, NULL);
  fixture_set_dropout (&c, 0.1);
  cr_assert (eq (u64, ckpt_flops (&c).matmul, layers * 2 * b * s * s * h));
  c.checkpointing.has_early_stop = FALSE;
  cr_assert (eq (u64, ckpt_flops (&c).matmul, layers * 4 * b * s * s * h));
  c.checkpointing.is_reentrant = c.checkpointing.has_early_stop = TRUE;
  cr_assert (eq (u64, ckpt_flops (&c).matmul, layers * 4 * b * s * s * h));
}

/* ---- kernels ---- */

static guint
n_recomputed (const SsTraceConfig *c, const char *name)
{
  g_autoptr (SsProgram) p = ckpt_trace (c);
  guint n = 0;

  for (guint32 i = 0; i < ss_program_n_ops (p); i++)
    n += ss_program_op (p, i)->is_recompute
         && (!name || g_str_equal (ss_op_name (ss_program_op (p, i)), name));
  return n;
}

/* Two norms of each of two layers, and one activation of two kernels, each made again and copied
 * into its old place; nothing else is repeated. */
Test (checkpoint_parts, discarded_outputs_are_made_again_and_copied)
{
  SsTraceConfig none = ckpt_config ("llama", 2, "paper-flash", "none");
  SsTraceConfig norms = selective (none, SS_DROP_NORMS, NULL);
  SsTraceConfig activations = selective (none, SS_DROP_ACTIVATIONS, NULL);

  cr_assert (eq (u32, n_recomputed (&norms, "paper::norm"), 4));
  cr_assert (eq (u32, n_recomputed (&norms, "aten::copy_"), 4));
  cr_assert (eq (u32, n_recomputed (&norms, NULL), 8));
  cr_assert (eq (u32, n_recomputed (&activations, "aten::silu"), 2));
  cr_assert (eq (u32, n_recomputed (&activations, "aten::mul"), 2));
  cr_assert (eq (u32, n_recomputed (&activations, "aten::copy_"), 2));
  cr_assert (eq (u32, n_recomputed (&activations, NULL), 6));
}

/* Whatever the types and kernels, no product is repeated, LoRA's own included. */
Test (checkpoint_parts, kept_products_do_not_run_again)
{
  char *targets[] = { "q", "down", NULL };
  SsTraceConfig c = ckpt_config ("llama", 2, "sdpa", "none");

  c.kernels = ss_kernel_profile_find ("hf-sdpa")->kernels;
  c = selective (c, 0, "matmul");
  cr_assert (eq (u64, ckpt_flops (&c).matmul, 0));
  cr_assert (gt (u64, ckpt_flops (&c).attention, 0));
  c.precision = ss_precision_find ("bf16-amp");
  cr_assert (eq (u64, ckpt_flops (&c).matmul, 0));
  c.adapter = (SsAdapter) { "lora", 4, targets, FALSE };
  cr_assert (eq (u64, ckpt_flops (&c).matmul, 0));
  c.checkpointing.keep = kept_ops ("attention");
  cr_assert (eq (u64, ckpt_flops (&c).attention, 0));
  cr_assert (gt (u64, ckpt_flops (&c).matmul, 0));
}

/* ---- with everything else ---- */

static void
assert_ends_as_none (SsTraceConfig c, const char *what)
{
  SsTraceConfig none = c;
  g_autoptr (SsProgram) p = ckpt_trace (&c), plain = NULL;

  none.checkpointing = (SsCheckpointing) { .policy = ss_checkpoint_policy_find ("none") };
  plain = ckpt_trace (&none);
  ckpt_assert_sound (p, (guint) c.model.n_layers, c.n_steps * c.gradient_accumulation);
  cr_assert (eq (u64, fixture_phase (p, 2, 0, SS_PHASE_ZERO_GRAD).end_bytes,
                 fixture_phase (plain, 2, 0, SS_PHASE_ZERO_GRAD).end_bytes),
             "%s, %s", c.model.model_type, what);
}

static void
assert_ends_with_all_kernels (SsTraceConfig c)
{
  static const char *const profiles[] = { "paper", "hf-sdpa", "hf-eager", "liger" };

  for (guint i = 0; i < G_N_ELEMENTS (profiles); i++)
    {
      c.kernels = ss_kernel_profile_find (profiles[i])->kernels;
      for (guint reentrant = 0; reentrant <= (c.checkpointing.keep ? 0 : 1); reentrant++)
        {
          c.checkpointing.is_reentrant = reentrant;
          c.precision = ss_precision_find ("bf16");
          assert_ends_as_none (c, profiles[i]);
          c.precision = ss_precision_find ("fp16-amp");
          assert_ends_as_none (c, profiles[i]);
        }
    }
}

Test (checkpoint_parts, every_step_ends_with_the_bytes_of_none)
{
  static const char *const types[] = { "llama", "qwen3", "gpt2" };
  const guint drops[] = {
    SS_DROP_ATTENTION, SS_DROP_NORMS | SS_DROP_ACTIVATIONS, SS_DROP_ATTENTION | SS_DROP_MLP,
  };
  char *of_llama[] = { "q", "v", "down", NULL }, *of_gpt2[] = { "c_attn", "c_proj", NULL };

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    {
      SsTraceConfig c = ckpt_config (types[i], 2, "sdpa", "none");

      fixture_set_dropout (&c, i == 2 ? 0.1 : 0);
      c.n_steps = c.gradient_accumulation = 2;
      for (guint adapted = 0; adapted <= 1; adapted++)
        {
          if (adapted)
            c.adapter = (SsAdapter) { "lora", 4, i == 2 ? of_gpt2 : of_llama, FALSE };
          for (guint k = 0; k < G_N_ELEMENTS (drops); k++)
            assert_ends_with_all_kernels (selective (c, drops[k], NULL));
          assert_ends_with_all_kernels (selective (c, 0, "matmul"));
          assert_ends_with_all_kernels (selective (c, 0, "attention"));
        }
    }
}

/* ---- a request that fails ---- */

/* Wherever it happens, what an exception releases was alive, and names keep what they hold. */
static void
assert_unwinds (const SsTraceConfig *c)
{
  g_autoptr (SsProgram) p = ckpt_trace (c);

  for (guint32 id = 1; id < ss_program_n_storages (p); id += 41)
    {
      g_autoptr (GArray) gone = ss_trace_unwound (c, &fixture_h100, id);

      for (guint i = 0; i < gone->len; i++)
        cr_assert (lt (u32, g_array_index (gone, guint32, i), id));
    }
}

Test (checkpoint_parts, an_exception_may_come_anywhere)
{
  SsTraceConfig c = ckpt_config ("llama", 4, "paper-flash", "nested");

  c.checkpointing.levels[0] = 2;
  c.checkpointing.levels[1] = 1;
  c.checkpointing.n_levels = 2;
  assert_unwinds (&c);
  c.checkpointing.is_reentrant = TRUE;
  assert_unwinds (&c);
  c.checkpointing.is_reentrant = FALSE;
  c = selective (c, SS_DROP_NORMS | SS_DROP_ACTIVATIONS | SS_DROP_ATTENTION, NULL);
  assert_unwinds (&c);
  c = selective (c, 0, "matmul");
  assert_unwinds (&c);
}
