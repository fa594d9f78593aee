/* SPDX-License-Identifier: MIT
 *
 * torch.compile (model), loss inside: the forward graph, kernel by kernel.  What it keeps and when
 * its buffers come and go was derived from runs of torch 2.14.1's inductor in default mode
 * (data/pytorch/phases.csv, compile-*): specs/liger-compile-optimizers.md, section 2.
 */
#include "ops/families/llama-compiled.h"

#include "ops/kinds/attention.h"
#include "ops/kinds/compiled.h"
#include "ops/kinds/matmul.h"
#include "ops/kinds/view.h"
#include "ops/nn/attention.h"

/* torch/_inductor/config.py: padding_alignment_bytes, padding_stride_threshold */
#define PADDING_ALIGNMENT_BYTES 128
#define PADDING_STRIDE_THRESHOLD 1024

/* ---- inputs ---- */

/* Long rows begin at multiples of 128 bytes; the last is as long as it is. */
static gint64
padded_elements (gint64 rows, gint64 width, SsDtype dtype)
{
  gint64 unit = PADDING_ALIGNMENT_BYTES / (gint64) ss_dtype_bytes (dtype), stride = width;

  if (width > PADDING_STRIDE_THRESHOLD)
    stride = (width + unit - 1) / unit * unit;
  return (rows - 1) * stride + width;
}

static void
make_labels (SsGraph *g, SsValue *ids)
{
  SsValue **labels = ss_graph_once (g, SS_GRAPH_LABELS);

  *labels = ss_graph_take (g, SS_I64, SS_DIMS (padded_elements (g->b, g->s + 1, SS_I64)));
  SS_COMPILED (g->tape, LABELS, 0, ids, *labels);
}

/* Traced, transformers cannot read whether sequences are packed, so it never leaves the mask
 * out.  The kernel wants rows of a multiple of 8. */
static void
make_mask (SsGraph *g)
{
  SsValue **mask = ss_graph_once (g, SS_GRAPH_MASK);

  *mask = ss_graph_take (g, g->low, SS_DIMS (g->b, 1, g->s, (g->s + 7) / 8 * 8));
  SS_COMPILED (g->tape, MASK, 0, *mask);
}

/* ---- norms ---- */

typedef struct
{
  SsValue **x, **normed, **roots;
} Norm;

/* x = residual + branch, over the branch's output if the types agree; NULL: the embedding of
 * ids.  A sum that is not wanted later (`is_last`) is not written: the branch is kept instead. */
static void
add_and_norm (SsGraph *g, Norm n, SsValue *residual, SsValue **branch, SsValue *ids,
              gboolean is_last)
{
  gint64 h = g->config->hidden_size;
  gboolean is_over = branch && (is_last || g->wide == g->low);

  *n.x = is_over ? g_steal_pointer (branch) : ss_graph_take (g, g->wide, SS_DIMS (g->t, h));
  *n.roots = ss_graph_take (g, SS_F32, SS_DIMS (g->t));
  *n.normed = ss_graph_take (g, g->low, SS_DIMS (g->t, h));
  if (ids)
    SS_COMPILED (g->tape, EMBED_NORM, 0, *n.x, *n.roots, *n.normed, ids);
  else if (is_over)
    SS_COMPILED (g->tape, ADD_NORM, is_last && g->wide != g->low ? 0 : 1, *n.x, residual, *n.roots,
                 *n.normed);
  else
    SS_COMPILED (g->tape, ADD_NORM, 0, *n.x, residual, *branch, *n.roots, *n.normed);
  if (branch && *branch)
    ss_graph_give (g, branch);
}

/* ---- products ---- */

static SsValue *
cast_weight (SsGraph *g, SsValue **kept, guint index)
{
  SsValue *w = ss_graph_parameter (g, index);

  if (ss_value_dtype (w) == g->low)
    return w;
  *kept = ss_graph_take (g, g->low, SS_DIMS (ss_value_size (w, 0), ss_value_size (w, 1)));
  SS_COMPILED (g->tape, CAST, 0, w, *kept);
  return *kept;
}

static SsValue *
product (SsGraph *g, SsValue *x, SsValue *w)
{
  SsValue *out = ss_graph_take (g, g->low, SS_DIMS (g->t, ss_value_size (w, 0)));

  ss_mm_out (g->tape, x, ss_transpose (g->tape, w, 0, 1), out);
  return out;
}

static SsValue *
linear (SsGraph *g, guint layer, guint weight, SsValue *x)
{
  guint which = weight <= SS_WEIGHT_O ? weight : weight - 2;
  SsValue *w = cast_weight (g, ss_graph_layer (g, layer, SS_LAYER_CAST + which),
                            ss_graph_index (g, layer, weight));

  return product (g, x, w);
}

/* ---- attention ---- */

/* Rotated, after the norm over heads if there is one (then the projection is kept for it). */
static SsValue *
rotated (SsGraph *g, guint layer, SsValue **raw, gint64 n_heads, gint64 n_out, guint raw_field)
{
  SsValue *out, **roots = ss_graph_layer (g, layer, raw_field + 1);

  if (!g->config->has_qk_norm)
    {
      out = ss_graph_take_heads (g, n_out);
      SS_COMPILED (g->tape, ROPE, 0, *raw, out);
      ss_graph_give (g, raw);
      return out;
    }
  *roots = ss_graph_take (g, SS_F32, SS_DIMS (g->t * n_heads));
  out = ss_graph_take_heads (g, n_out);
  SS_COMPILED (g->tape, NORM_ROPE, 0, *raw, *roots, out);
  *ss_graph_layer (g, layer, raw_field) = g_steal_pointer (raw);
  return out;
}

/* Under a mask keys and values are repeated for every query head, and kept so. */
static void
make_heads (SsGraph *g, guint layer, SsValue *x)
{
  const SsLlamaConfig *c = g->config;
  gboolean is_masked = *ss_graph_once (g, SS_GRAPH_MASK) != NULL;
  gint64 n_keys = is_masked ? c->n_heads : c->n_kv_heads;
  SsValue *q = linear (g, layer, SS_WEIGHT_Q, x);
  SsValue *k = linear (g, layer, SS_WEIGHT_K, x);
  SsValue *v = linear (g, layer, SS_WEIGHT_V, x);

  *ss_graph_layer (g, layer, SS_LAYER_Q)
    = rotated (g, layer, &q, c->n_heads, c->n_heads, SS_LAYER_Q_RAW);
  *ss_graph_layer (g, layer, SS_LAYER_K)
    = rotated (g, layer, &k, c->n_kv_heads, n_keys, SS_LAYER_K_RAW);
  if (is_masked)
    {
      SsValue *repeated = ss_graph_take_heads (g, n_keys);

      SS_COMPILED (g->tape, REPEAT, 0, v, repeated);
      *ss_graph_layer (g, layer, SS_LAYER_V) = repeated;
      ss_graph_give (g, &v);
    }
  else
    {
      SsTensor heads = (*ss_graph_layer (g, layer, SS_LAYER_K))->tensor;

      *ss_graph_layer (g, layer, SS_LAYER_V)
        = ss_keep (ss_value_new (g->tape, &heads, ss_storage_ref (v->storage)));
      ss_drop (&v);
    }
}

SsAttentionKernel
ss_graph_attention (const SsGraph *g, const SsValue *q)
{
  return ss_attention_kernel (g->tape, g->model->setup->kernels.attention, q,
                              *ss_graph_once (g, SS_GRAPH_MASK) != NULL);
}

static SsValue *
attention (SsGraph *g, guint layer, SsValue *x)
{
  SS_MODULE (g->tape, "self_attn");
  SsValue *all[SS_MAX_OUTPUTS], *out;
  g_autoptr (SsValue) rows = NULL;

  make_heads (g, layer, x);
  ss_attention_forward (
    g->tape, ss_graph_attention (g, *ss_graph_layer (g, layer, SS_LAYER_Q)),
    *ss_graph_layer (g, layer, SS_LAYER_Q), *ss_graph_layer (g, layer, SS_LAYER_K),
    *ss_graph_layer (g, layer, SS_LAYER_V), *ss_graph_once (g, SS_GRAPH_MASK), all);
  for (guint i = 0; i < SS_ATTENTION_N_RESULTS; i++)
    *ss_graph_layer (g, layer, SS_LAYER_OUT + i) = ss_keep (all[i]);
  rows = ss_graph_rows (g, all[0], g->config->n_heads * g->config->head_dim);
  out = linear (g, layer, SS_WEIGHT_O, rows);
  return out;
}

static SsValue *
mlp (SsGraph *g, guint layer, SsValue *x)
{
  SS_MODULE (g->tape, "mlp");
  SsValue **gate = ss_graph_layer (g, layer, SS_LAYER_GATE);
  SsValue **up = ss_graph_layer (g, layer, SS_LAYER_UP);
  SsValue **both = ss_graph_layer (g, layer, SS_LAYER_PRODUCT);

  *gate = linear (g, layer, SS_WEIGHT_GATE, x);
  *up = linear (g, layer, SS_WEIGHT_UP, x);
  *both = ss_graph_take (g, g->low, SS_DIMS (g->t, g->config->intermediate_size));
  SS_COMPILED (g->tape, SILU_MUL, 0, *gate, *up, *both);
  return linear (g, layer, SS_WEIGHT_DOWN, *both);
}

/* ---- the graph ---- */

/* *branch: output of the layer before, not yet added to its residual. */
static void
layer_forward (SsGraph *g, guint layer, SsValue *ids, SsValue **branch)
{
  SS_LAYER (g->tape, "layers", (gint) layer);
  Norm first
    = { ss_graph_layer (g, layer, SS_LAYER_X), ss_graph_layer (g, layer, SS_LAYER_X_NORMED),
        ss_graph_layer (g, layer, SS_LAYER_X_ROOTS) };
  Norm second = { ss_graph_layer (g, layer, SS_LAYER_MIDDLE),
                  ss_graph_layer (g, layer, SS_LAYER_MIDDLE_NORMED),
                  ss_graph_layer (g, layer, SS_LAYER_MIDDLE_ROOTS) };

  if (layer == 0)
    add_and_norm (g, first, NULL, NULL, ids, FALSE);
  else
    add_and_norm (g, first, *ss_graph_layer (g, layer - 1, SS_LAYER_MIDDLE), branch, NULL, FALSE);
  *branch = attention (g, layer, *first.normed);
  /* what no later layer takes over is freed where it was used last */
  if (layer + 1 == g->n_layers)
    ss_graph_flush (g);
  add_and_norm (g, second, *first.x, branch, NULL, FALSE);
  *branch = mlp (g, layer, *second.normed);
  ss_tape_mark_forward_end (g->tape, (gint) layer);
}

static void
hidden_forward (SsGraph *g, SsValue *ids)
{
  SS_MODULE (g->tape, "model");
  guint n_layers = g->n_layers;
  Norm last = { ss_graph_once (g, SS_GRAPH_DOWN), ss_graph_once (g, SS_GRAPH_NORMED),
                ss_graph_once (g, SS_GRAPH_ROOTS) };
  SsValue *branch = NULL;

  for (guint i = 0; i < n_layers; i++)
    layer_forward (g, i, ids, &branch);
  add_and_norm (g, last, *ss_graph_layer (g, n_layers - 1, SS_LAYER_MIDDLE), &branch, NULL, TRUE);
  ss_graph_flush (g);
}

static void
head_forward (SsGraph *g)
{
  SS_MODULE (g->tape, "lm_head");
  SsValue *w = cast_weight (g, ss_graph_once (g, SS_GRAPH_HEAD), ss_graph_head_index (g));
  SsValue **logits = ss_graph_once (g, SS_GRAPH_LOGITS);

  *logits = product (g, *ss_graph_once (g, SS_GRAPH_NORMED), w);
  ss_value_claim (*logits, SS_CATEGORY_LOGITS);
}

static SsValue *
loss_forward (SsGraph *g)
{
  SsValue **max = ss_graph_once (g, SS_GRAPH_MAX), **log_sum = ss_graph_once (g, SS_GRAPH_LOG_SUM);
  SsValue **n_targets = ss_graph_once (g, SS_GRAPH_N_TARGETS);
  g_autoptr (SsValue) loss = NULL;

  *max = ss_graph_take (g, SS_F32, SS_DIMS (g->t));
  *log_sum = ss_graph_take (g, SS_F32, SS_DIMS (g->t));
  SS_COMPILED (g->tape, SOFTMAX, 0, *ss_graph_once (g, SS_GRAPH_LOGITS), *max, *log_sum);
  loss = ss_graph_take (g, SS_F32, 0, NULL);
  *n_targets = ss_graph_take (g, SS_F32, 0, NULL);
  SS_COMPILED (g->tape, NLL, 0, *ss_graph_once (g, SS_GRAPH_LABELS), *max, *log_sum, loss,
               *n_targets);
  ss_value_claim (*max, SS_CATEGORY_LOGITS);
  ss_value_claim (*log_sum, SS_CATEGORY_LOGITS);
  ss_value_claim (*n_targets, SS_CATEGORY_LOGITS);
  ss_value_claim (loss, SS_CATEGORY_LOGITS);
  return ss_give (&loss);
}

static SsValue *
forward (SsGraph *g, SsValue *ids)
{
  const SsContext *context = ss_tape_context (g->tape);

  make_labels (g, ids);
  if (g->model->setup->kernels.attention != SS_ATTENTION_SDPA_FLASH)
    make_mask (g);
  hidden_forward (g, ids);
  head_forward (g);
  ss_tape_begin_phase (g->tape, SS_PHASE_LOSS, context->step, context->micro_batch);
  return loss_forward (g);
}

/* ---- what there are rules for ---- */

static const char *
problem_of (const SsTape *t, const SsModelSetup *s)
{
  static const char *const known[] = { "llama", "mistral", "qwen3", NULL };
  const SsLlamaConfig *c = ss_llama_config (s->config);
  const SsKernels *k = &s->kernels;

  if (!g_strv_contains (known, s->config->model_type))
    return "llama, mistral and qwen3 only";
  if (c->attention_bias || c->qkv_bias || c->mlp_bias)
    return "linears without biases only";
  if (c->head_dim % 8 != 0)
    return "heads of a multiple of 8 elements only";
  if (c->attn_pdrop > 0)
    return "models without dropout only";
  if (s->adapter)
    return "models without adapters only";
  if (!g_str_equal (s->checkpointing.policy->name, "none"))
    return "runs without checkpointing only";
  if (s->dtype == SS_BF16 ? ss_autocast_is_on (t)
                          : !ss_autocast_is_on (t) || ss_autocast_dtype (t) != SS_BF16)
    return "bf16 and bf16-amp only";
  if (k->attention != SS_ATTENTION_SDPA && k->attention != SS_ATTENTION_SDPA_EFFICIENT
      && k->attention != SS_ATTENTION_SDPA_FLASH)
    return "attention sdpa, sdpa-efficient and sdpa-flash only";
  if (k->norm != SS_NORM_HF || k->rope != SS_ROPE_HF || k->mlp != SS_MLP_HF
      || k->loss != SS_LOSS_HF)
    return "Hugging Face's own modules only: norm, rope, mlp and loss cannot be chosen";
  return NULL;
}

static const SsOpKind compiled_function = {
  .name = "CompiledFunction",
  .node_name = "CompiledFunctionBackward",
  .backward = ss_graph_backward,
};

/* The node has no edges: its backward hands each parameter its gradient itself, at its end. */
static void
attach (SsGraph *g, SsValue *loss, guint n_kept)
{
  SsNode *n = ss_node_attach (g->tape, &compiled_function, 0, NULL, n_kept, loss);

  ss_node_set_context (n, g->model, NULL);
  ss_node_set_attribute (n, 0, g->b);
  ss_node_set_attribute (n, 1, g->s);
  ss_node_set_attribute (n, 2, g->low);
  for (guint i = 0; i < n_kept; i++)
    ss_node_saves (n)[i] = g->kept[i];
}

SsValue *
ss_llama_compiled (SsTape *t, SsModel *model, SsValue *ids, SsValue **logits)
{
  const char *problem = problem_of (t, model->setup);
  SsDtype low = ss_autocast_is_on (t) ? ss_autocast_dtype (t) : model->setup->dtype;
  guint n_kept = SS_GRAPH_N_ONCE + (guint) model->setup->config->n_layers * SS_LAYER_N;
  g_autofree SsSaved *kept = g_new0 (SsSaved, n_kept);
  gboolean was_enabled = ss_tape_set_grad_enabled (t, FALSE);
  SsGraph g;
  SsValue *loss;

  *logits = NULL;
  if (problem)
    {
      ss_tape_fail (t, SS_OPS_ERROR_UNSUPPORTED, "profile=\"compiled\" has rules for %s", problem);
      return ss_empty_sizes (t, SS_F32, 0, NULL);
    }
  ss_graph_init (&g, t, model, low, ss_value_size (ids, 0), ss_value_size (ids, 1));
  g.kept = kept;
  loss = forward (&g, ids);
  ss_graph_clear (&g);
  ss_tape_set_grad_enabled (t, was_enabled);
  *logits = ss_keep (*ss_graph_once (&g, SS_GRAPH_LOGITS));
  attach (&g, loss, n_kept);
  return loss;
}
