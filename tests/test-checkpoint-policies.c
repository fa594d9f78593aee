/* SPDX-License-Identifier: MIT
 *
 * Policies of whole layers on the trace: which segments, what they keep, what they repeat.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "checkpoint-fixture.h"
#include "trace-fixture.h"

enum
{
  L = 10
};

#define RANGES(...)                                                                                \
  (const SsLayerRange[]) { __VA_ARGS__ },                                                          \
    sizeof ((const SsLayerRange[]) { __VA_ARGS__ }) / sizeof (SsLayerRange)

static SsTraceConfig
config (const char *policy)
{
  return ckpt_config ("llama", L, "paper-flash", policy);
}

static SsTraceConfig
every (guint k, gboolean keeps_last)
{
  SsTraceConfig c = config ("every");

  c.checkpointing.every = k;
  c.checkpointing.keeps_last = keeps_last;
  return c;
}

static SsTraceConfig
sequential (guint n)
{
  SsTraceConfig c = config ("sequential");

  c.checkpointing.n_segments = n;
  return c;
}

static SsTraceConfig
block (guint n, gboolean is_last)
{
  SsTraceConfig c = config ("block");

  c.checkpointing.n_block_layers = n;
  c.checkpointing.is_block_last = is_last;
  return c;
}

static SsTraceConfig
nested (guint outer, guint inner)
{
  SsTraceConfig c = config ("nested");

  c.checkpointing.levels[0] = outer;
  c.checkpointing.levels[1] = inner;
  c.checkpointing.n_levels = 2;
  return c;
}

static SsTraceConfig
custom (const SsLayerRange *ranges, guint n)
{
  SsTraceConfig c = config ("custom");

  c.checkpointing.ranges = ranges;
  c.checkpointing.n_ranges = n;
  return c;
}

/* ---- which segments ---- */

/* "[0-3] 4-9": checkpointed ones in brackets, those within them after a colon. */
static char *
plan_text (const SsTraceConfig *c, guint n_layers)
{
  g_autoptr (GArray) plan = ss_checkpointing_plan (&c->checkpointing, n_layers);
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < plan->len; i++)
    {
      const SsLayerRange *r = &g_array_index (plan, SsLayerRange, i);

      g_string_append_printf (text, r->is_checkpointed ? "%s[%u-%u]" : "%s%u-%u",
                              i == 0         ? ""
                              : r->depth > 0 ? ":"
                                             : " ",
                              r->first, r->last);
    }
  return g_string_free (text, FALSE);
}

Test (checkpoint_policies, plans_are_those_of_the_definitions)
{
  const struct
  {
    SsTraceConfig c;
    guint n_layers;
    const char *plan;
  } rows[] = {
    { config ("none"), 4, "0-3" },
    { config ("full"), 3, "[0-0] [1-1] [2-2]" },
    { every (4, FALSE), 10, "[0-3] [4-7] [8-9]" },
    { every (4, TRUE), 10, "[0-3] [4-7] 8-9" },
    { every (40, FALSE), 10, "[0-9]" },
    /* q = floor (10 / 4) = 2: three segments of 2, the last has 10 - 6 */
    { sequential (4), 10, "[0-1] [2-3] [4-5] 6-9" },
    { sequential (1), 10, "0-9" },
    { block (2, FALSE), 4, "[0-0] [1-1] 2-3" },
    { block (2, TRUE), 4, "0-1 [2-2] [3-3]" },
    { block (0, FALSE), 4, "0-3" },
    { block (4, TRUE), 4, "[0-0] [1-1] [2-2] [3-3]" },
    { nested (4, 2), 10, "[0-3]:[0-1]:[2-3] [4-7]:[4-5]:[6-7] [8-9]:[8-9]" },
    { custom (RANGES ({ 1, 2, TRUE, 0 }, { 5, 7, FALSE, 0 }, { 8, 8, TRUE, 0 })), 10,
      "0-0 [1-2] 3-4 5-7 [8-8] 9-9" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *plan = plan_text (&rows[i].c, rows[i].n_layers);

      cr_assert (eq (str, plan, (char *) rows[i].plan), "row %u", i);
    }
}

/* round (sqrt (L)): sqrt (6) = 2.45, sqrt (7) = 2.65, sqrt (32) = 5.66, sqrt (80) = 8.94, 12.25
 * -> 3.5 */
Test (checkpoint_policies, the_root_is_rounded)
{
  const struct
  {
    guint n_layers, k;
  } rows[] = {
    { 1, 1 },  { 2, 1 },  { 3, 2 },  { 6, 2 },  { 7, 3 },
    { 12, 3 }, { 13, 4 }, { 32, 6 }, { 80, 9 }, { 126, 11 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      SsTraceConfig c = config ("sqrt");
      g_autoptr (GArray) plan = ss_checkpointing_plan (&c.checkpointing, rows[i].n_layers);

      cr_assert (eq (u32, g_array_index (plan, SsLayerRange, 0).last + 1, rows[i].k), "%u layers",
                 rows[i].n_layers);
    }
}

/* ---- the same program ---- */

static void
assert_same (SsTraceConfig a, SsTraceConfig b)
{
  g_autofree char *x = ckpt_dump (&a), *y = ckpt_dump (&b);

  cr_assert (strcmp (x, y) == 0, "%s and %s", a.checkpointing.policy->name,
             b.checkpointing.policy->name);
}

Test (checkpoint_policies, full_is_every_layer_by_whatever_name)
{
  SsLayerRange singles[L];

  for (guint i = 0; i < L; i++)
    singles[i] = (SsLayerRange) { i, i, TRUE, 0 };
  for (guint i = 0; i < 4; i++)
    {
      SsTraceConfig all[] = {
        config ("full"), every (1, FALSE), custom (singles, L), block (L, FALSE), block (L, TRUE),
      };

      for (guint k = 0; k < G_N_ELEMENTS (all); k++)
        {
          all[k].checkpointing.is_reentrant = i & 1;
          all[k].checkpointing.has_early_stop = i & 2;
          assert_same (all[0], all[k]);
        }
    }
}

Test (checkpoint_policies, none_is_no_segment_by_whatever_name)
{
  assert_same (config ("none"), sequential (1));
  assert_same (config ("none"), block (0, FALSE));
  assert_same (config ("none"), every (L, TRUE));
  assert_same (config ("none"), custom (RANGES ({ 0, L - 1, FALSE, 0 })));
}

Test (checkpoint_policies, segments_are_the_same_by_whatever_name)
{
  /* round (sqrt (10)) = 3 */
  assert_same (config ("sqrt"), every (3, FALSE));
  assert_same (sequential (2), custom (RANGES ({ 0, 4, TRUE, 0 })));
  assert_same (every (4, TRUE), custom (RANGES ({ 0, 3, TRUE, 0 }, { 4, 7, TRUE, 0 })));
}

/* ---- bytes kept ---- */

/* Each segment of n layers keeps a instead of n (a + w); the position ids, 8 bytes a token of
 * one sequence, live as soon as there is one. */
static guint64
expected_saved (const SsTraceConfig *c, guint64 none)
{
  g_autoptr (GArray) plan = ss_checkpointing_plan (&c->checkpointing, L);
  guint64 bytes = none;
  gboolean any = FALSE;

  for (guint i = 0; i < plan->len; i++)
    {
      const SsLayerRange *r = &g_array_index (plan, SsLayerRange, i);

      if (!r->is_checkpointed || r->depth > 0)
        continue;
      bytes -= (r->last - r->first + 1) * CKPT_KEPT - CKPT_A;
      any = TRUE;
    }
  return bytes + (any ? 8 * CKPT_S : 0);
}

Test (checkpoint_policies, what_is_kept_is_the_closed_form)
{
  SsTraceConfig none = config ("none");
  SsTraceConfig rows[] = {
    config ("full"), every (2, FALSE), every (3, FALSE), every (3, TRUE), every (L, FALSE),
    config ("sqrt"), sequential (2), sequential (4), sequential (L), block (3, FALSE),
    block (3, TRUE), nested (4, 2), nested (5, 1),
    custom (RANGES ({ 1, 2, TRUE, 0 }, { 8, 8, TRUE, 0 })),
  };
  guint64 kept = ckpt_saved_bytes (&none);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint k = 0; k < 2; k++)
      {
        rows[i].checkpointing.is_reentrant = k;
        rows[i].checkpointing.skips_last_inner_forward = !k;
        cr_assert (eq (u64, ckpt_saved_bytes (&rows[i]), expected_saved (&rows[i], kept)),
                   "row %u, reentrant %u", i, k);
      }
}

/* ---- flops ---- */

/* Layers run again, and of how many the last product is left out. */
static void
assert_recomputed (SsTraceConfig c, guint64 n_layers, guint64 n_stopped)
{
  SsTraceConfig none = config ("none");
  CkptFlops flops = ckpt_flops (&c);

  cr_assert (eq (u64, flops.matmul, n_layers * CKPT_MATRICES - n_stopped * CKPT_DOWN));
  cr_assert (eq (u64, flops.attention, n_layers * CKPT_CORE));
  cr_assert (eq (u64, flops.model, ckpt_flops (&none).model));
}

static SsTraceConfig
without_early_stop (SsTraceConfig c)
{
  c.checkpointing.has_early_stop = c.checkpointing.skips_last_inner_forward = FALSE;
  return c;
}

static SsTraceConfig
reentrant (SsTraceConfig c)
{
  c.checkpointing.is_reentrant = TRUE;
  c.checkpointing.skips_last_inner_forward = FALSE;
  return c;
}

/* one forward of the checkpointed layers; early stop leaves out the last product of each segment */
Test (checkpoint_policies, one_forward_of_what_is_checkpointed_is_repeated)
{
  assert_recomputed (config ("none"), 0, 0);
  assert_recomputed (config ("full"), L, L);
  assert_recomputed (without_early_stop (config ("full")), L, 0);
  assert_recomputed (reentrant (config ("full")), L, 0);
  assert_recomputed (every (4, FALSE), L, 3);
  assert_recomputed (reentrant (every (4, FALSE)), L, 0);
  assert_recomputed (every (4, TRUE), 8, 2);
  assert_recomputed (sequential (4), 6, 3);
  assert_recomputed (block (3, TRUE), 3, 3);
  assert_recomputed (without_early_stop (block (3, FALSE)), 3, 0);
}

/* Segments 0-3, 4-7, 8-9, each cut in twos.  The outer recomputation runs 2, 2 and 0 layers,
 * where it stops at the last inner segment, else all 10; the inner ones run 10, each without its
 * last product. */
Test (checkpoint_policies, each_level_costs_one_more_forward)
{
  SsTraceConfig c = nested (4, 2);

  assert_recomputed (c, 4 + L, 5);
  assert_recomputed (without_early_stop (c), L + L, 0);
  assert_recomputed (reentrant (c), L + L, 0);
  c.checkpointing.has_early_stop = FALSE;
  assert_recomputed (c, 4 + L, 0);
}

/* ---- peaks ---- */

/* of the second of two micro-batches, in which all gradients are there throughout; a vocabulary of
 * 8 makes the loss next to nothing */
static guint64
peak (SsTraceConfig c)
{
  g_autoptr (SsProgram) p = NULL;

  c.gradient_accumulation = 2;
  fixture_llama (&c)->vocab_size = 8;
  p = ckpt_trace (&c);
  return fixture_phase (p, 1, 2, SS_PHASE_BACKWARD).peak_bytes;
}

/* section 3 of the definitions: (L + 2) a + (L - m) w, m < L; from the last, always one w more.
 * In the trace the last layer's gradients of products come on top, alike. */
Test (checkpoint_policies, block_from_the_first_layer_falls_by_w_and_the_last_is_one_w_worse)
{
  const guint64 w = CKPT_KEPT - CKPT_A;

  for (guint m = 1; m < L; m++)
    {
      guint64 position_ids = m == 1 ? 8 * CKPT_S : 0;

      cr_assert (eq (u64, peak (block (m - 1, FALSE)) - peak (block (m, FALSE)), w - position_ids),
                 "%u layers", m);
      cr_assert (eq (u64, peak (block (m, TRUE)) - peak (block (m, FALSE)), w), "%u layers", m);
    }
  cr_assert (eq (u64, peak (block (L, FALSE)), peak (block (L, TRUE))));
}

/* ---- every policy with everything else ---- */

static void
assert_ends_as_none (SsTraceConfig c, const char *what)
{
  SsTraceConfig none = c;
  g_autoptr (SsProgram) p = ckpt_trace (&c), plain = NULL;

  none.checkpointing = (SsCheckpointing) { .policy = ss_checkpoint_policy_find ("none") };
  plain = ckpt_trace (&none);
  ckpt_assert_sound (p, (guint) c.model.n_layers, c.n_steps * c.gradient_accumulation);
  for (guint step = 1; step <= c.n_steps; step++)
    cr_assert (eq (u64, fixture_phase (p, step, 0, SS_PHASE_ZERO_GRAD).end_bytes,
                   fixture_phase (plain, step, 0, SS_PHASE_ZERO_GRAD).end_bytes),
               "%s %s, step %u", c.checkpointing.policy->name, what, step);
}

Test (checkpoint_policies, every_step_ends_with_the_bytes_of_none)
{
  SsTraceConfig rows[] = {
    config ("full"), every (3, FALSE), every (3, TRUE), config ("sqrt"), sequential (4),
    block (3, FALSE), block (3, TRUE), nested (4, 2), custom (RANGES ({ 1, 2, TRUE, 0 })),
  };
  char *targets[] = { "q", "v", NULL };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint k = 0; k < 2; k++)
      {
        SsTraceConfig c = k ? reentrant (rows[i]) : rows[i];

        c.n_steps = c.gradient_accumulation = 2;
        assert_ends_as_none (c, "accumulated");
        c.kernels = ss_kernel_profile_find ("hf-sdpa")->kernels;
        c.precision = ss_precision_find ("bf16-amp");
        assert_ends_as_none (c, "with autocast");
        c.kernels = ss_kernel_profile_find ("liger")->kernels;
        assert_ends_as_none (c, "with liger-kernel");
        c.precision = ss_precision_find ("bf16");
        c.adapter = (SsAdapter) { "lora", 4, targets, FALSE };
        assert_ends_as_none (c, "with LoRA");
      }
}

/* Dropout's random state is the host's: no byte; its masks are made again, but for that of the
 * embeddings, a byte an element, which is in no layer. */
Test (checkpoint_policies, dropout_keeps_nothing_more)
{
  SsTraceConfig c = ckpt_config ("gpt2", 2, "paper-eager", "full");
  guint64 without = ckpt_saved_bytes (&c);

  fixture_set_dropout (&c, 0.1);
  cr_assert (eq (u64, ckpt_saved_bytes (&c), without + CKPT_T * CKPT_H));
}
