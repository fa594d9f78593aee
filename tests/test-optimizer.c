/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "optimizer-fixture.h"

/* ---- requests: the rows of the spec, by hand for a matrix of 8,192 bytes and a vector of 400
 * ---- */

/* a root and a quotient of each, the earlier denominator living on until the next replaces it */
#define ADAM_LOOP "+8192 +8192 -8192 +400 +400 -8192 -400 -400"
#define ONE_EACH "+8192 +400 -8192 -400"
#define TWO_LISTS "+8192 +400 +8192 +400 -8192 -8192 -400 -400"
#define TWO_STATES "+8192 +8192 +400 +400"
#define ONE_STATE "+8192 +400"
/* norm of the parameter; means over 64 rows (256 bytes) and 32 columns (128); their product; its
 * mean; norm of the update.  Then the vector: its square, a copy, and the earlier update goes. */
#define ADAFACTOR_LOOP                                                                             \
  "+4 -4 +256 +128 +8192 +4 -4 +4 -4 +4 -4 +400 +400 -8192 +4 -400 -400 -256 -128 -4"

/* The same in lists: the matrices' updates live until the vectors' are there. */
#define ADAFACTOR_LISTS                                                                            \
  "+4 -4 +256 -256 +128 -128 +8192 +4 -4 +4 -4 +4 -4 +400 -400 +400 +4 -8192 -400 -4"

Test (optimizer, a_step_asks_for_what_the_spec_says)
{
  const struct
  {
    const char *name;
    SsImplementation implementation;
    const char *constructor, *states, *step;
  } rows[] = {
    { "sgd", SS_FOR_LOOP, "", "", "" },
    { "sgd", SS_FOREACH, "", "", "" },
    { "sgd", SS_FUSED, "", "", "" },
    { "momentum", SS_FOR_LOOP, "", ONE_STATE, "" },
    { "momentum", SS_FOREACH, "", ONE_STATE, "" },
    { "momentum", SS_FUSED, "", ONE_STATE, "" },
    { "adam", SS_FOR_LOOP, "", TWO_STATES, ADAM_LOOP },
    { "adam", SS_FOREACH, "", TWO_STATES, ONE_EACH },
    { "adam", SS_FUSED, "", "+4 +8192 +8192 +4 +400 +400", "" },
    { "adamw", SS_FOR_LOOP, "", TWO_STATES, ADAM_LOOP },
    { "adamw", SS_FOREACH, "", TWO_STATES, ONE_EACH },
    { "adamw", SS_FUSED, "", "+4 +8192 +8192 +4 +400 +400", "" },
    { "adagrad", SS_FOR_LOOP, ONE_STATE, "", ONE_EACH },
    { "adagrad", SS_FOREACH, ONE_STATE, "", TWO_LISTS },
    { "rmsprop", SS_FOR_LOOP, "", ONE_STATE, ONE_EACH },
    { "rmsprop", SS_FOREACH, "", ONE_STATE, ONE_EACH },
    { "nadam", SS_FOR_LOOP, "", TWO_STATES, ADAM_LOOP },
    { "nadam", SS_FOREACH, "", TWO_STATES, ONE_EACH },
    { "adafactor", SS_FOR_LOOP, "", "+256 +128 +400", ADAFACTOR_LOOP },
    { "adafactor", SS_FOREACH, "", "+256 +128 +400", ADAFACTOR_LISTS },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      OptimizerFixture f = optimizer_fixture (rows[i].name, rows[i].implementation);
      g_autofree char *first = NULL, *second = NULL, *constructor = NULL, *wanted = NULL;
      g_autoptr (SsProgram) p = NULL;

      for (guint step = 1; step <= 2; step++)
        {
          fixture_next_step (&f);
          ss_optimizer_step (&f.run);
        }
      p = fixture_seal (&f);
      constructor = requests_of (p, SS_PHASE_LOAD, 0);
      first = requests_of (p, SS_PHASE_OPTIMIZER, 1);
      second = requests_of (p, SS_PHASE_OPTIMIZER, 2);
      wanted = g_strdup_printf ("%s %s", rows[i].states, rows[i].step);
      cr_assert (eq (str, constructor, (char *) rows[i].constructor), "%s %u", rows[i].name, i);
      cr_assert (eq (str, first, g_strstrip (wanted)), "%s %u", rows[i].name, i);
      cr_assert (eq (str, second, (char *) rows[i].step), "%s %u", rows[i].name, i);
    }
}

Test (optimizer, every_one_listed_has_a_row_and_an_implementation)
{
  guint n = 0;

  for (const SsOptimizer *const *o = ss_optimizers (); *o; o++, n++)
    {
      cr_assert (ne (u32, (*o)->update[(*o)->by_default] != NULL, 0), "%s", (*o)->name);
      cr_assert (eq (ptr, (void *) ss_optimizer_find ((*o)->name), (void *) *o));
    }
  cr_assert (eq (u32, n, 24));
  cr_assert (eq (ptr, (void *) ss_optimizer_find ("tiger"), NULL));
}

/* p.grad is None: no state, no update */
Test (optimizer, a_parameter_without_a_gradient_is_left_out)
{
  for (SsImplementation i = SS_FOR_LOOP; i <= SS_FUSED; i++)
    {
      OptimizerFixture f = optimizer_fixture (NULL, i);
      g_autofree char *requests = NULL;
      g_autoptr (SsProgram) p = NULL;

      fixture_add (&f, SS_DIMS (1000), FALSE);
      fixture_begin (&f, "momentum", i);
      fixture_next_step (&f);
      ss_optimizer_step (&f.run);
      p = fixture_seal (&f);
      requests = requests_of (p, SS_PHASE_OPTIMIZER, 1);
      cr_assert (eq (str, requests, ONE_STATE), "%s", ss_implementation_name (i));
    }
}

/* Four experts of 16 x 8: rows 4 x 16, columns 4 x 8, one product each; in fp32 256, 128, 2,048
 * bytes. */
Test (optimizer, adafactor_factors_the_last_two_dimensions)
{
  OptimizerFixture f = optimizer_fixture (NULL, SS_FOR_LOOP);
  g_autofree char *requests = NULL, *ops = NULL;
  g_autoptr (SsProgram) p = NULL;

  g_ptr_array_set_size (f.parameters, 0);
  fixture_add (&f, SS_DIMS (4, 16, 8), TRUE);
  fixture_begin (&f, "adafactor", SS_FOR_LOOP);
  fixture_next_step (&f);
  ss_optimizer_step (&f.run);
  p = fixture_seal (&f);
  requests = requests_of (p, SS_PHASE_OPTIMIZER, 1);
  ops = ops_of (p, SS_PHASE_OPTIMIZER, 1);
  /* the mean over rows is one number an expert: 16 bytes */
  cr_assert (eq (str, requests, "+256 +128 +4 -4 +256 +128 +2048 +16 -16 +4 -2048 -256 -128 -4"));
  cr_assert (ne (ptr, strstr (ops, "aten::bmm"), NULL));
}

/* ---- kernels ---- */

/* data/pytorch/ops: llama-forloop, llama-clip-foreach, llama-sdpa-bf16, llama-momentum-foreach */
Test (optimizer, a_step_runs_the_kernels_of_the_op_logs)
{
#define LOOP                                                                                       \
  "aten::mul_ aten::lerp_ aten::mul_ aten::addcmul_ aten::sqrt aten::div aten::add_ aten::addcdiv_"
  const struct { const char *name; SsImplementation implementation; const char *ops; } rows[] = {
    { "adamw", SS_FOR_LOOP, LOOP " " LOOP },
    { "adamw", SS_FOREACH,
      "aten::_foreach_mul_ aten::_foreach_lerp_ aten::_foreach_mul_ aten::_foreach_addcmul_ "
      "aten::_foreach_sqrt aten::_foreach_div_ aten::_foreach_add_ aten::_foreach_addcdiv_" },
    { "adam", SS_FUSED, "aten::_foreach_add_ aten::_fused_adam_" },
    { "adamw", SS_FUSED, "aten::_foreach_add_ aten::_fused_adamw_" },
    { "sgd", SS_FUSED, "aten::_fused_sgd_" },
    { "momentum", SS_FOR_LOOP,
      "aten::mul_ aten::add_ aten::add_ aten::mul_ aten::add_ aten::add_" },
    { "momentum", SS_FOREACH, "aten::_foreach_mul_ aten::_foreach_add_ aten::_foreach_add_" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      OptimizerFixture f = optimizer_fixture (rows[i].name, rows[i].implementation);
      g_autofree char *ops = NULL;
      g_autoptr (SsProgram) p = NULL;

      for (guint step = 1; step <= 2; step++)
        {
          fixture_next_step (&f);
          ss_optimizer_step (&f.run);
        }
      p = fixture_seal (&f);
      ops = ops_of (p, SS_PHASE_OPTIMIZER, 2);
      cr_assert (eq (str, ops, (char *) rows[i].ops), "%s %u", rows[i].name, i);
    }
}

/* kernel-time, section 5: 7 accesses an element fused, 20 in passes.  2,148 elements of 4 bytes;
 * fused also counts two step counters up (16 bytes) and reads them (8). */
Test (optimizer, adamw_moves_what_its_passes_access)
{
  const struct { SsImplementation implementation; guint64 bytes; } rows[] = {
    { SS_FOR_LOOP, 20 * 4 * 2148 },
    { SS_FOREACH, 20 * 4 * 2148 },
    { SS_FUSED, 7 * 4 * 2148 + 16 + 8 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      OptimizerFixture f = optimizer_fixture ("adamw", rows[i].implementation);
      g_autoptr (SsProgram) p = NULL;
      guint64 bytes;

      for (guint step = 1; step <= 2; step++)
        {
          fixture_next_step (&f);
          ss_optimizer_step (&f.run);
        }
      p = fixture_seal (&f);
      bytes = bytes_moved_of (p, SS_PHASE_OPTIMIZER, 2);
      cr_assert (eq (u64, bytes, rows[i].bytes), "row %u", i);
    }
}

/* 2,240 chunks of 65,536 elements a launch, and 770 tensors of one list, 252 of four
 * (MultiTensorApply.cuh) */
Test (optimizer, a_call_over_many_tensors_is_several_launches)
{
  const struct { guint n_tensors; gint64 elements; const char *name; guint launches; } rows[] = {
    { 1, 2240 * 65536, "sgd", 1 },   { 1, 2240 * 65536 + 1, "sgd", 2 }, { 448, 1, "sgd", 1 },
    { 449, 1, "sgd", 2 },            { 252, 1, "momentum", 1 },         { 336, 2, "momentum", 1 },
    { 337, 2, "momentum", 2 },       { 2, 1121 * 65536, "sgd", 2 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      OptimizerFixture f = optimizer_fixture (NULL, SS_FUSED);
      g_autoptr (SsProgram) p = NULL;
      const SsOp *last;

      g_ptr_array_set_size (f.parameters, 0);
      for (guint k = 0; k < rows[i].n_tensors; k++)
        fixture_add (&f, SS_DIMS (rows[i].elements), TRUE);
      fixture_begin (&f, rows[i].name, SS_FUSED);
      fixture_next_step (&f);
      ss_optimizer_step (&f.run);
      p = fixture_seal (&f);
      last = ss_program_op (p, ss_program_n_ops (p) - 1);
      cr_assert (eq (u32, last->n_launches, rows[i].launches), "row %u", i);
    }
}

/* ---- zero_grad ---- */

Test (optimizer, zero_grad_drops_or_zeroes)
{
  const struct
  {
    SsImplementation implementation;
    gboolean in_place;
    const char *ops, *requests;
  } rows[] = {
    { SS_FUSED, FALSE, "", "-8192 -400" },
    { SS_FUSED, TRUE, "aten::_foreach_zero_", "" },
    { SS_FOREACH, TRUE, "aten::_foreach_zero_", "" },
    { SS_FOR_LOOP, TRUE, "aten::zero_ aten::zero_", "" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      OptimizerFixture f = optimizer_fixture ("sgd", rows[i].implementation);
      g_autofree char *ops = NULL, *requests = NULL;
      g_autoptr (SsProgram) p = NULL;

      ss_tape_begin_phase (f.tape, SS_PHASE_ZERO_GRAD, 1, 0);
      ss_optimizer_zero_grad (&f.run, rows[i].in_place);
      p = fixture_seal (&f);
      ops = ops_of (p, SS_PHASE_ZERO_GRAD, 1);
      requests = requests_of (p, SS_PHASE_ZERO_GRAD, 1);
      cr_assert (eq (str, ops, (char *) rows[i].ops), "row %u", i);
      cr_assert (eq (str, requests, (char *) rows[i].requests), "row %u", i);
    }
}

/* ---- groups of parameters ---- */

static OptimizerFixture
grouped (const OptimizerFixture *plain, const SsOptimizer *klass, SsGrouping grouping)
{
  OptimizerFixture f = *plain;
  const SsImplementation implementation
    = klass->update[SS_FOREACH] != NULL ? SS_FOREACH : SS_FOR_LOOP;
  const SsOptimizerSettings settings = { klass, implementation, grouping, f.parameters };

  ss_optimizer_init (&f.run, &settings, f.tape, f.parameters);
  fixture_next_step (&f);
  ss_optimizer_step (&f.run);
  fixture_next_step (&f);
  ss_optimizer_step (&f.run);
  return f;
}

/* transformers' Trainer: the matrix decays, the vector does not; each group is a list of its own,
 * whose denominators are gone before the next one's, and without decay there is one kernel less
 * (mul, lerp, mul, addcmul, sqrt, div, add, addcdiv). */
Test (optimizer, groups_are_updated_one_after_the_other)
{
  OptimizerFixture plain = optimizer_fixture (NULL, SS_FOREACH);
  OptimizerFixture f = grouped (&plain, ss_optimizer_find ("adamw"), SS_GROUPS_DECAY);
  g_autoptr (SsProgram) p = NULL;
  g_autofree char *second = NULL, *ops = NULL;
  g_auto (GStrv) names = NULL;

  cr_assert (eq (u32, f.run.groups->len, 2));
  p = fixture_seal (&f);
  second = requests_of (p, SS_PHASE_OPTIMIZER, 2);
  cr_assert (eq (str, second, "+8192 -8192 +400 -400"));
  ops = ops_of (p, SS_PHASE_OPTIMIZER, 2);
  names = g_strsplit (ops, " ", -1);
  cr_assert (eq (u32, g_strv_length (names), 8 + 7), "%s", ops);
}

static gboolean
takes_matrices (const SsOptimizerSlot *slot)
{
  return slot->is_linear && slot->parameter->tensor.n_dims == 2;
}

static void
update_matrices (SsOptimizerRun *run)
{
  for (guint i = 0; i < run->active->len; i++)
    {
      const SsOptimizerSlot *slot = run->active->pdata[i];

      cr_assert (eq (u32, slot->parameter->tensor.n_dims, 2));
      ss_discard (ss_empty (run->tape, &slot->parameter->tensor));
    }
}

/* As Muon does for what it cannot orthogonalize: the default AdamW,
 * with a step count and two moments of the vector alone. */
Test (optimizer, what_a_class_does_not_take_goes_to_the_other)
{
  const SsOptimizer klass = {
    .name = "matrices", .update = { [SS_FOR_LOOP] = update_matrices },
    .takes = takes_matrices, .others = ss_optimizer_find ("adamw"),
  };
  OptimizerFixture plain = optimizer_fixture (NULL, SS_FOR_LOOP);
  OptimizerFixture f = grouped (&plain, &klass, SS_GROUPS_ONE);
  const SsOptimizerGroup *own = f.run.groups->pdata[0], *others = f.run.groups->pdata[1];
  g_autoptr (SsProgram) p = NULL;
  g_autofree char *first = NULL, *second = NULL;

  cr_assert (eq (int, own->implementation, SS_FOR_LOOP));
  cr_assert (eq (int, others->implementation, SS_FUSED));
  p = fixture_seal (&f);
  first = requests_of (p, SS_PHASE_OPTIMIZER, 1);
  second = requests_of (p, SS_PHASE_OPTIMIZER, 2);
  cr_assert (eq (str, first, "+8192 -8192 +4 +400 +400"));
  cr_assert (eq (str, second, "+8192 -8192"));
}
