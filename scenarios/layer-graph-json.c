/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "memory/tensor.h"
#include "plan/layer-graph.h"
#include "scenarios/chain-table.h"

#define U64 "%" G_GUINT64_FORMAT

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* ,"name":["a","b"] in the order of the alphabet. */
static void
append_set (const SsLayerGraph *block, const char *name, guint32 set, GString *out)
{
  const char *names[SS_LAYER_GRAPH_MAX_OPS];
  guint n = 0;

  for (guint i = 0; i < block->n_ops; i++)
    if (set & 1u << i)
      names[n++] = block->ops[i].name;
  qsort (names, n, sizeof *names, compare_names);
  g_string_append_printf (out, "\"%s\":[", name);
  for (guint i = 0; i < n; i++)
    g_string_append_printf (out, "%s\"%s\"", i > 0 ? "," : "", names[i]);
  g_string_append_c (out, ']');
}

static void
append_policy (const SsLayerGraph *block, const SsBlockPolicy *policy, GString *out)
{
  guint32 dropped = ss_layer_graph_set (block, policy->dropped);
  SsLayerGraphCost cost = ss_layer_graph_cost (block, ss_layer_graph_read (block) & ~dropped);

  if (policy->repeats_output)
    cost.recomputed |= 1u << (block->n_ops - 1);
  g_string_append_printf (out, "\"%s\":{", policy->name);
  append_set (block, "dropped", dropped, out);
  g_string_append_printf (out,
                          ",\"saved_bytes_excl_input\":" U64 ",\"saved_bytes_incl_input\":" U64
                          ",\"recompute_flops\":" U64 ",",
                          cost.needed_bytes, cost.needed_bytes + block->input_bytes,
                          ss_layer_graph_flops (block, cost.recomputed));
  append_set (block, "recomputed", cost.recomputed, out);
  g_string_append_c (out, '}');
}

static void
append_ops (const SsLayerGraph *block, GString *out)
{
  g_string_append (out, "\"tensors\":{");
  for (guint i = 0; i + 1 < block->n_ops; i++)
    g_string_append_printf (out, "%s\"%s\":" U64, i > 0 ? "," : "", block->ops[i].name,
                            block->ops[i].bytes);
  g_string_append (out, "},\"gemm_flops\":{");
  for (guint i = 0; i < block->n_ops; i++)
    g_string_append_printf (out, "%s\"%s\":" U64, i > 0 ? "," : "", block->ops[i].name,
                            block->ops[i].flops);
}

gboolean
ss_chain_append_block (const SsBlockSizes *sizes, GString *out)
{
  guint64 n_tokens = ss_size_mul (sizes->sequence_length, sizes->batch);
  guint64 attention = ss_size_mul (4, ss_size_mul (ss_size_mul (n_tokens, sizes->sequence_length),
                                                   sizes->hidden));
  SsLayerGraph block = ss_layer_graph_llama (n_tokens, sizes->hidden, sizes->hidden_kv,
                                             sizes->intermediate, attention);
  guint32 all = (1u << block.n_ops) - 1;
  guint64 bytes = block.input_bytes;

  for (guint i = 0; i < block.n_ops; i++)
    bytes = ss_size_add (bytes, block.ops[i].bytes);
  if (ss_size_add (bytes, ss_layer_graph_flops (&block, all)) == SS_SIZE_OVERFLOW)
    return FALSE;
  g_string_append_printf (out,
                          "{\"s\":" U64 ",\"b\":" U64 ",\"h\":" U64 ",\"h_kv\":" U64
                          ",\"F\":" U64 ",\"attn\":\"full (non-causal) 4*b*s^2*h\","
                          "\"block\":{\"x\":" U64 ",",
                          sizes->sequence_length, sizes->batch, sizes->hidden, sizes->hidden_kv,
                          sizes->intermediate, block.input_bytes);
  append_ops (&block, out);
  g_string_append_printf (out, "},\"forward_flops\":" U64 ",\"policies\":{",
                          ss_layer_graph_flops (&block, all));
  for (const SsBlockPolicy *policy = ss_layer_graph_policies (); policy->name != NULL; policy++)
    {
      if (policy != ss_layer_graph_policies ())
        g_string_append_c (out, ',');
      append_policy (&block, policy, out);
    }
  g_string_append (out, "}}}\n");
  return TRUE;
}
