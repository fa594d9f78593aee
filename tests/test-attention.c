/* SPDX-License-Identifier: MIT
 *
 * Which kernel scaled_dot_product_attention takes, and what it does to heads that the kernel
 * cannot take as they are: ATen/native/transformers/attention.cpp and cuda/sdp_utils.cpp.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "trace-fixture.h"

#define N_HEADS 6
#define N_KV_HEADS 2
#define TOKENS 64

static SsTraceConfig
config (const char *recipe, const char *choice, gint64 head_dim)
{
  const FixtureSizes sizes = {
    .hidden = 256, .intermediate = 320, .vocabulary = 500, .n_layers = 1, .n_heads = N_HEADS,
    .n_kv_heads = N_KV_HEADS, .head_dim = head_dim, .n_positions = TOKENS,
  };
  SsTraceConfig c = fixture_config ("llama", "hf-sdpa", 1, 1, TOKENS);

  c.model = fixture_model ("llama", &sizes);
  c.precision = ss_precision_find (recipe);
  fixture_choose (&c, "attention", choice);
  return c;
}

static SsProgram *
traced (const SsTraceConfig *c, guint capability, GError **error)
{
  SsTarget target = fixture_h100;

  target.compute_capability = capability;
  return ss_trace (c, &target, FALSE, error);
}

static guint
runs (const SsProgram *p, SsPhase phase, const char *name)
{
  guint64 flops;

  return fixture_runs (p, 1, 1, phase, name, &flops);
}

#define FLASH "aten::_scaled_dot_product_flash_attention"
#define EFFICIENT "aten::_scaled_dot_product_efficient_attention"
#define MATH "aten::_safe_softmax"

Test (attention, the_kernel_depends_on_type_head_and_device)
{
  const struct
  {
    const char *recipe;
    gint64 head_dim;
    guint capability;
    double dropout;
    const char *kernel;
  } rows[] = {
    { "bf16", 64, 90, 0, FLASH },      { "bf16", 100, 90, 0, FLASH },
    { "bf16", 256, 90, 0, FLASH },     { "bf16", 264, 90, 0, EFFICIENT },
    { "bf16", 260, 90, 0, MATH },      { "fp32", 64, 90, 0, EFFICIENT },
    { "fp32", 100, 90, 0, EFFICIENT }, { "fp32", 66, 90, 0, MATH },
    { "bf16", 224, 80, 0, FLASH },     { "bf16", 224, 89, 0, EFFICIENT },
    { "bf16", 192, 89, 0, FLASH },     { "bf16", 256, 89, 0, FLASH },
    { "bf16", 256, 89, 0.1, EFFICIENT }, { "bf16", 256, 100, 0.1, FLASH },
    /* flash from 8.0 on; below, the memory-efficient kernel, which has no bf16 there and asks
     * whole loads of half types alone */
    { "fp16-amp", 64, 80, 0, FLASH },  { "fp16-amp", 64, 75, 0, EFFICIENT },
    { "fp16-amp", 128, 70, 0, EFFICIENT }, { "fp16-amp", 100, 75, 0, MATH },
    { "bf16", 64, 75, 0, MATH },       { "fp32", 66, 75, 0, EFFICIENT },
  };
  const char *const kernels[] = { FLASH, EFFICIENT, MATH };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      SsTraceConfig c = config (rows[i].recipe, "sdpa", rows[i].head_dim);
      g_autoptr (SsProgram) p = NULL;

      fixture_set_dropout (&c, rows[i].dropout);
      p = traced (&c, rows[i].capability, &error);
      cr_assert (ne (ptr, p, NULL), "row %u: %s", i, error ? error->message : "");
      for (guint k = 0; k < G_N_ELEMENTS (kernels); k++)
        cr_assert (eq (u32, runs (p, SS_PHASE_FORWARD, kernels[k]),
                       g_str_equal (kernels[k], rows[i].kernel)),
                   "row %u: %s", i, kernels[k]);
    }
}

/* Heads of 100 go to the kernel as 104. Forward keeps q, k, v and the output so, and q, k and v of
 * 100 are dropped; backward makes the output's gradient 104 wide, lays it and the output
 * token-major for the kernel, and cuts dq, dk and dv. */
Test (attention, flash_takes_copies_of_heads_that_are_no_multiple_of_8)
{
  g_autoptr (GError) error = NULL;
  SsTraceConfig c = config ("bf16", "sdpa", 100);
  g_autoptr (SsProgram) p = traced (&c, 90, &error);
  const guint64 q = 2 * TOKENS * N_HEADS * 104, k = 2 * TOKENS * N_KV_HEADS * 104;

  cr_assert (ne (ptr, p, NULL));
  cr_assert (eq (u32, fixture_count (p, 1, 1, SS_PHASE_FORWARD, q), 2));
  cr_assert (eq (u32, fixture_count (p, 1, 1, SS_PHASE_FORWARD, k), 2));
  /* the gradient, two copies, dq; dk and dv expanded to all heads */
  cr_assert (eq (u32, fixture_count (p, 1, 1, SS_PHASE_BACKWARD, q), 4 + 2));
  cr_assert (eq (u32, fixture_count (p, 1, 1, SS_PHASE_BACKWARD, k), 2));
  cr_assert (eq (u32, runs (p, SS_PHASE_BACKWARD, "aten::constant_pad_nd"), 3));
}

Test (attention, an_explicit_kernel_that_cannot_take_the_heads_is_an_error)
{
  g_autoptr (GError) error = NULL;
  SsTraceConfig c = config ("bf16", "sdpa-efficient", 100);
  g_autoptr (SsProgram) p = traced (&c, 90, &error);

  cr_assert (eq (ptr, p, NULL));
  cr_assert (g_error_matches (error, SS_OPS_ERROR, SS_OPS_ERROR_SHAPE));
  cr_assert (g_strrstr (error->message, "a multiple of 8") != NULL);
}

static guint
n_of_kernel (const SsProgram *p, SsAttentionKernel kernel)
{
  guint n = 0;

  for (guint i = 0; i < ss_program_n_ops (p); i++)
    n += ss_program_op (p, i)->op_class == SS_OP_ATTENTION
         && ss_program_op (p, i)->variant == kernel;
  return n;
}

/* sdp_utils.cpp puts cuDNN first on 9.0 and 10.x: heads of a multiple of 8, on 10.x up to 128 */
Test (attention, cudnn_is_what_sdpa_prices_on_hopper_and_blackwell)
{
  const struct
  {
    const char *attention;
    gint64 head_dim;
    guint capability;
    SsAttentionKernel kernel;
  } rows[] = {
    { "sdpa", 64, 90, SS_KERNEL_CUDNN },        { "sdpa", 256, 90, SS_KERNEL_CUDNN },
    { "sdpa", 100, 90, SS_KERNEL_FLASH },       { "sdpa", 128, 100, SS_KERNEL_CUDNN },
    { "sdpa", 136, 100, SS_KERNEL_FLASH },      { "sdpa", 64, 80, SS_KERNEL_FLASH },
    { "sdpa", 64, 120, SS_KERNEL_FLASH },       { "sdpa-flash", 64, 90, SS_KERNEL_FLASH },
    { "sdpa-cudnn", 64, 80, SS_KERNEL_CUDNN },  { "fa3", 64, 90, SS_KERNEL_FA3 },
    { "sdpa-efficient", 64, 90, SS_KERNEL_EFFICIENT },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      SsTraceConfig c = config ("bf16", rows[i].attention, rows[i].head_dim);
      g_autoptr (SsProgram) p = traced (&c, rows[i].capability, NULL);

      cr_assert (ne (ptr, p, NULL), "row %u", i);
      for (guint k = 0; k < SS_N_ATTENTION_KERNELS; k++)
        cr_expect (eq (int, n_of_kernel (p, (SsAttentionKernel) k) > 0, k == rows[i].kernel),
                   "row %u, kernel %u", i, k);
    }
}
