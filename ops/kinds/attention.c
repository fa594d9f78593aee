/* SPDX-License-Identifier: MIT
 *
 * FlashAttention as PyTorch 2.14.1 calls it: outputs, statistics, split-KV accumulators, and
 * the scratch of its backward (mha_fwd, mha_bwd of flash_api.cpp, as recorded: 84 of 84
 * forward, 84 of 84 backward).
 */
#include "ops/kinds/attention-private.h"

#include "ops/kinds/pointwise.h"
#include "ops/kinds/view.h"

static gint64
round_up (gint64 n, gint64 unit)
{
  return (n + unit - 1) / unit * unit;
}

static gint64
ceil_div (gint64 a, gint64 b)
{
  return (a + b - 1) / b;
}

/* the head dimension as the kernel's tiles have it */
static gint64
rounded_head (gint64 head_dim)
{
  return head_dim <= 128 ? round_up (head_dim, 32) : round_up (head_dim, 64);
}

/* bytes as signed sizes allow; negative products cannot happen, too large ones saturate */
static guint64
bytes_of (gint64 a, gint64 b, gint64 c, gint64 d)
{
  return ss_size_mul (ss_size_mul ((guint64) a, (guint64) b),
                      ss_size_mul ((guint64) c, (guint64) d));
}

/* ---- flash, forward ---- */

enum
{
  OUT,
  LOG_SUM_EXP,
  RNG_STATE,
  UNUSED,
  DEBUG_MASK,
  N_FLASH_RESULTS
};

static gboolean
pads_heads (const SsTensor *q)
{
  return q->size[3] % 8 != 0;
}

static void
infer_flash (SsCall *c)
{
  const SsTensor *q = ss_call_in (c, 0);

  if (ss_dtype_bytes ((SsDtype) q->dtype) != 2)
    ss_call_fail (c, "%s queries; FlashAttention takes bf16 or f16",
                  ss_dtype_name ((SsDtype) q->dtype));
  c->n_out = N_FLASH_RESULTS;
  c->out[OUT] = *q;
  c->out[OUT].size[3] = round_up (q->size[3], 8);
  ss_tensor_like (&c->out[OUT], q);
  c->out[LOG_SUM_EXP] = ss_tensor (SS_F32, 3, q->size);          /* (B, H, S) f32 */
  c->out[RNG_STATE] = ss_tensor (SS_U64, 1, (gint64[]) { 2 });
  c->out[UNUSED] = ss_tensor (SS_U64, 0, NULL);
  c->out[DEBUG_MASK] = ss_tensor ((SsDtype) q->dtype, 1, (gint64[]) { 0 });
}

/* num_splits_heuristic of flash_api.cpp: how many blocks share one row of queries */
static gint64
n_splits (const SsCall *c)
{
  const gint64 *q = ss_call_in (c, 0)->size;
  gint64 block_n = q[3] <= 64 ? 256 : q[3] <= 128 ? 128 : 64;
  gint64 n_blocks = ceil_div (ss_call_in (c, 1)->size[2], block_n);
  gint64 work = q[0] * q[1] * ceil_div (q[2], 64),
         sms = 2 * (gint64) ss_call_target (c)->n_multiprocessors;
  gint64 most = MIN (128, MIN (sms, n_blocks));
  double best = 0;

  if ((double) work >= 0.8 * (double) sms)
    return 1;
  for (guint pass = 0; pass < 2; pass++)
    for (gint64 s = 1; s <= most; s++)
      {
        double waves = (double) (work * s) / (double) sms;
        double efficiency = waves / (double) ceil_div (work * s, sms);

        if (s > 1 && ceil_div (n_blocks, s) == ceil_div (n_blocks, s - 1))
          continue;
        if (pass == 0)
          best = MAX (best, efficiency);
        else if (efficiency >= 0.85 * best)
          return s;
      }
  return 1;
}

/* with dropout the kernel's state is made anew from the generator's, and the first one goes */
static void
replace_rng_state (SsCall *c)
{
  c->scratch[c->n_scratch++] = c->result[RNG_STATE];
  c->result[RNG_STATE] = NULL;
  ss_call_result (c, RNG_STATE);
  ss_call_drop_scratch (c);
}

static void
flash_allocate (SsCall *c)
{
  const gint64 *q = ss_call_in (c, 0)->size;
  gint64 splits = c->attribute[0] ? 1 : n_splits (c);

  for (guint i = 0; i < 3 && pads_heads (ss_call_in (c, 0)); i++)
    {
      SsTensor padded = *ss_call_in (c, i);

      padded.size[3] = round_up (padded.size[3], 8);
      ss_call_scratch (c, ss_tensor_bytes (&padded));
    }
  ss_call_result (c, OUT);
  ss_call_result (c, LOG_SUM_EXP);
  if (splits > 1)
    {
      ss_call_scratch (c, ss_size_mul (4 * (guint64) splits, bytes_of (q[0], q[1], q[2], 1)));
      ss_call_scratch (c, ss_size_mul (4 * (guint64) splits,
                                       bytes_of (q[0], q[1], q[2], rounded_head (q[3]))));
    }
  ss_call_result (c, RNG_STATE);
  ss_call_result (c, UNUSED);
  ss_call_result (c, DEBUG_MASK);
  if (c->attribute[0])
    replace_rng_state (c);
}

/* ---- flash, backward: inputs grad, q, k, v, out, log-sum-exp, random state ---- */

static void
infer_qkv_gradients (SsCall *c)
{
  c->n_out = 3;
  for (guint i = 0; i < 3; i++)
    {
      c->out[i] = *ss_call_in (c, i + 1);
      ss_tensor_like (&c->out[i], ss_call_in (c, i + 1));
    }
}

static gboolean
is_token_major (const SsTensor *x)
{
  return x->size[1] == 1 || x->size[2] == 1 || x->stride[1] <= x->stride[2];
}

static void
flash_grad_allocate (SsCall *c)
{
  const gint64 *q = ss_call_in (c, 1)->size, *k = ss_call_in (c, 2)->size;
  gint64 rows = round_up (q[2], 128), heads = q[0] * q[1], copies = 1;

  if (ss_call_target (c)->is_deterministic)
    copies = ceil_div (ss_call_target (c)->n_multiprocessors, heads);
  if (!is_token_major (ss_call_in (c, 0)))
    ss_call_scratch (c, ss_tensor_bytes (ss_call_in (c, 0)));
  if (!is_token_major (ss_call_in (c, 4)))
    ss_call_scratch (c, ss_tensor_bytes (ss_call_in (c, 4)));
  for (guint i = 0; i < 3; i++)
    ss_call_result (c, i);
  ss_call_scratch (c, bytes_of (4, heads, rows, 1));
  ss_call_scratch (c,
                   ss_size_mul ((guint64) copies, bytes_of (4, heads, rows, rounded_head (q[3]))));
  for (guint i = 0; i < 2 && q[1] != k[1]; i++) /* one key and value head for each query head */
    ss_call_scratch (c, bytes_of (2 * q[0], k[2], q[1], q[3]));
}

#define FLASH_GRAD(text)                                                                           \
  { .name = text, .infer = infer_qkv_gradients, .allocate = flash_grad_allocate,                   \
    .cost = ss_attention_backward_cost }

static const SsOpKind flash_grads[SS_N_ATTENTION_KERNELS] = {
  [SS_KERNEL_FLASH] = FLASH_GRAD ("aten::_scaled_dot_product_flash_attention_backward"),
  [SS_KERNEL_FA3] = FLASH_GRAD ("flash_attn_3::bwd"),
  [SS_KERNEL_CUDNN] = FLASH_GRAD ("aten::_scaled_dot_product_flash_attention_backward"),
};

/* saved from number `first` on: key, query, value, log-sum-exp, output, and two of the random
 * state, given on from number `state` on */
static void
run_grad (SsTape *t, const SsOpKind *kind, const SsNode *n, guint first, const guint state[2],
          SsValue *const *grad, SsValue **out)
{
  SsValue *all[SS_MAX_OUTPUTS];

  ss_record_multi (t, kind, ss_node_attributes (n),
                   SS_VALUES (grad[0], ss_node_saved (n, first + 1), ss_node_saved (n, first),
                              ss_node_saved (n, first + 2), ss_node_saved (n, first + 4),
                              ss_node_saved (n, first + 3), ss_node_saved (n, state[0]),
                              ss_node_saved (n, state[1])),
                   all);
  memcpy (out, all, 3 * sizeof *out);
}

static void
flash_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  const SsOpKind *kind = &flash_grads[ss_node_attribute (n, SS_ATTENTION_KERNEL)];

  run_grad (t, kind, n, 0, (guint[]) { 5, 6 }, grad, out);
}

#define FLASH(text, node)                                                                          \
  { .name = text, .node_name = node, .infer = infer_flash,                                         \
    .saves = { { 1, SS_ALWAYS },                                                                   \
               { 0, SS_ALWAYS },                                                                   \
               { 2, SS_ALWAYS },                                                                   \
               { SS_RESULT (LOG_SUM_EXP), SS_ALWAYS },                                             \
               { SS_RESULT (OUT), SS_ALWAYS },                                                     \
               { SS_RESULT (RNG_STATE), SS_ALWAYS },                                               \
               { SS_RESULT (UNUSED), SS_ALWAYS } },                                                \
    .n_saves = 7, .backward = flash_backward, .allocate = flash_allocate,                          \
    .cost = ss_attention_forward_cost }

static const SsOpKind flashes[SS_N_ATTENTION_KERNELS] = {
  [SS_KERNEL_FLASH] = FLASH ("aten::_scaled_dot_product_flash_attention",
                             "ScaledDotProductFlashAttentionBackward0"),
  [SS_KERNEL_FA3] = FLASH ("flash_attn_3::fwd", "FlashAttnFuncBackward"),
  /* by the name of the recordings, in which cuDNN's attention was switched off */
  [SS_KERNEL_CUDNN] = FLASH ("aten::_scaled_dot_product_flash_attention",
                             "ScaledDotProductFlashAttentionBackward0"),
};

SsValue *
ss_flash_attention (SsTape *t, SsAttentionKernel kernel, SsValue *q, SsValue *k, SsValue *v,
                    gboolean has_dropout)
{
  gint64 attribute[SS_N_ATTRIBUTES] = { has_dropout, [SS_ATTENTION_KERNEL] = kernel };

  g_return_val_if_fail (flashes[kernel].name != NULL, NULL);
  return SS_RUN_KIND (t, flashes[kernel], attribute, q, k, v);
}

/* ---- memory-efficient attention (cutlass fMHA) ---- */

enum
{
  EFF_OUT,
  EFF_LOG_SUM_EXP,
  EFF_SEED,
  EFF_OFFSET
};

static void
infer_efficient (SsCall *c)
{
  const SsTensor *q = ss_call_in (c, 0);

  c->n_out = 4;
  c->out[EFF_OUT] = *q;
  ss_tensor_like (&c->out[EFF_OUT], q);
  c->out[EFF_LOG_SUM_EXP]
    = ss_tensor (SS_F32, 3, (gint64[]) { q->size[0], q->size[1], round_up (q->size[2], 32) });
  c->out[EFF_SEED] = c->out[EFF_OFFSET] = ss_tensor (SS_I64, 0, NULL);
}

/* attribute[0]: dropout (then seed and offset are views of the generator's state and cost
 * nothing) */
static void
efficient_allocate (SsCall *c)
{
  const SsTensor *q = ss_call_in (c, 0);

  if (!c->attribute[0])
    {
      ss_call_result (c, EFF_SEED);
      ss_call_result (c, EFF_OFFSET);
    }
  ss_call_result (c, EFF_OUT);
  if (c->attribute[1])
    ss_call_result (c, EFF_LOG_SUM_EXP);
  if (ss_dtype_bytes ((SsDtype) q->dtype) == 2 && q->size[3] > 128)
    ss_call_scratch (c, bytes_of (4 * q->size[0], q->size[2], q->size[1], q->size[3]));
}

/* Queries of a tile of the backward kernel (generate_kernels.py: get_all): 128 from 8.0 on, and in
 * half types on 7.0; 7.5 has too little shared memory. */
static gint64
efficient_rows (const SsCall *c, gint64 head_dim, gboolean is_half)
{
  guint capability = ss_call_target (c)->compute_capability;

  return head_dim > 64 && (capability >= 80 || (is_half && capability >= 70 && capability < 75))
           ? 128 : 64;
}

/* Tiles of the backward kernel (kernel_backward.h).  Gradients of keys and values that do not stay
 * in registers are summed beside them. */
static guint64
efficient_workspace (const SsCall *c)
{
  const SsTensor *q = ss_call_in (c, 1);
  gboolean is_half = ss_dtype_bytes ((SsDtype) q->dtype) == 2;
  gint64 heads = q->size[0] * q->size[1], s = q->size[2], d = q->size[3], keys = 0,
         rows = efficient_rows (c, d, is_half), columns = 64;

  if (is_half && d > 64 && d <= 128 && ss_call_target (c)->compute_capability >= 80)
    columns = 128;
  if (is_half && d > rows)
    {
      gint64 splits = ss_call_target (c)->is_deterministic
                        ? 1 : MAX (1, MIN (ceil_div (ss_call_in (c, 2)->size[2], 64), 200 / heads));

      keys = 4 * 64 * splits * 2 * round_up (d, rows);
    }
  return ss_size_add (ss_size_mul (bytes_of (heads, ceil_div (s, rows), ceil_div (d, columns), 1),
                                   (guint64) (16 + 4 * rows * columns)),
                      bytes_of (heads, keys, 1, 1));
}

static void
efficient_grad_allocate (SsCall *c)
{
  const SsTensor *q = ss_call_in (c, 1), *k = ss_call_in (c, 2);
  gint64 heads = q->size[0] * q->size[1];
  guint first;

  for (guint i = 0; i < 3; i++)
    ss_call_result (c, i);
  for (guint i = 0; i < 2 && q->size[1] != k->size[1]; i++)
    ss_call_scratch (c, ss_size_mul (ss_dtype_bytes ((SsDtype) k->dtype),
                                     bytes_of (k->size[0], k->size[2], q->size[1], q->size[3])));
  first = c->n_scratch;
  if (q->dtype != SS_F32)
    ss_call_scratch (c, bytes_of (4, heads, q->size[2], 1));                  /* delta */
  else
    {
      ss_call_scratch (c,
                       bytes_of (4 * heads, q->size[2], q->size[3], 1)); /* gradient times output */
      ss_call_scratch (c, bytes_of (4, heads, q->size[2], 1));                /* delta */
      if (q->size[1] > 1 && q->size[2] > 1)
        {
          ss_call_scratch (c, bytes_of (4, heads, q->size[2], 1)); /* delta, transposed: stays */
          ss_call_drop_scratch_at (c, first + 1);
        }
      ss_call_drop_scratch_at (c, first);
    }
  ss_call_scratch (c, efficient_workspace (c));
}

static const SsOpKind efficient_grad = {
  .name = "aten::_scaled_dot_product_efficient_attention_backward", .infer = infer_qkv_gradients,
  .allocate = efficient_grad_allocate, .cost = ss_attention_backward_cost,
};

static void
efficient_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  SsValue *all[SS_MAX_OUTPUTS], *bias = ss_node_saved (n, 0);

  if (!bias)
    {
      run_grad (t, &efficient_grad, n, 1, (guint[]) { 7, 6 }, grad, out);
      return;
    }
  ss_record_multi (t, &efficient_grad, ss_node_attributes (n),
                   SS_VALUES (grad[0], ss_node_saved (n, 2), ss_node_saved (n, 1),
                              ss_node_saved (n, 3), bias, ss_node_saved (n, 5),
                              ss_node_saved (n, 4), ss_node_saved (n, 7), ss_node_saved (n, 6)),
                   all);
  memcpy (out, all, 3 * sizeof *out);
}

static const SsOpKind efficient = {
  .name = "aten::_scaled_dot_product_efficient_attention",
  .node_name = "ScaledDotProductEfficientAttentionBackward0",
  .infer = infer_efficient,
  .saves = { { 3, SS_ALWAYS },
             { 1, SS_ALWAYS },
             { 0, SS_ALWAYS },
             { 2, SS_ALWAYS },
             { SS_RESULT (EFF_LOG_SUM_EXP), SS_ALWAYS },
             { SS_RESULT (EFF_OUT), SS_ALWAYS },
             { SS_RESULT (EFF_OFFSET), SS_ALWAYS },
             { SS_RESULT (EFF_SEED), SS_ALWAYS } },
  .n_saves = 8,
  .backward = efficient_backward,
  .allocate = efficient_allocate,
  .cost = ss_attention_efficient_cost,
};

SsValue *
ss_efficient_attention (SsTape *t, SsAttentionKernel kernel, SsValue *q, SsValue *k, SsValue *v,
                        SsValue *bias, gboolean has_dropout)
{
  gboolean wants_grad
    = ss_value_requires_grad (q) || ss_value_requires_grad (k) || ss_value_requires_grad (v);
  gint64 attribute[SS_N_ATTRIBUTES] = { has_dropout, wants_grad && ss_tape_grad_enabled (t),
                                        [SS_ATTENTION_KERNEL] = kernel };

  return bias ? SS_RUN_KIND (t, efficient, attribute, q, k, v, bias)
              : SS_RUN_KIND (t, efficient, attribute, q, k, v);
}

/* ---- without history ---- */

/* (B, 1, S, al8 (S)) as (B, H, S, S) */
static SsValue *
bias_of (SsTape *t, SsValue *mask, const SsValue *q)
{
  return ss_expand (t, ss_slice (t, mask, 3, 0, q->tensor.size[2]), 1, q->tensor.size[1]);
}

void
ss_attention_forward (SsTape *t, SsAttentionKernel kernel, SsValue *q, SsValue *k, SsValue *v,
                      SsValue *mask, SsValue **out)
{
  SsValue *all[SS_MAX_OUTPUTS];
  gint64 attribute[SS_N_ATTRIBUTES] = { FALSE, mask != NULL, [SS_ATTENTION_KERNEL] = kernel };

  if (mask)
    ss_record_multi (t, &efficient, attribute,
                     SS_VALUES (q, k, v, bias_of (t, mask, q)), all);
  else
    ss_record_multi (t, &flashes[kernel], attribute, SS_VALUES (q, k, v), all);
  memcpy (out, all, SS_ATTENTION_N_RESULTS * sizeof *out);
  for (guint i = SS_ATTENTION_N_RESULTS; i < SS_MAX_OUTPUTS && all[i]; i++)
    ss_value_unref (all[i]);
}

void
ss_attention_backward (SsTape *t, SsAttentionKernel kernel, SsValue *grad, SsValue *q,
                       SsValue *k, SsValue *v, SsValue *const *result, SsValue *mask, SsValue **out)
{
  SsValue *all[SS_MAX_OUTPUTS];
  gint64 attribute[SS_N_ATTRIBUTES] = { FALSE, mask != NULL, [SS_ATTENTION_KERNEL] = kernel };

  if (mask)
    ss_record_multi (t, &efficient_grad, attribute,
                     SS_VALUES (grad, q, k, v, bias_of (t, mask, q), result[0], result[1],
                                result[2], result[3]),
                     all);
  else
    ss_record_multi (t, &flash_grads[kernel], attribute,
                     SS_VALUES (grad, q, k, v, result[0], result[1], result[2], result[3]), all);
  memcpy (out, all, 3 * sizeof *out);
}
