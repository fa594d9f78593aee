/* SPDX-License-Identifier: MIT */
#include "ops/kinds/fused.h"

#include "ops/kinds/attention.h"
#include "ops/kinds/pointwise.h"

/* ---- norms ---- */

/* inputs: gradient, x, weight; attribute[0]: there is a bias */
static void
infer_norm_grad (SsCall *c)
{
  c->n_out = c->attribute[0] ? 3 : 2;
  c->out[0] = *ss_call_in (c, 1);
  c->out[1] = c->out[2] = *ss_call_in (c, 2);
}

static const SsOpKind norm_grad = {
  .name = "paper::norm_backward", .infer = infer_norm_grad,
  .memory = SS_IS_MEMORY (FUSED),
};

static void
norm_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  SsValue *all[SS_MAX_OUTPUTS];

  ss_record_multi (t, &norm_grad, ss_node_attributes (n),
                   SS_VALUES (grad[0], ss_node_saved (n, 0), ss_node_saved (n, 1)), all);
  memcpy (out, all, 3 * sizeof *out);
}

static const SsOpKind norm = {
  .name = "paper::norm", .node_name = "NormBackward", .infer = ss_infer_like_first,
  .memory = SS_IS_MEMORY (FUSED),
  .saves = { { 0, SS_ALWAYS }, { 1, SS_ALWAYS } }, .n_saves = 2, .backward = norm_backward,
};

SsValue *
ss_fused_norm (SsTape *t, SsValue *x, SsValue *weight, SsValue *bias)
{
  return bias ? SS_RUN_KIND (t, norm, SS_ATTRIBUTES (TRUE), x, weight, bias)
              : SS_RUN_KIND (t, norm, SS_ATTRIBUTES (FALSE), x, weight);
}

/* ---- rotation ---- */

static void
rope_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  out[0] = ss_fused_rope (t, grad[0], ss_node_saved (n, 0), ss_node_saved (n, 1));
}

static const SsOpKind rope = {
  .name = "paper::rope", .node_name = "RopeBackward", .infer = ss_infer_like_first,
  .memory = SS_IS_MEMORY (FUSED),
  .saves = { { 1, 0 }, { 2, 0 } }, .n_saves = 2, .backward = rope_backward,
};

SsValue *
ss_fused_rope (SsTape *t, SsValue *x, SsValue *cos, SsValue *sin)
{
  return SS_RUN_KIND (t, rope, NULL, x, cos, sin);
}

/* ---- attention ---- */

static void
attention_cost (const SsCall *c, SsCost *cost)
{
  ss_attention_cost (ss_call_in (c, 0), ss_call_in (c, 1), FALSE, cost);
}

/* inputs: q, k, v, output, gradient */
static void
infer_attention_grad (SsCall *c)
{
  c->n_out = 3;
  for (guint i = 0; i < 3; i++)
    {
      c->out[i] = *ss_call_in (c, i);
      ss_tensor_like (&c->out[i], ss_call_in (c, i));
    }
}

static void
attention_grad_cost (const SsCall *c, SsCost *cost)
{
  ss_attention_cost (ss_call_in (c, 0), ss_call_in (c, 1), TRUE, cost);
}

static const SsOpKind attention_grad = {
  .name = "paper::attention_backward", .infer = infer_attention_grad, .cost = attention_grad_cost,
};

static void
attention_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  SsValue *all[SS_MAX_OUTPUTS];

  ss_record_multi (t, &attention_grad, NULL,
                   SS_VALUES (ss_node_saved (n, 0), ss_node_saved (n, 1), ss_node_saved (n, 2),
                              ss_node_saved (n, 3), grad[0]),
                   all);
  memcpy (out, all, 3 * sizeof *out);
}

static const SsOpKind attention = {
  .name = "paper::attention",
  .node_name = "AttentionBackward",
  .infer = ss_infer_like_first,
  .saves = { { 0, SS_ALWAYS }, { 1, SS_ALWAYS }, { 2, SS_ALWAYS }, { SS_RESULT (0), SS_ALWAYS } },
  .n_saves = 4,
  .backward = attention_backward,
  .cost = attention_cost,
};

SsValue *
ss_fused_attention (SsTape *t, SsValue *q, SsValue *k, SsValue *v)
{
  return SS_RUN_KIND (t, attention, NULL, q, k, v);
}
