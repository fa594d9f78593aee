/* SPDX-License-Identifier: MIT
 *
 * Activation functions: one saved tensor, one tensor of gradient.
 */
#include "ops/kinds/pointwise.h"

#define ACTIVATION(word, Node, what)                                                               \
  static const SsOpKind word##_grad = {                                                            \
    .name = "aten::" #word "_backward", .infer = ss_infer_like_first,                              \
  };                                                                                               \
                                                                                                   \
  static void                                                                                      \
  word##_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)                \
  {                                                                                                \
    out[0] = SS_RUN_KIND (t, word##_grad, NULL, grad[0], ss_node_saved (n, 0));                    \
  }                                                                                                \
                                                                                                   \
  static const SsOpKind word##_kind = {                                                            \
    .name = "aten::" #word, .node_name = Node, .infer = ss_infer_like_first,                       \
    .saves = { { what, SS_ALWAYS } }, .n_saves = 1, .backward = word##_backward,                   \
  };                                                                                               \
                                                                                                   \
  SsValue *                                                                                        \
  ss_##word (SsTape *t, SsValue *a)                                                                \
  {                                                                                                \
    return SS_RUN_KIND (t, word##_kind, NULL, a);                                                  \
  }

ACTIVATION (silu, "SiluBackward0", 0)
ACTIVATION (gelu, "GeluBackward0", 0)
ACTIVATION (tanh, "TanhBackward0", SS_RESULT (0))
