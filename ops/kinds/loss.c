/* SPDX-License-Identifier: MIT */
#include "ops/kinds/loss.h"

static void
infer_nll (SsCall *c)
{
  c->n_out = 2;
  c->out[0] = c->out[1] = ss_tensor ((SsDtype) ss_call_in (c, 0)->dtype, 0, NULL);
}

/* gathers one probability a row */
static void
nll_cost (const SsCall *c, SsCost *cost)
{
  cost->bytes = ss_size_mul (2, ss_tensor_bytes (ss_call_in (c, 1)));
}

/* inputs: gradient, log-probabilities, target, total weight; the output is zeroed, then written */
static void
infer_nll_grad (SsCall *c)
{
  const SsTensor *p = ss_call_in (c, 1);

  c->n_out = 1;
  c->out[0] = ss_tensor ((SsDtype) p->dtype, p->n_dims, p->size);
}

static void
nll_grad_cost (const SsCall *c, SsCost *cost)
{
  cost->bytes = ss_size_add (ss_tensor_bytes (&c->out[0]),
                             ss_size_mul (2, ss_tensor_bytes (ss_call_in (c, 2))));
}

static const SsOpKind nll_grad = {
  .name = "aten::nll_loss_backward", .infer = infer_nll_grad,
  .memory = SS_IS_MEMORY (PLAIN), .cost = nll_grad_cost,
};

static void
nll_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  out[0] = SS_RUN_KIND (t, nll_grad, NULL, grad[0], ss_node_saved (n, 0), ss_node_saved (n, 1),
                        ss_node_saved (n, 2));
}

static const SsOpKind nll = {
  .name = "aten::nll_loss_forward", .node_name = "NllLossBackward0", .infer = infer_nll,
  .memory = SS_IS_MEMORY (GATHER),
  .saves = { { 0, SS_ALWAYS }, { 1, SS_ALWAYS }, { SS_RESULT (1), SS_ALWAYS } }, .n_saves = 3,
  .backward = nll_backward, .cost = nll_cost,
};

SsValue *
ss_nll_loss (SsTape *t, SsValue *log_probabilities, SsValue *target)
{
  return SS_RUN_KIND (t, nll, NULL, log_probabilities, target);
}
