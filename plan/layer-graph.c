/* SPDX-License-Identifier: MIT */
#include "plan/layer-graph.h"

#include "memory/tensor.h"

enum { N1, Q, K, V, O, R, N2, GATE, UP, ACT, M, Y, N_LLAMA_OPS };

#define BIT(i) (1u << (i))

static void
set_op (SsLayerGraph *self, guint i, const char *name, guint64 elements, guint64 flops,
        guint32 inputs)
{
  self->ops[i] = (SsLayerGraphOp) { name, ss_size_mul (2, elements), flops, inputs, i != Y };
}

SsLayerGraph
ss_layer_graph_llama (guint64 n_tokens, guint64 hidden, guint64 hidden_kv, guint64 intermediate,
                      guint64 attention_flops)
{
  guint64 h = ss_size_mul (n_tokens, hidden), kv = ss_size_mul (n_tokens, hidden_kv);
  guint64 wide = ss_size_mul (n_tokens, intermediate);
  guint64 square = ss_size_mul (2, ss_size_mul (h, hidden));
  guint64 to_kv = ss_size_mul (2, ss_size_mul (kv, hidden));
  guint64 mlp = ss_size_mul (2, ss_size_mul (wide, hidden));
  SsLayerGraph self = { .input_bytes = ss_size_mul (2, h), .n_ops = N_LLAMA_OPS };

  set_op (&self, N1, "n1", h, 0, 0);
  set_op (&self, Q, "q", h, square, BIT (N1));
  set_op (&self, K, "k", kv, to_kv, BIT (N1));
  set_op (&self, V, "v", kv, to_kv, BIT (N1));
  set_op (&self, O, "o", h, attention_flops, BIT (Q) | BIT (K) | BIT (V));
  set_op (&self, R, "r", h, square, BIT (O));
  set_op (&self, N2, "n2", h, 0, BIT (R));
  set_op (&self, GATE, "gate", wide, mlp, BIT (N2));
  set_op (&self, UP, "up", wide, mlp, BIT (N2));
  set_op (&self, ACT, "act", wide, 0, BIT (GATE));
  set_op (&self, M, "m", wide, 0, BIT (ACT) | BIT (UP));
  set_op (&self, Y, "y", h, mlp, BIT (M) | BIT (R));
  return self;
}

guint32
ss_layer_graph_set (const SsLayerGraph *self, const char *const *names)
{
  guint32 set = 0;

  for (; *names != NULL; names++)
    for (guint i = 0; i < self->n_ops; i++)
      if (g_str_equal (self->ops[i].name, *names))
        set |= BIT (i);
  return set;
}

guint32
ss_layer_graph_read (const SsLayerGraph *self)
{
  guint32 read = 0;

  for (guint i = 0; i < self->n_ops; i++)
    read |= self->ops[i].is_read ? BIT (i) : 0;
  return read;
}

guint64
ss_layer_graph_flops (const SsLayerGraph *self, guint32 ops)
{
  guint64 flops = 0;

  for (guint i = 0; i < self->n_ops; i++)
    if (ops & BIT (i))
      flops = ss_size_add (flops, self->ops[i].flops);
  return flops;
}

static guint64
bytes_of (const SsLayerGraph *self, guint32 ops)
{
  guint64 bytes = 0;

  for (guint i = 0; i < self->n_ops; i++)
    if (ops & BIT (i))
      bytes = ss_size_add (bytes, self->ops[i].bytes);
  return bytes;
}

SsLayerGraphCost
ss_layer_graph_cost (const SsLayerGraph *self, guint32 kept)
{
  guint32 wanted = ss_layer_graph_read (self), again = 0;

  /* from the last op on: whatever wants a result stands behind it */
  for (guint i = self->n_ops; i-- > 0;)
    if (wanted & ~kept & BIT (i))
      {
        again |= BIT (i);
        wanted |= self->ops[i].inputs;
      }
  return (SsLayerGraphCost) {
    .recomputed = again,
    .recompute_flops = ss_layer_graph_flops (self, again),
    .needed_bytes = bytes_of (self, kept & wanted),
    .kept_bytes = bytes_of (self, kept),
  };
}

guint32
ss_layer_graph_best (const SsLayerGraph *self, guint64 budget_bytes)
{
  guint32 read = ss_layer_graph_read (self), best = 0, kept = 0;
  SsLayerGraphCost least = ss_layer_graph_cost (self, 0);

  /* every subset of the read results, in rising order of numbers */
  while ((kept = (kept - read) & read) != 0)
    {
      SsLayerGraphCost cost = ss_layer_graph_cost (self, kept);

      if (cost.kept_bytes > budget_bytes || cost.recompute_flops > least.recompute_flops
          || (cost.recompute_flops == least.recompute_flops
              && cost.kept_bytes >= least.kept_bytes))
        continue;
      best = kept;
      least = cost;
    }
  return best;
}

const SsBlockPolicy *
ss_layer_graph_policies (void)
{
  static const char *const nothing[] = { NULL };
  static const char *const norms[] = { "n1", "n2", NULL };
  static const char *const act[] = { "act", "m", NULL };
  static const char *const pointwise[] = { "n1", "n2", "act", "m", NULL };
  static const char *const mlp[] = { "gate", "up", "act", "m", NULL };
  static const char *const core_attention[] = { "o", NULL };
  static const char *const not_products[] = { "n1", "n2", "act", "m", "o", NULL };
  static const char *const all[]
      = { "n1", "q", "k", "v", "o", "r", "n2", "gate", "up", "act", "m", NULL };
  static const SsBlockPolicy policies[] = {
    { "none", nothing, FALSE },
    { "norms", norms, FALSE },
    { "act", act, FALSE },
    { "pointwise", pointwise, FALSE },
    { "mlp_checkpoint", mlp, TRUE },
    { "mlp_checkpoint_earlystop", mlp, FALSE },
    { "core_attn", core_attention, FALSE },
    { "save_gemm_outputs", not_products, FALSE },
    { "full", all, TRUE },
    { "full_earlystop", all, FALSE },
    { NULL },
  };

  return policies;
}
