/* SPDX-License-Identifier: MIT
 *
 * What causal language models share: their inputs, and transformers' ForCausalLM.forward over
 * hidden states and head, by the chosen loss.  It knows no layers.
 */
#pragma once

#include "ops/families/model.h"

G_BEGIN_DECLS

typedef struct
{
  /* token ids (B, S) -> hidden states (B, S, H), final norm done (transfer floating) */
  SsValue *(*hidden) (SsTape *t, SsModel *model, SsValue *ids);
  /* weight of the head (V, H); its bias or NULL (transfer none) */
  SsValue *(*head) (SsModel *model, SsValue **bias);
  /* optional: forward and loss under torch.compile, the loss phase begun when the logits are made:
   * the loss (transfer floating); *logits (transfer full), NULL if the tape failed */
  SsValue *(*compiled) (SsTape *t, SsModel *model, SsValue *ids, SsValue **logits);
} SsCausalLm;

/* token ids (B, S), which are the labels too */
void ss_causal_lm_make_inputs (SsTape *t, SsModel *model, SsBatch *batch);
/* Holds the loss and, where there are any, the logits. (transfer floating) */
SsValue *ss_causal_lm_loss (SsTape *t, SsModel *model, const SsCausalLm *lm, const SsBatch *batch);

G_END_DECLS
