/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "ops/core/autograd.h"
#include "ops/kinds/pointwise.h"
#include "ops/optim/grad-scaler.h"
#include "optimizer-fixture.h"

static void
scale_and_go_back (OptimizerFixture *f, SsGradScaler *scaler, SsValue *weight, guint step)
{
  g_autoptr (SsValue) loss = NULL, scaled = NULL;

  ss_tape_set_grad_enabled (f->tape, TRUE);
  ss_tape_begin_phase (f->tape, SS_PHASE_LOSS, step, 1);
  loss = ss_keep (ss_scale (f->tape, weight));
  ss_tape_begin_phase (f->tape, SS_PHASE_BACKWARD, step, 1);
  scaled = ss_grad_scaler_scale (scaler, f->tape, loss);
  ss_backward (f->tape, scaled, NULL);
  ss_tape_set_grad_enabled (f->tape, FALSE);
}

/* The first scale makes scale and growth tracker; then the scaled loss, the ones, the gradient
 * scaled back; the loss is a scaled weight, so one more for its gradient, which the weight
 * keeps.  Of these the loss, its scaled twin, the ones and the gradient in between go; in the
 * second backward the new gradient too, once added. */
Test (grad_scaler, the_first_scale_makes_the_scale_and_its_tracker)
{
  OptimizerFixture f = optimizer_fixture (NULL, SS_FOREACH);
  SsGradScaler scaler = { NULL };
  g_autofree char *first = NULL, *second = NULL;
  g_autoptr (SsProgram) p = NULL;
  SsValue *weight = ss_parameter (f.tape, SS_F32, 0, NULL, TRUE);
  guint32 scale, tracker;

  fixture_begin (&f, "sgd", SS_FOREACH);
  scale_and_go_back (&f, &scaler, weight, 1);
  scale = scaler.scale->storage->id;
  tracker = scaler.growth_tracker->storage->id;
  scale_and_go_back (&f, &scaler, weight, 2);
  ss_tape_begin_phase (f.tape, SS_PHASE_ZERO_GRAD, 2, 0);
  ss_grad_scaler_clear (&scaler);
  ss_value_unref (weight);
  p = fixture_seal (&f);
  first = requests_of (p, SS_PHASE_BACKWARD, 1);
  second = requests_of (p, SS_PHASE_BACKWARD, 2);
  cr_assert (eq (str, first, "+4 +4 +4 +4 +4 +4 -4 -4 -4 -4"));
  cr_assert (eq (str, second, "+4 +4 +4 +4 -4 -4 -4 -4 -4"));
  cr_assert (eq (u8, ss_program_storage (p, scale)->category, SS_CATEGORY_OPTIMIZER_STATES));
  cr_assert (eq (u8, ss_program_storage (p, tracker)->category, SS_CATEGORY_OPTIMIZER_STATES));
  /* scaled loss, ones, the scaled gradient belong to the loss */
  for (guint i = 1; i <= 3; i++)
    cr_assert (eq (u8, ss_program_storage (p, tracker + i)->category, SS_CATEGORY_LOGITS), "%u", i);
}

static void
step_once (const char *optimizer, SsImplementation implementation, char **requests, char **ops)
{
  OptimizerFixture f = optimizer_fixture (optimizer, implementation);
  SsGradScaler scaler = { NULL };
  g_autoptr (SsProgram) p = NULL;
  SsValue *weight = ss_parameter (f.tape, SS_F32, 0, NULL, TRUE);

  scale_and_go_back (&f, &scaler, weight, 1);
  fixture_next_step (&f);
  ss_grad_scaler_step (&scaler, &f.run);
  ss_tape_begin_phase (f.tape, SS_PHASE_ZERO_GRAD, 1, 0);
  ss_grad_scaler_clear (&scaler);
  ss_value_unref (weight);
  p = fixture_seal (&f);
  *requests = requests_of (p, SS_PHASE_OPTIMIZER, 1);
  *ops = ops_of (p, SS_PHASE_OPTIMIZER, 1);
}

/* The scale in f64 (8), its reciprocal (8), in f32 (4); found_inf; a copy of each, as for
 * another device; all go but found_inf's copy, which update () takes. */
Test (grad_scaler, gradients_are_unscaled_before_a_step)
{
  g_autofree char *requests = NULL, *ops = NULL;

  step_once ("sgd", SS_FOREACH, &requests, &ops);
  cr_assert (eq (str, requests, "+8 +8 -8 +4 -8 +4 +4 +4 -4 -4 -4 -4"));
  cr_assert (eq (str, ops,
                 "aten::_to_copy aten::reciprocal aten::_to_copy aten::full aten::_to_copy "
                 "aten::_to_copy aten::_amp_foreach_non_finite_check_and_unscale_ "
                 "aten::_local_scalar_dense aten::_foreach_add_ aten::_amp_update_scale_"));
}

/* Checked with a scale of one (4) and found_inf (4), a copy of each; then sum and scale for the
 * kernel, which the step keeps to its end: gone with found_inf's copy. */
Test (grad_scaler, a_fused_step_takes_found_inf_itself)
{
  g_autofree char *requests = NULL, *ops = NULL;

  step_once ("adamw", SS_FUSED, &requests, &ops);
  cr_assert (eq (str, requests,
                 "+4 +4 +4 +4 -4 -4 -4 +4 +4 +4 +8192 +8192 +4 +400 +400 -4 -4 -4"));
  cr_assert (eq (str, ops,
                 "aten::full aten::full aten::_to_copy aten::_to_copy "
                 "aten::_amp_foreach_non_finite_check_and_unscale_ aten::add aten::mul aten::zeros "
                 "aten::zeros_like aten::zeros_like aten::zeros aten::zeros_like aten::zeros_like "
                 "aten::_foreach_add_ aten::_fused_adamw_ aten::_foreach_sub_ "
                 "aten::_amp_update_scale_"));
}
