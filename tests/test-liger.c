/* SPDX-License-Identifier: MIT
 *
 * liger-kernel's kernels against hand sums: what forward keeps, what the losses need, what backward
 * does not allocate.  Letters as in the headers; e = 2 bytes of bf16.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "ops/nn/losses.h"
#include "trace-fixture.h"

#define WORKSPACE 33554432

typedef struct
{
  const char *model_type;
  gint64 n_layers, b, s;
} Shape;

static const Shape shapes[] = {
  { "llama", 2, 1, 2048 }, { "llama", 2, 4, 512 },  { "llama", 3, 1, 1000 },
  { "qwen3", 2, 1, 2048 }, { "qwen3", 2, 2, 8192 },
};

static SsTraceConfig
of_shape (const Shape *x, const char *profile)
{
  return fixture_config (x->model_type, profile, x->n_layers, x->b, x->s);
}

/* ops/fused_linear_cross_entropy.py: parts = ceil (V / H), chunk = next power of 2 of ceil (T /
 * parts): 8B: 128256 / 4096 -> 32 parts, 2048 / 32 = 64; 1000 / 32 -> 32; 1B: 63 parts, 2048 /
 * 63 -> 33 -> 64; 0.6B: 149 parts, 2048 / 149 -> 14 -> 16 */
Test (liger, chunks_are_a_power_of_two_of_rows)
{
  const struct { gint64 rows, hidden, vocab, chunk, n; } rows[] = {
    { 2048, 4096, 128256, 64, 32 },  { 8192, 4096, 128256, 256, 32 },
    { 1000, 4096, 128256, 32, 32 },  { 2048, 2048, 128256, 64, 32 },
    { 2048, 1024, 151936, 16, 128 }, { 8192, 1024, 151936, 64, 128 },
    { 12, 4096, 1000, 12, 1 },       { 1, 1, 1, 1, 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      gint64 chunk = ss_fused_linear_chunk (rows[i].rows, rows[i].hidden, rows[i].vocab);

      cr_expect (eq (i64, chunk, rows[i].chunk), "row %u", i);
      cr_expect (eq (i64, (rows[i].rows + chunk - 1) / chunk, rows[i].n), "row %u", i);
    }
}

/* Per layer: layer input, normed input, residual after attention, normed MLP input (4 H); q and
 * attention's output, k and v; gate, up and their product; flash's log-sum-exp and 24 bytes of
 * random state; an f32 reciprocal root per row and norm.  Once: last residual and its norm, its
 * roots, cos and sin.  Qwen3 also keeps q and k before their norms, with their roots. */
static guint64
kept_after_forward (const SsTraceConfig *c)
{
  const SsLlamaConfig *m = ss_llama_config (&c->model);
  guint64 t = (guint64) (c->micro_batch * c->sequence_length), h = (guint64) m->hidden_size;
  guint64 f = (guint64) m->intermediate_size, q = (guint64) (m->n_heads * m->head_dim);
  guint64 kv = (guint64) (m->n_kv_heads * m->head_dim);
  guint64 layer
    = 2 * t * (4 * h + 2 * q + 2 * kv + 3 * f) + 4 * t * (guint64) m->n_heads + 8 * t + 24;

  if (m->has_qk_norm)
    layer += (guint64) (m->n_heads + m->n_kv_heads) * (2 * t * (guint64) m->head_dim + 4 * t);
  return layer * (guint64) c->model.n_layers + 2 * t * 2 * h + 4 * t
         + 2 * 2 * (guint64) (c->sequence_length * m->head_dim);
}

Test (liger, forward_keeps_what_the_formula_counts)
{
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    {
      SsTraceConfig c = of_shape (&shapes[i], "liger");
      g_autoptr (SsProgram) p = ss_trace (&c, &fixture_h100, FALSE, NULL);
      FixturePhase f = fixture_phase (p, 1, 1, SS_PHASE_FORWARD);
      FixturePhase loss = fixture_phase (p, 1, 1, SS_PHASE_LOSS);

      cr_expect (eq (u64, loss.start_bytes - f.start_bytes - WORKSPACE, kept_after_forward (&c)),
                 "shape %u", i);
    }
}

/* labels padded (and copied if B > 1), a loss and a mask a row */
static guint64
small_of_loss (const SsTraceConfig *c)
{
  guint64 t = (guint64) (c->micro_batch * c->sequence_length);

  return 8 * (guint64) (c->micro_batch * (c->sequence_length + 1)) + 5 * t
         + (c->micro_batch > 1 ? 8 * t : 0);
}

/* gradients of the hidden states and the weight, one chunk of logits; afterwards both gradients,
 * the hidden states gone, and the loss itself */
Test (liger, the_fused_loss_needs_gradients_and_one_chunk)
{
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    {
      SsTraceConfig c = of_shape (&shapes[i], "liger");
      g_autoptr (SsProgram) p = ss_trace (&c, &fixture_h100, FALSE, NULL);
      FixturePhase f = fixture_phase (p, 1, 1, SS_PHASE_LOSS);
      const SsLlamaConfig *m = ss_llama_config (&c.model);
      gint64 t = shapes[i].b * shapes[i].s, h = m->hidden_size, v = m->vocab_size;
      guint64 grads = (guint64) (2 * t * h + 2 * v * h);
      guint64 chunk = (guint64) (2 * ss_fused_linear_chunk (t, h, v) * v);

      cr_expect (eq (u64, f.peak_bytes - f.start_bytes, grads + chunk + small_of_loss (&c)),
                 "shape %u", i);
      cr_expect (eq (u64, f.end_bytes - f.start_bytes, grads - (guint64) (2 * t * h) + 4),
                 "shape %u", i);
    }
}

/* f32 cannot be accumulated by addmm: a whole product a chunk.  Autocast: f32 gradients, the
 * weight cast twice (once cached, once for its transpose), a chunk of hidden states cast; T =
 * 2048, chunks of 64. */
Test (liger, the_fused_loss_in_other_precisions)
{
  const guint64 t = 2048, h = 4096, v = 128256, chunk = 64;
  const struct { const char *precision; guint64 bytes; } rows[] = {
    { "fp32", 4 * t * h + 4 * v * h + 4 * v * h + 4 * chunk * v },
    { "bf16-amp", 4 * t * h + 4 * v * h + 2 * v * h + 2 * v * h + 2 * chunk * v + 2 * chunk * h },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      SsTraceConfig c = fixture_config ("llama", "liger", 1, 1, 2048);
      g_autoptr (SsProgram) p = NULL;
      FixturePhase f;

      c.precision = ss_precision_find (rows[i].precision);
      p = ss_trace (&c, &fixture_h100, FALSE, NULL);
      f = fixture_phase (p, 1, 1, SS_PHASE_LOSS);
      cr_expect (eq (u64, f.peak_bytes - f.start_bytes, rows[i].bytes + small_of_loss (&c)), "%s",
                 rows[i].precision);
    }
}

/* a frozen head: no gradient of the weight, anywhere */
Test (liger, a_frozen_head_has_no_gradient)
{
  char *targets[] = { "q", "v", NULL };
  SsTraceConfig c = fixture_config ("llama", "liger", 2, 1, 2048);
  guint64 h = 4096, v = 128256;
  g_autoptr (SsProgram) p = NULL;
  FixturePhase f;
  guint64 flops;

  c.adapter = (SsAdapter) { .type = "lora", .rank = 8, .targets = targets };
  p = ss_trace (&c, &fixture_h100, FALSE, NULL);
  f = fixture_phase (p, 1, 1, SS_PHASE_LOSS);
  cr_expect (
    eq (u64, f.peak_bytes - f.start_bytes, 2 * 2048 * h + 2 * 64 * v + small_of_loss (&c)));
  cr_expect (eq (uint, fixture_runs (p, 1, 1, SS_PHASE_LOSS, NULL, &flops), 2 * 32));
  cr_expect (eq (u64, flops, 2 * 2 * 2048 * h * v));
  /* nor have the norms */
  cr_expect (eq (uint, fixture_count (p, 1, 1, SS_PHASE_BACKWARD, 132 * h * 4), 0));
}

/* logits, gradient of the hidden states, of the weight: 2 T H V each, in chunks; Qwen3's last
 * chunk is as long as the others, at T = 1000 the last has 8 rows of 32 */
Test (liger, three_products_a_chunk)
{
  const struct { Shape shape; guint n_chunks;
  } rows[] = {
    { { "llama", 1, 1, 2048 }, 32 },
    { { "llama", 1, 1, 1000 }, 32 },
    { { "qwen3", 1, 1, 2048 }, 128 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      SsTraceConfig c = of_shape (&rows[i].shape, "liger");
      g_autoptr (SsProgram) p = ss_trace (&c, &fixture_h100, FALSE, NULL);
      const SsLlamaConfig *m = ss_llama_config (&c.model);
      guint64 flops, t = (guint64) rows[i].shape.s;

      cr_expect (
        eq (uint, fixture_runs (p, 1, 1, SS_PHASE_LOSS, NULL, &flops), 3 * rows[i].n_chunks));
      cr_expect (
        eq (u64, flops, 3 * 2 * t * (guint64) m->hidden_size * (guint64) m->vocab_size));
    }
}

/* The loss's gradient of the weight becomes .grad: backward makes one of (V, H) only, the
 * embedding's.  Each norm has one partial sum per multiprocessor.  No (T, I) but the gradient of
 * each layer's product. */
Test (liger, backward_writes_over_what_it_is_given)
{
  SsTraceConfig c = fixture_config ("llama", "liger", 3, 1, 2048);
  g_autoptr (SsProgram) p = ss_trace (&c, &fixture_h100, FALSE, NULL);

  cr_expect (eq (uint, fixture_count (p, 1, 1, SS_PHASE_BACKWARD, 2ull * 128256 * 4096), 1));
  cr_expect (eq (uint, fixture_count (p, 1, 1, SS_PHASE_BACKWARD, 4ull * 132 * 4096), 2 * 3 + 1));
  cr_expect (eq (uint, fixture_count (p, 1, 1, SS_PHASE_BACKWARD, 2ull * 2048 * 14336), 3));
}

/* A loss that is divided brings a gradient that is not 1: both saved gradients are scaled where
 * they lie. */
Test (liger, an_accumulated_loss_scales_its_gradients_in_place)
{
  SsTraceConfig c = fixture_config ("llama", "liger", 1, 1, 2048);
  g_autoptr (SsProgram) one = ss_trace (&c, &fixture_h100, FALSE, NULL);
  g_autoptr (SsProgram) two = NULL;
  FixturePhase first, second;
  guint64 flops;

  c.gradient_accumulation = 2;
  two = ss_trace (&c, &fixture_h100, FALSE, NULL);
  cr_expect (eq (
    uint, fixture_runs (one, 1, 1, SS_PHASE_BACKWARD, "triton::element_mul_kernel", &flops), 0));
  cr_expect (eq (
    uint, fixture_runs (two, 1, 1, SS_PHASE_BACKWARD, "triton::element_mul_kernel", &flops), 2));
  /* the second micro-batch's gradient of the weight stands beside .grad until it is added */
  first = fixture_phase (two, 1, 1, SS_PHASE_LOSS);
  second = fixture_phase (two, 1, 2, SS_PHASE_LOSS);
  cr_expect (eq (u64, second.end_bytes - second.start_bytes, first.end_bytes - first.start_bytes));
  cr_expect (eq (u64, second.end_bytes - second.start_bytes, 2ull * 128256 * 4096 + 4));
}

/* One choice at a time against Hugging Face's modules, bytes kept at the end of forward (logits
 * alive): a norm keeps x and its result instead of an f32 copy of x, the normed x and the
 * result: 4 T H less; the gated activation keeps three of (T, I) instead of four; the rotation
 * keeps the same sizes. */
Test (liger, each_choice_saves_its_own)
{
  const guint64 t = 2048, h = 4096, f = 14336, n_layers = 2;
  const struct { const char *choice; guint64 less;
  } rows[] = {
    { "norm", (2 * n_layers + 1) * 4 * t * h },
    { "mlp", n_layers * 2 * t * f },
    { "rope", 0 },
    { "loss", 0 },
  };
  SsTraceConfig hf = fixture_config ("llama", "hf-sdpa", 2, 1, 2048);
  g_autoptr (SsProgram) p = ss_trace (&hf, &fixture_h100, FALSE, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      SsTraceConfig c = hf;
      g_autoptr (SsProgram) q = NULL;

      fixture_choose (&c, rows[i].choice, "liger");
      q = ss_trace (&c, &fixture_h100, FALSE, NULL);
      cr_expect (eq (u64,
                     fixture_phase (p, 1, 1, SS_PHASE_LOSS).start_bytes
                       - fixture_phase (q, 1, 1, SS_PHASE_LOSS).start_bytes,
                     rows[i].less),
                 "%s", rows[i].choice);
    }
}

/* The f32 logits hold their own gradient: no log-probabilities.  At the checks of the targets:
 * an i64 per row and an i64 scalar. */
Test (liger, cross_entropy_alone_needs_one_copy_of_the_logits)
{
  SsTraceConfig c = fixture_config ("llama", "hf-sdpa", 2, 1, 1000);
  g_autoptr (SsProgram) p = NULL;
  FixturePhase loss;
  const guint64 t = 1000, v = 128256;

  fixture_choose (&c, "loss", "liger");
  p = ss_trace (&c, &fixture_h100, FALSE, NULL);
  loss = fixture_phase (p, 1, 1, SS_PHASE_LOSS);
  cr_expect (
    eq (u64, loss.peak_bytes - loss.start_bytes, 4 * t * v + small_of_loss (&c) + 8 * t + 8));
  /* backward casts it to bf16 and makes no other of that size */
  cr_expect (eq (uint, fixture_count (p, 1, 1, SS_PHASE_BACKWARD, 4 * t * v), 0));
  cr_expect (eq (uint, fixture_count (p, 1, 1, SS_PHASE_BACKWARD, 2 * t * v), 1));
}

/* A recomputed layer keeps its input only; what the layer would keep is made again, in place as
 * before. */
Test (liger, checkpointed_layers_keep_their_input)
{
  SsTraceConfig c = fixture_config ("llama", "liger", 3, 1, 2048);
  g_autoptr (SsProgram) p = NULL;
  const guint64 t = 2048, h = 4096;
  FixturePhase f, loss;

  c.checkpointing.policy = ss_checkpoint_policy_find ("full");
  p = ss_trace (&c, &fixture_h100, FALSE, NULL);
  f = fixture_phase (p, 1, 1, SS_PHASE_FORWARD);
  loss = fixture_phase (p, 1, 1, SS_PHASE_LOSS);
  /* three inputs, last residual, its norm and roots, cos and sin, position ids */
  cr_expect (eq (u64, loss.start_bytes - f.start_bytes - WORKSPACE,
                 5 * 2 * t * h + 4 * t + 2 * 2 * t * 128 + 8 * t));
}
