/* SPDX-License-Identifier: MIT
 *
 * torch.compile's graphs against hand sums: what forward keeps, the two highest points of backward,
 * what there are no rules for.  Letters as in the headers; 2 bytes of bf16.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "ops/core/tape.h"
#include "trace-fixture.h"

#define WORKSPACE 33554432

typedef struct
{
  const char *model_type, *attention;
  gint64 n_layers, b, s;
} Shape;

static SsTraceConfig
of_shape (const Shape *x)
{
  SsTraceConfig c = fixture_config (x->model_type, "compiled", x->n_layers, x->b, x->s);

  fixture_choose (&c, "attention", x->attention);
  return c;
}

/* Per layer: its input, the normed one, the residual after attention, the MLP's normed input (4
 * H); q, k, v and attention's output, all with the query heads under a mask; gate, up and their
 * product; log-sum-exp, two roots a row, random state (two i64; flash: 24 bytes).  Qwen3: q and
 * k before their norms, with roots. */
static guint64
kept_per_layer (const SsTraceConfig *c, gboolean is_masked)
{
  const SsLlamaConfig *m = ss_llama_config (&c->model);
  guint64 t = (guint64) (c->micro_batch * c->sequence_length), d = (guint64) m->head_dim;
  guint64 q = (guint64) m->n_heads * d, kv = is_masked ? q : (guint64) m->n_kv_heads * d;
  guint64 f = (guint64) m->intermediate_size;
  guint64 widths = 4 * (guint64) m->hidden_size + 2 * q + 2 * kv + 3 * f;
  guint64 bytes = 2 * t * widths + 4 * t * (guint64) m->n_heads + 8 * t + (is_masked ? 16 : 24);

  if (m->has_qk_norm)
    bytes += (guint64) (m->n_heads + m->n_kv_heads) * (2 * t * d + 4 * t);
  return bytes;
}

/* Once: last residual, its norm and roots; mask; logits, their maximum and the log of the sum a
 * row; labels in rows that begin at multiples of 128 bytes; the loss and the number of targets. */
static guint64
kept_once (const SsTraceConfig *c, gboolean is_masked)
{
  guint64 b = (guint64) c->micro_batch, s = (guint64) c->sequence_length, t = b * s;
  guint64 stride = s + 1 > 1024 ? (s + 1 + 15) / 16 * 16 : s + 1;
  const SsLlamaConfig *m = ss_llama_config (&c->model);

  return 4 * t * (guint64) m->hidden_size + 4 * t + (is_masked ? 2 * b * s * s : 0)
         + 2 * t * (guint64) m->vocab_size + 8 * t + 8 * ((b - 1) * stride + s + 1) + 8;
}

Test (compiled, forward_keeps_what_the_formula_counts)
{
  const Shape shapes[] = {
    { "llama", "sdpa", 2, 1, 2048 },       { "llama", "sdpa", 3, 4, 2048 },
    { "llama", "sdpa", 2, 2, 512 },        { "qwen3", "sdpa", 2, 1, 2048 },
    { "llama", "sdpa-flash", 2, 1, 2048 }, { "qwen3", "sdpa-flash", 3, 2, 1024 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    {
      SsTraceConfig c = of_shape (&shapes[i]);
      gboolean is_masked = g_str_equal (shapes[i].attention, "sdpa");
      g_autoptr (SsProgram) p = ss_trace (&c, &fixture_h100, FALSE, NULL);
      FixturePhase f = fixture_phase (p, 1, 1, SS_PHASE_FORWARD);
      FixturePhase loss = fixture_phase (p, 1, 1, SS_PHASE_LOSS);
      guint64 kept
        = (guint64) shapes[i].n_layers * kept_per_layer (&c, is_masked) + kept_once (&c, is_masked);

      cr_expect (eq (u64, loss.end_bytes - f.start_bytes - WORKSPACE, kept), "shape %u", i);
      /* nothing above its end */
      cr_expect (eq (u64, loss.peak_bytes, loss.end_bytes), "shape %u", i);
    }
}

/* f32 parameters: casts of every linear weight, the head's too; the residual stream is f32: the
 * layer's input and the residual after attention are twice as large, but not the last, which is
 * not summed. */
Test (compiled, autocast_keeps_casts_and_a_wide_residual)
{
  const Shape shape = { "llama", "sdpa", 2, 1, 2048 };
  SsTraceConfig c = of_shape (&shape);
  g_autoptr (SsProgram) p = NULL;
  guint64 t = 2048, h = 4096, kv = 1024, f = 14336, v = 128256;
  guint64 weights = 2 * (2 * h * h + 2 * kv * h + 3 * f * h) + v * h;
  FixturePhase forward, loss;

  c.precision = ss_precision_find ("bf16-amp");
  p = ss_trace (&c, &fixture_h100, FALSE, NULL);
  forward = fixture_phase (p, 1, 1, SS_PHASE_FORWARD);
  loss = fixture_phase (p, 1, 1, SS_PHASE_LOSS);
  cr_expect (
    eq (u64, loss.end_bytes - forward.start_bytes - WORKSPACE,
        2 * kept_per_layer (&c, TRUE) + kept_once (&c, TRUE) + 2 * weights + 2 * 2 * 2 * t * h));
}

/* At its beginning: zeros for the gradient of the logits that nobody asked for, and the logits'
 * own; the initial one. */
Test (compiled, backward_begins_with_two_tensors_of_the_logits_size)
{
  const Shape shapes[] = { { "llama", "sdpa", 2, 1, 8192 }, { "qwen3", "sdpa", 2, 4, 2048 } };

  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    {
      SsTraceConfig c = of_shape (&shapes[i]);
      g_autoptr (SsProgram) p = ss_trace (&c, &fixture_h100, FALSE, NULL);
      FixturePhase f = fixture_phase (p, 1, 1, SS_PHASE_BACKWARD);
      guint64 logits = 2 * 8192 * (guint64) ss_llama_config (&c.model)->vocab_size;

      cr_expect (eq (u64, f.peak_bytes - f.start_bytes, 2 * logits + 4), "shape %u", i);
    }
}

/* At its end every gradient is there, and the embedding's once more in f32; the loss and the
 * initial one. Tied: the head's part apart from their sum, and the gradient of the embedding's
 * output. */
Test (compiled, backward_ends_with_the_embedding_summed_in_f32)
{
  const Shape shapes[] = { { "llama", "sdpa", 2, 1, 2048 }, { "qwen3", "sdpa", 2, 1, 128 } };

  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    {
      SsTraceConfig c = of_shape (&shapes[i]);
      g_autoptr (SsProgram) p = ss_trace (&c, &fixture_h100, FALSE, NULL);
      FixturePhase f = fixture_phase (p, 1, 1, SS_PHASE_BACKWARD);
      const SsLlamaConfig *m = ss_llama_config (&c.model);
      guint64 t = (guint64) shapes[i].s, h = (guint64) m->hidden_size;
      guint64 embedding = (guint64) m->vocab_size * h;
      guint64 tied = m->tie_word_embeddings ? 2 * embedding + 2 * t * h : 0;

      cr_expect (eq (u64, f.peak_bytes - f.end_bytes, 4 * embedding + tied + 8), "shape %u", i);
    }
}

/* The gradients are handed out at the end, without copies; later ones are added. */
Test (compiled, gradients_are_taken_over_then_added)
{
  const Shape shape = { "llama", "sdpa", 2, 1, 512 };
  SsTraceConfig c = of_shape (&shape);
  g_autoptr (SsProgram) p = NULL;
  guint64 flops;

  c.gradient_accumulation = 2;
  p = ss_trace (&c, &fixture_h100, FALSE, NULL);
  cr_expect (eq (uint, fixture_runs (p, 1, 1, SS_PHASE_BACKWARD, "aten::add_", &flops), 0));
  cr_expect (eq (uint, fixture_runs (p, 1, 1, SS_PHASE_BACKWARD, "aten::clone", &flops), 0));
  /* 9 parameters a layer, embedding, norm and head */
  cr_expect (eq (uint, fixture_runs (p, 1, 2, SS_PHASE_BACKWARD, "aten::add_", &flops), 2 * 9 + 3));
}

/* The same products as eager makes. */
Test (compiled, the_products_are_those_of_the_model)
{
  const Shape shape = { "qwen3", "sdpa", 3, 1, 1024 };
  SsTraceConfig c = of_shape (&shape), hf = fixture_config ("qwen3", "hf-sdpa", 3, 1, 1024);
  g_autoptr (SsProgram) p = ss_trace (&c, &fixture_h100, FALSE, NULL);
  g_autoptr (SsProgram) q = ss_trace (&hf, &fixture_h100, FALSE, NULL);
  const SsPhase phases[] = { SS_PHASE_FORWARD, SS_PHASE_BACKWARD };

  for (guint i = 0; i < G_N_ELEMENTS (phases); i++)
    {
      guint64 mine, eager;

      cr_expect (eq (uint, fixture_runs (p, 1, 1, phases[i], NULL, &mine),
                     fixture_runs (q, 1, 1, phases[i], NULL, &eager)));
      cr_expect (eq (u64, mine, eager));
    }
}

/* Causal flash computes half of the square: 2 S S D a head, and 5 S S D backward; under a mask
 * that could be any, twice that (kernels of one name differ by attention only). */
Test (compiled, under_a_mask_attention_computes_the_whole_square)
{
  const struct { const char *attention, *forward, *backward; guint64 times; } rows[] = {
    { "sdpa", "aten::_scaled_dot_product_efficient_attention",
      "aten::_scaled_dot_product_efficient_attention_backward", 2 },
    { "sdpa-flash", "aten::_scaled_dot_product_flash_attention",
      "aten::_scaled_dot_product_flash_attention_backward", 1 },
  };
  const guint64 square = 32ull * 1024 * 1024 * 128;

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const Shape shape = { "llama", rows[i].attention, 1, 1, 1024 };
      SsTraceConfig c = of_shape (&shape);
      g_autoptr (SsProgram) p = ss_trace (&c, &fixture_h100, FALSE, NULL);
      guint64 flops;

      cr_expect (eq (uint, fixture_runs (p, 1, 1, SS_PHASE_FORWARD, rows[i].forward, &flops), 1));
      cr_expect (eq (u64, flops, rows[i].times * 2 * square), "%s", rows[i].attention);
      cr_expect (eq (uint, fixture_runs (p, 1, 1, SS_PHASE_BACKWARD, rows[i].backward, &flops), 1));
      cr_expect (eq (u64, flops, rows[i].times * 5 * square), "%s", rows[i].attention);
    }
}

/* The same of eager's nodes. */
Test (compiled, eager_attention_without_a_mask_stays_causal)
{
  SsTraceConfig c = fixture_config ("llama", "hf-sdpa", 1, 1, 1024);
  g_autoptr (SsProgram) p = ss_trace (&c, &fixture_h100, FALSE, NULL);
  guint64 flops;

  fixture_runs (p, 1, 1, SS_PHASE_BACKWARD, "aten::_scaled_dot_product_flash_attention_backward",
                &flops);
  cr_expect (eq (u64, flops, 5 * 32ull * 1024 * 1024 * 128));
}

static void
expect_refused (const SsTraceConfig *c, const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SsProgram) p = ss_trace (c, &fixture_h100, FALSE, &error);

  cr_assert (zero (ptr, p), "%s", text);
  cr_expect (g_error_matches (error, SS_OPS_ERROR, SS_OPS_ERROR_UNSUPPORTED), "%s", text);
  cr_expect (g_str_has_suffix (error->message, text), "%s", error->message);
}

Test (compiled, what_has_no_rules_is_refused)
{
  const struct { const char *choice, *word, *text; } choices[] = {
    { "attention", "eager", "attention sdpa, sdpa-efficient and sdpa-flash only" },
    { "norm", "liger", "norm, rope, mlp and loss cannot be chosen" },
    { "loss", "direct", "norm, rope, mlp and loss cannot be chosen" },
  };
  char *targets[] = { "q", NULL };
  SsTraceConfig c = fixture_config ("llama", "compiled", 1, 1, 128), x;

  for (guint i = 0; i < G_N_ELEMENTS (choices); i++)
    {
      x = c;
      fixture_choose (&x, choices[i].choice, choices[i].word);
      expect_refused (&x, choices[i].text);
    }
  x = c;
  x.precision = ss_precision_find ("fp32");
  expect_refused (&x, "bf16 and bf16-amp only");
  x = c;
  x.checkpointing.policy = ss_checkpoint_policy_find ("full");
  expect_refused (&x, "runs without checkpointing only");
  x = c;
  x.adapter = (SsAdapter) { .type = "lora", .rank = 8, .targets = targets };
  expect_refused (&x, "models without adapters only");
  x = c;
  fixture_llama (&x)->attn_pdrop = 0.1;
  expect_refused (&x, "models without dropout only");
  x = c;
  fixture_llama (&x)->attention_bias = TRUE;
  expect_refused (&x, "linears without biases only");
  x = fixture_config ("qwen2", "compiled", 1, 1, 128);
  expect_refused (&x, "llama, mistral and qwen3 only");
  x = fixture_config ("gpt2", "compiled", 1, 1, 128);
  expect_refused (&x, "profile=\"compiled\" has no rules for gpt2");
}
