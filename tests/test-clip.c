/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "ops/optim/clip.h"
#include "optimizer-fixture.h"

/* Three gradients in fp32, the largest of 5 chunks of 65,536 elements: partial sums 4 x 3 x 5 =
 * 60 bytes; three scalars; their stack of 12 bytes and its norm; then add, reciprocal, mul,
 * clamp. */
Test (clip, the_norm_is_taken_and_applied_as_the_spec_says)
{
  OptimizerFixture f = optimizer_fixture (NULL, SS_FUSED);
  g_autofree char *requests = NULL, *ops = NULL;
  g_autoptr (SsProgram) p = NULL;
  g_autoptr (GPtrArray) gradients = NULL;
  const SsOp *last;

  fixture_add (&f, SS_DIMS (5 * 65536), TRUE);
  fixture_begin (&f, "sgd", SS_FUSED);
  fixture_next_step (&f);
  gradients = ss_optimizer_gradients (&f.run);
  ss_clip_grad_norm (f.tape, gradients);
  g_clear_pointer (&gradients, g_ptr_array_unref);
  p = fixture_seal (&f);
  requests = requests_of (p, SS_PHASE_OPTIMIZER, 1);
  ops = ops_of (p, SS_PHASE_OPTIMIZER, 1);
  cr_assert (eq (str, requests, "+60 +4 +4 +4 -60 +12 +4 -12 -4 -4 -4 +4 +4 +4 -4 -4 +4 -4 -4 -4"));
  cr_assert (eq (str, ops,
                 "aten::_foreach_norm aten::stack aten::linalg_vector_norm aten::add "
                 "aten::reciprocal aten::mul aten::clamp aten::_foreach_mul_"));
  /* read and written, 4 bytes each, and the coefficient */
  last = ss_program_op (p, ss_program_n_ops (p) - 1);
  cr_assert (eq (u64, last->bytes, 2 * 4 * (5 * 65536 + 2048 + 100) + 4));
  cr_assert (eq (u32, last->n_inputs, 4));
}

/* the norms' types and sizes are operands too, as in the op logs: "3 tensors" in, "3 tensors"
 * out */
Test (clip, the_norms_are_outputs_of_their_op)
{
  OptimizerFixture f = optimizer_fixture ("sgd", SS_FOREACH);
  g_autoptr (GPtrArray) gradients = ss_optimizer_gradients (&f.run);
  g_autoptr (SsProgram) p = NULL;
  const SsOp *norm;

  ss_clip_grad_norm (f.tape, gradients);
  g_clear_pointer (&gradients, g_ptr_array_unref);
  p = fixture_seal (&f);
  norm = ss_program_op (p, 0);
  cr_assert (eq (u32, norm->n_inputs, 2));
  cr_assert (eq (u32, norm->n_outputs, 2));
  cr_assert (eq (u32, ss_program_operand (p, norm->first_operand + 3)->n_dims, 0));
}

Test (clip, nothing_to_clip_runs_nothing)
{
  OptimizerFixture f = optimizer_fixture ("sgd", SS_FUSED);
  g_autoptr (GPtrArray) none = g_ptr_array_new ();
  g_autoptr (SsProgram) p = NULL;

  ss_clip_grad_norm (f.tape, none);
  p = fixture_seal (&f);
  cr_assert (eq (u32, ss_program_n_ops (p), 0));
}
