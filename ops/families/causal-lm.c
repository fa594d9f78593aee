/* SPDX-License-Identifier: MIT */
#include "ops/families/causal-lm.h"

#include "ops/nn/losses.h"

enum
{
  HELD_LOSS,
  HELD_LOGITS
};

void
ss_causal_lm_make_inputs (SsTape *t, SsModel *model G_GNUC_UNUSED, SsBatch *batch)
{
  SsValue *ids
    = ss_keep (ss_empty_sizes (t, SS_I64, SS_DIMS (batch->n_sequences, batch->n_tokens)));

  ss_value_claim (ids, SS_CATEGORY_ACTIVATIONS);
  g_ptr_array_add (batch->inputs, ids);
}

static void
hold (const SsBatch *batch, guint which, SsValue *value)
{
  if (batch->outputs)
    ss_rebind (&batch->outputs[which], value);
}

static SsValue *
logits_of (SsTape *t, SsModel *model, const SsCausalLm *lm, SsValue *hidden)
{
  SS_MODULE (t, "lm_head");
  SsValue *bias, *weight = lm->head (model, &bias);
  SsValue *logits = ss_keep (ss_linear_weight (t, hidden, weight, bias));

  ss_value_claim (logits, SS_CATEGORY_LOGITS);
  return logits;
}

/* ForCausalLM.forward: hidden states live by name until it returns; the direct loss is called
 * after that, and the held output is bound before it. */
static SsValue *
loss_of_logits (SsTape *t, SsModel *model, const SsCausalLm *lm, SsValue *hidden_arg,
                const SsBatch *batch)
{
  SsLossChoice choice = model->setup->kernels.loss;
  g_autoptr (SsValue) hidden = ss_keep (hidden_arg);
  g_autoptr (SsValue) logits = logits_of (t, model, lm, hidden);
  g_autoptr (SsValue) loss = NULL;

  if (choice == SS_LOSS_DIRECT)
    {
      ss_drop (&hidden);
      hold (batch, HELD_LOGITS, logits);
    }
  ss_tape_begin_phase (t, SS_PHASE_LOSS, batch->step, batch->micro_batch);
  loss = ss_keep (ss_causal_loss (t, choice, logits, batch->inputs->pdata[0], batch->is_scaled));
  ss_drop (&hidden);
  hold (batch, HELD_LOGITS, logits);
  hold (batch, HELD_LOSS, loss);
  return ss_give (&loss);
}

/* The loss that takes the hidden states and the head's weight: there are no logits to hold. */
static SsValue *
loss_of_hidden (SsTape *t, SsModel *model, const SsCausalLm *lm, SsValue *hidden_arg,
                const SsBatch *batch)
{
  g_autoptr (SsValue) hidden = ss_keep (hidden_arg);
  g_autoptr (SsValue) loss = NULL;
  SsValue *bias, *weight = lm->head (model, &bias);

  if (bias)
    ss_tape_fail (t, SS_OPS_ERROR_UNSUPPORTED,
                  "loss=\"fused-linear\" knows heads without a bias only");
  ss_tape_begin_phase (t, SS_PHASE_LOSS, batch->step, batch->micro_batch);
  loss = ss_keep (
    ss_fused_linear_loss (t, hidden, weight, batch->inputs->pdata[0], batch->is_scaled));
  hold (batch, HELD_LOSS, loss);
  return ss_give (&loss);
}

/* torch.compile (model): forward and loss as one graph. */
static SsValue *
loss_compiled (SsTape *t, SsModel *model, const SsCausalLm *lm, const SsBatch *batch)
{
  g_autoptr (SsValue) logits = NULL;
  g_autoptr (SsValue) loss = ss_keep (lm->compiled (t, model, batch->inputs->pdata[0], &logits));

  if (logits)
    {
      hold (batch, HELD_LOGITS, logits);
      hold (batch, HELD_LOSS, loss);
    }
  return ss_give (&loss);
}

SsValue *
ss_causal_lm_loss (SsTape *t, SsModel *model, const SsCausalLm *lm, const SsBatch *batch)
{
  SsValue *hidden;

  if (model->setup->kernels.is_compiled && lm->compiled)
    return loss_compiled (t, model, lm, batch);
  if (model->setup->kernels.is_compiled)
    ss_tape_fail (t, SS_OPS_ERROR_UNSUPPORTED, "profile=\"compiled\" has no rules for %s",
                  model->setup->config->model_type);
  hidden = lm->hidden (t, model, batch->inputs->pdata[0]);
  return model->setup->kernels.loss == SS_LOSS_FUSED_LINEAR
           ? loss_of_hidden (t, model, lm, hidden, batch)
           : loss_of_logits (t, model, lm, hidden, batch);
}
