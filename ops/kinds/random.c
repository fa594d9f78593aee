/* SPDX-License-Identifier: MIT */
#include "ops/kinds/random.h"

#include "ops/kinds/pointwise.h"

static void
infer_dropout (SsCall *c)
{
  ss_infer_like_first (c);
  c->n_out = 2;
  c->out[1] = c->out[0];
  c->out[1].dtype = SS_BOOL;
}

static void
dropout_allocate (SsCall *c)
{
  ss_call_result (c, 1);
  ss_call_result (c, 0);
}

static const SsOpKind dropout_grad = {
  .name = "aten::native_dropout_backward", .infer = ss_infer_like_first,
  .memory = SS_IS_MEMORY (DROPOUT),
};

static void
dropout_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  out[0] = SS_RUN_KIND (t, dropout_grad, NULL, grad[0], ss_node_saved (n, 0));
}

static const SsOpKind native_dropout = {
  .name = "aten::native_dropout", .node_name = "NativeDropoutBackward0", .infer = infer_dropout,
  .memory = SS_IS_MEMORY (DROPOUT),
  .saves = { { SS_RESULT (1), SS_ALWAYS } }, .n_saves = 1, .backward = dropout_backward,
  .allocate = dropout_allocate,
};

SsValue *
ss_native_dropout (SsTape *t, SsValue *x)
{
  return SS_RUN_KIND (t, native_dropout, NULL, x);
}

SsValue *
ss_dropout (SsTape *t, SsValue *x, double p)
{
  return p > 0 ? ss_native_dropout (t, x) : x;
}
