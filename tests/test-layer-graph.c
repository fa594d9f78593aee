/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "plan/layer-graph.h"

#define MIB (G_GUINT64_CONSTANT (1) << 20)

/* Llama 3 8B at 8192 tokens: h 4096, h_kv 1024, F 14336, full attention 4 s^2 h. */
static SsLayerGraph
llama_block (void)
{
  return ss_layer_graph_llama (8192, 4096, 1024, 14336,
                               G_GUINT64_CONSTANT (4) * 8192 * 8192 * 4096);
}

/* MiB with the input, of 2 T (6 h + 2 h_kv + 4 F) = 1312; share of the forward's flops that run
 * again, in thousandths: attention 4 s^2 h of 2 T (2 h^2 + 2 h h_kv + 2 s h + 3 h F) is 235. */
static const struct
{
  const char *policy;
  guint64 mib, share;
} policies[] = {
  { "none", 1312, 0 },
  { "norms", 1312 - 2 * 64, 0 },
  { "act", 1312 - 2 * 224, 0 },
  { "pointwise", 1312 - 2 * 64 - 2 * 224, 0 },
  { "mlp_checkpoint", 1312 - 4 * 224, 618 },
  { "mlp_checkpoint_earlystop", 1312 - 4 * 224, 412 },
  { "core_attn", 1312 - 64, 235 },
  { "save_gemm_outputs", 736 - 64, 235 },
  { "full", 64, 1000 },
  { "full_earlystop", 64, 794 },
};

Test (chain_block, choices_within_a_llama_block_cost_what_the_sums_say)
{
  SsLayerGraph block = llama_block ();
  guint64 forward = ss_layer_graph_flops (&block, (1u << block.n_ops) - 1);
  const SsBlockPolicy *policy = ss_layer_graph_policies ();

  for (guint i = 0; i < G_N_ELEMENTS (policies); i++, policy++)
    {
      guint32 dropped = ss_layer_graph_set (&block, policy->dropped);
      SsLayerGraphCost cost = ss_layer_graph_cost (&block, ss_layer_graph_read (&block) & ~dropped);
      guint32 again = cost.recomputed;

      if (policy->repeats_output)
        again |= 1u << (block.n_ops - 1);
      cr_expect (eq (str, (char *) policy->name, (char *) policies[i].policy));
      cr_expect (eq (u64, (cost.needed_bytes + block.input_bytes) / MIB, policies[i].mib),
                 "%s", policy->name);
      cr_expect (eq (u64, (ss_layer_graph_flops (&block, again) * 1000 + forward / 2) / forward,
                     policies[i].share),
                 "%s", policy->name);
    }
  cr_assert (eq (ptr, (void *) policy->name, NULL));
}

/* y is read by nothing: caching it costs its bytes under PyTorch, under JAX it is not saved. */
Test (chain_block, what_is_kept_in_vain_is_not_needed)
{
  SsLayerGraph block = llama_block ();
  guint32 y = ss_layer_graph_set (&block, (const char *const[]) { "y", NULL });
  SsLayerGraphCost cost = ss_layer_graph_cost (&block, y);

  cr_assert (eq (u64, cost.needed_bytes, 0));
  cr_assert (eq (u64, cost.kept_bytes, 64 * MIB));
}

/* What is kept spares what stands before it only as far as nothing else asks for it: with r, gate
 * and up kept, act and m need no product; n1 is needed by q's backward all the same. */
Test (chain_block, only_what_leads_to_something_dropped_runs_again)
{
  SsLayerGraph block = llama_block ();
  guint32 kept = ss_layer_graph_set (
    &block, (const char *const[]) { "q", "k", "v", "o", "r", "gate", "up", NULL });
  SsLayerGraphCost cost = ss_layer_graph_cost (&block, kept);

  cr_assert (eq (u32, cost.recomputed,
                 ss_layer_graph_set (&block,
                                     (const char *const[]) { "n1", "n2", "act", "m", NULL })));
  cr_assert (eq (u64, cost.recompute_flops, 0));
}

/* ---- pytorch/pytorch test/functorch/test_ac.py: the memory budget of the partitioner ---- */

/* Results that do not depend on each other. */
static SsLayerGraph
independent (guint n, const guint64 (*bytes_flops)[2])
{
  SsLayerGraph block = { .n_ops = n };

  for (guint i = 0; i < n; i++)
    block.ops[i] = (SsLayerGraphOp) { "r", bytes_flops[i][0], bytes_flops[i][1], 0, TRUE };
  return block;
}

static SsLayerGraphCost
best_cost (const SsLayerGraph *block, guint64 budget)
{
  return ss_layer_graph_cost (block, ss_layer_graph_best (block, budget));
}

/* x.cos, then five times a product of 512 x 512 and cos; a result is 1, a product 1.  Budget i of
 * 10: memory i and 5 - i products again; from 5 on memory 5 and none. */
Test (chain_block, even_chain_of_products_as_published)
{
  SsLayerGraph block = { .n_ops = 11 };

  for (guint i = 0; i < 11; i++)
    block.ops[i]
        = (SsLayerGraphOp) { i % 2 ? "mm" : "cos", 1, i % 2, i > 0 ? 1u << (i - 1) : 0, TRUE };
  /* the last cos is the result; its backward reads what it was made of */
  block.ops[10].is_read = FALSE;
  cr_assert (eq (u64, ss_layer_graph_cost (&block, ss_layer_graph_read (&block)).kept_bytes, 10));
  for (guint i = 0; i < 10; i++)
    {
      SsLayerGraphCost cost = best_cost (&block, i);

      cr_expect (eq (u64, cost.kept_bytes, MIN (i, 5)), "budget %u", i);
      cr_expect (eq (u64, cost.recompute_flops, i < 5 ? 5 - i : 0), "budget %u", i);
    }
}

/* Products of different widths: these budgets are met exactly. */
Test (chain_block, uneven_products_fill_the_budget_as_published)
{
  static const guint64 four[][2] = { { 11, 11 }, { 3, 3 }, { 4, 4 }, { 2, 2 } };
  static const guint64 five[][2] = { { 3, 3 }, { 5, 5 }, { 11, 11 }, { 17, 17 }, { 14, 14 } };
  static const guint64 of_four[] = { 18, 17, 16, 15, 14, 13, 11, 7, 6, 5 };
  static const guint64 of_five[] = { 42, 30, 19, 8, 3 };
  SsLayerGraph a = independent (4, four), b = independent (5, five);

  for (guint i = 0; i < G_N_ELEMENTS (of_four); i++)
    cr_expect (eq (u64, best_cost (&a, of_four[i]).kept_bytes, of_four[i]));
  for (guint i = 0; i < G_N_ELEMENTS (of_five); i++)
    cr_expect (eq (u64, best_cost (&b, of_five[i]).kept_bytes, of_five[i]));
}

/* (b, o): a product of b x b and b x o.  Two, (1, 4) and (2, 2): 8 saved, backward 2 (4 + 8) = 24;
 * half of it: 4 more.  Three, (4, 4), (6, 2), (2, 6): 40 and 320; at 28: 24 more; at 16 only 12 are
 * used, for (6, 2) spares more than (4, 4): 24 + 64 more. */
Test (chain_block, the_dearer_product_is_kept_as_published)
{
  static const guint64 two[][2] = { { 1 * 4, 1 * 1 * 4 }, { 2 * 2, 2 * 2 * 2 } };
  static const guint64 three[][2]
      = { { 4 * 4, 4 * 4 * 4 }, { 6 * 2, 6 * 6 * 2 }, { 2 * 6, 2 * 2 * 6 } };
  SsLayerGraph a = independent (2, two), b = independent (3, three);

  cr_assert (eq (u64, 2 * ss_layer_graph_flops (&a, 3), 24));
  cr_assert (eq (u64, best_cost (&a, 4).kept_bytes, 4));
  cr_assert (eq (u64, best_cost (&a, 4).recompute_flops, 4));
  cr_assert (eq (u64, 2 * ss_layer_graph_flops (&b, 7), 320));
  cr_assert (eq (u64, best_cost (&b, 28).kept_bytes, 28));
  cr_assert (eq (u64, best_cost (&b, 28).recompute_flops, 24));
  cr_assert (eq (u64, best_cost (&b, 16).kept_bytes, 12));
  cr_assert (eq (u64, best_cost (&b, 16).recompute_flops, 24 + 64));
}

/* Attention of S x D, 4 S^2 D, beside a product, 2 S D^2, and room for one result of the two. */
Test (chain_block, attention_or_product_as_published)
{
  static const struct { guint64 s, d; gboolean product_again; } cases[] = {
    { 1, 1, TRUE }, { 2, 2, TRUE }, { 2, 1, TRUE }, { 4, 7, TRUE },
    { 1, 3, FALSE }, { 2, 5, FALSE }, { 4, 9, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      guint64 s = cases[i].s, d = cases[i].d, size = 10 * s * d;
      const guint64 ops[][2] = { { size, 4 * s * s * d }, { size, 2 * s * d * d } };
      SsLayerGraph block = independent (2, ops);

      cr_expect (eq (u32, ss_layer_graph_best (&block, 2 * size * 6 / 10),
                     cases[i].product_again ? 1 : 2),
                 "case %u", i);
    }
}

/* pytorch/pytorch test/distributed/_tools/test_sac_ilp.py, (time, memory): copy_ is always kept,
 * the view t never; relu_ follows linear, in whose place it writes: one choice of (9 + 5, 100). */
Test (chain_block, selective_ilp_as_published)
{
  enum { ADD, DIV, MM, DROPOUT, LINEAR, N };
  static const guint64 ops[N][2]
      = { { 100, 5 }, { 100, 8 }, { 120, 15 }, { 0, 15 }, { 100, 14 } };
  static const struct { guint64 budget; guint32 kept; } cases[] = {
    { 0, 1 << DROPOUT },
    { 100, 1 << DROPOUT | 1 << LINEAR },
    { 120, 1 << DROPOUT | 1 << MM },
    { 200, 1 << DROPOUT | 1 << LINEAR | 1 << DIV },
    { 220, 1 << DROPOUT | 1 << LINEAR | 1 << MM },
    { 320, 1 << DROPOUT | 1 << LINEAR | 1 << MM | 1 << DIV },
    { 420, (1 << N) - 1 },
  };
  SsLayerGraph block = independent (N, ops);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    cr_expect (eq (u32, ss_layer_graph_best (&block, cases[i].budget), cases[i].kept),
               "budget %u", (guint) cases[i].budget);
}
