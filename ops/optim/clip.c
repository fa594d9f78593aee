/* SPDX-License-Identifier: MIT
 *
 * torch/nn/utils/clip_grad.py: every norm is a scalar in the gradients' type.
 */
#include "ops/optim/clip.h"

#include "ops/kinds/foreach.h"
#include "ops/kinds/pointwise.h"
#include "ops/kinds/reduce.h"

/* get_total_norm */
static SsValue *
total_norm (SsTape *t, GPtrArray *gradients)
{
  g_autoptr (GPtrArray) norms = ss_foreach_norm (t, gradients);

  return ss_vector_norm (t, ss_stack_scalars (t, norms), SS_ALL_DIMS, FALSE);
}

/* max_norm / (total + 1e-6): a number over a tensor is the reciprocal times the number */
static SsValue *
coefficient (SsTape *t, SsValue *total)
{
  SsDtype dtype = ss_value_dtype (total);
  g_autoptr (SsValue) divisor = ss_keep (ss_plain (t, SS_PLAIN_ADD, total, NULL, dtype));
  SsValue *reciprocal = ss_plain (t, SS_PLAIN_RECIPROCAL, divisor, NULL, dtype);

  return ss_plain (t, SS_PLAIN_MUL, reciprocal, NULL, dtype);
}

/* clip_grads_with_norm_: scales in any case, by at most 1 */
void
ss_clip_grad_norm (SsTape *t, GPtrArray *gradients)
{
  g_autoptr (SsValue) total = NULL, clip = NULL, clamped = NULL;
  g_autoptr (GPtrArray) scalar = ss_list_new ();

  if (gradients->len == 0)
    return;
  total = ss_keep (total_norm (t, gradients));
  clip = ss_keep (coefficient (t, total));
  clamped = ss_keep (ss_plain (t, SS_PLAIN_CLAMP, clip, NULL, ss_value_dtype (clip)));
  ss_list_add (scalar, clamped);
  SS_FOREACH (t, MUL, { gradients, 2 }, { scalar, 1 });
}
