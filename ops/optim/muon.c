/* SPDX-License-Identifier: MIT
 *
 * torch.optim.Muon (torch/optim/_muon.py of 2.14.1) with its default arguments: momentum, and an
 * update orthogonalised by five Newton-Schulz iterations in bf16.  "muon" is what it is made for:
 * the matrices of the layers' linears, with a fused AdamW for all else; "muon-only" is the class
 * over every matrix there is, the rest without an optimizer.
 */
#include "ops/kinds/matmul.h"
#include "ops/kinds/pointwise.h"
#include "ops/kinds/reduce.h"
#include "ops/kinds/view.h"
#include "ops/optim/optimizers.h"

#define N_ITERATIONS 5           /* DEFAULT_NS_STEPS */

enum
{
  MOMENTUM_BUFFER
};

static void
make_buffer (SsOptimizerRun *run, SsOptimizerSlot *slot)
{
  SsValue *target = ss_slot_target (slot);

  ss_slot_set_state (slot, MOMENTUM_BUFFER,
                     ss_zeros_like (run->tape, target, ss_value_dtype (target)));
}

/* ortho_grad.div_ (ortho_grad.norm ().clamp (min=eps)) */
static void
normalise (SsTape *t, SsValue *ortho)
{
  g_autoptr (SsValue) norm = ss_keep (ss_vector_norm (t, ortho, SS_ALL_DIMS, FALSE));
  g_autoptr (SsValue) clamped
    = ss_keep (ss_plain (t, SS_PLAIN_CLAMP, norm, NULL, ss_value_dtype (norm)));

  ss_drop (&norm);
  SS_IN_PLACE (t, DIV, ortho, clamped);
}

/* _zeropower_via_newtonschulz: on the wide side up */
static SsValue *
orthogonalised (SsTape *t, SsValue *update)
{
  gboolean is_tall = ss_value_size (update, 0) > ss_value_size (update, 1);
  g_autoptr (SsValue) ortho = ss_keep (ss_to (t, update, SS_BF16));
  g_autoptr (SsValue) gram = NULL, gram_update = NULL;

  if (is_tall)
    ss_rebind (&ortho, ss_transpose (t, ortho, 0, 1));
  normalise (t, ortho);
  for (guint i = 0; i < N_ITERATIONS; i++)
    {
      g_autoptr (SsValue) transposed = ss_keep (ss_transpose (t, ortho, 0, 1));

      ss_rebind (&gram, ss_mm (t, ortho, transposed));
      ss_drop (&transposed);
      ss_rebind (&gram_update, ss_addmm (t, gram, gram, gram));
      ss_rebind (&ortho, ss_addmm (t, ortho, gram_update, ortho));
    }
  if (is_tall)
    ss_rebind (&ortho, ss_transpose (t, ortho, 0, 1));
  return ss_give (&ortho);
}

/* _single_tensor_muon: `update` lives on until the next parameter's is there */
static void
step_matrices (SsOptimizerRun *run)
{
  SsTape *t = run->tape;
  g_autoptr (SsValue) update = NULL;

  for (guint i = 0; i < run->active->len; i++)
    if (!((SsOptimizerSlot *) run->active->pdata[i])->has_state)
      make_buffer (run, run->active->pdata[i]);
  for (guint i = 0; i < run->active->len; i++)
    {
      const SsOptimizerSlot *s = run->active->pdata[i];
      SsValue *buffer = s->state[MOMENTUM_BUFFER], *target = ss_slot_target (s);
      g_autoptr (SsValue) gradient = ss_slot_gradient (t, s);

      SS_IN_PLACE (t, LERP, buffer, gradient);
      ss_rebind (&update, ss_plain (t, SS_PLAIN_LERP, gradient, buffer, ss_value_dtype (gradient)));
      ss_rebind (&update, orthogonalised (t, update));
      SS_IN_PLACE (t, MUL, target);
      SS_IN_PLACE (t, ADD, target, update);
    }
}

/* ---- Muon alone ---- */

static gboolean
takes_matrices (const SsOptimizerSlot *slot)
{
  return slot->parameter->tensor.n_dims == 2;
}

const SsOptimizer ss_optimizer_muon_only = {
  .name = "muon-only", .description = "Muon on every matrix; vectors have no optimizer",
  .not_recorded = 1u << SS_FOR_LOOP, .by_default = SS_FOR_LOOP, .takes = takes_matrices,
  .make_state = make_buffer, .update = { [SS_FOR_LOOP] = step_matrices },
  .makes_state_itself = TRUE,
};

/* ---- Muon with AdamW ---- */

static gboolean
takes_hidden_matrices (const SsOptimizerSlot *slot)
{
  return slot->is_linear && takes_matrices (slot);
}

const SsOptimizer ss_optimizer_muon = {
  .name = "muon", .description = "Muon on the layers' matrices, fused AdamW on the rest",
  .by_default = SS_FOR_LOOP, .takes = takes_hidden_matrices,
  .others = &ss_optimizer_adamw, .make_state = make_buffer,
  .update = { [SS_FOR_LOOP] = step_matrices }, .makes_state_itself = TRUE,
};
