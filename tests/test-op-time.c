/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <glib/gstdio.h>

#include "hw/op-time.h"

/* Round numbers: products reach 100 * 0.5 = 50 TFLOP/s in bf16, 40 through a whole step,
 * FlashAttention 40 forward and 20 backward. */
static const char round_text[]
  = "<device name='Round'>\n"
    " <memory capacity='80 GiB' context='1 GiB' bandwidth='1 TB/s' l2='50 MiB' source='none'>\n"
    "  <kinds plain='0.8' cast='0.4' broadcast-fp32='0.8' broadcast-16='0.8' strided='0.5'"
    " reduce='0.8' softmax='0.8' layer-norm='0.8' dropout='0.8' gather='0.8' fused='0.8'"
    " multi-tensor='0.9' source='none'/></memory>\n"
    " <compute capability='9.0' multiprocessors='100' threads-per-multiprocessor='2048'"
    " matmul-workspace='32 MiB' clock='1000 MHz' source='none'/>\n"
    " <peak bf16='100 TFLOP/s' fp16='100 TFLOP/s' fp32='10 TFLOP/s' source='none'/>\n"
    " <gemm efficiency='0.5' k-ramp='0' memory='0.8' floor='2 us' tile-penalty='0' sharpness='20'"
    " weight-gradient='1.25' sustained='0.8' source='none'/>\n"
    " <attention kernel='flash' forward-64='0.4' forward-128='0.4' backward-64='0.2'"
    " backward-128='0.2' ramp='0' mask='1' source='none'/>\n"
    " <launch kernel-floor='2 us' graph-floor='1 us' source='none'/>\n"
    "</device>\n";

static const SsHostCosts round_host = {
  .forward_s = 10e-6, .inference_s = 5e-6, .backward_s = 12e-6, .optimizer_s = 6e-6,
  .further_launch_s = 3e-6, .compiled_s = 8e-6, .graph_kernel_s = 1e-6, .queue_depth = 1024,
};

static SsDevice *
round_device (const SsDeviceSettings *settings)
{
  g_autofree char *folder = g_dir_make_tmp ("stepsim-XXXXXX", NULL),
                  *path = g_build_filename (folder, "round.xml", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (SsDevice) plain = NULL, run = NULL;

  cr_assert (g_file_set_contents (path, round_text, -1, NULL));
  plain = ss_device_load_file (path, &error);
  g_remove (path);
  g_rmdir (folder);
  cr_assert (plain != NULL, "%s", error ? error->message : "");
  run = ss_device_with (plain, settings, NULL);
  return ss_device_with_host (run, &round_host);
}

/* 50 x 20 tiles of 256 x 128: ten waves of 100; 2 * 12800 * 2560 * 1000 = 6.5536e10 flops */
#define WHOLE_TILES { 1, 12800, 2560, 1000 }

static const struct
{
  const char *name;
  SsOp op;
  double time_s;
} times[] = {
  /* 6.5536e10 / 40e12 = 1.6384 ms; the floor 2 us */
  { "whole tiles",
    { .op_class = SS_OP_MATMUL, .dtype = SS_BF16, .alignment = 8, .shape = WHOLE_TILES },
    1.6404e-3 },
  /* 101 rows of tiles: two waves of 256 x 128, but 808 tiles of 64 x 64 are nine waves of an
   * eighth: 1.125 * 2 * 256 * 128 * 1000 * 100 / 40e12 */
  { "a tile too many",
    { .op_class = SS_OP_MATMUL, .dtype = SS_BF16, .alignment = 8,
      .shape = { 1, 25856, 128, 1000 } },
    1.8632e-4 },
  { "odd rows",
    { .op_class = SS_OP_MATMUL, .dtype = SS_BF16, .alignment = 1, .shape = WHOLE_TILES },
    2.2 * 1.6384e-3 + 2e-6 },
  { "weight gradient",
    { .op_class = SS_OP_MATMUL, .dtype = SS_BF16, .alignment = 8, .shape = WHOLE_TILES,
      .variant = SS_PRODUCT_WEIGHT_GRADIENT },
    1.25 * 1.6384e-3 + 2e-6 },
  /* no TF32, and vector units do not mind odd rows */
  { "fp32",
    { .op_class = SS_OP_MATMUL, .dtype = SS_F32, .alignment = 1, .shape = WHOLE_TILES },
    1.6386e-2 },
  /* 8e9 / 0.8e12 */
  { "memory bound product",
    { .op_class = SS_OP_MATMUL, .dtype = SS_BF16, .alignment = 8, .shape = { 1, 16, 16, 16 },
      .bytes = 8000000000 },
    0.010002 },
  /* 0.8e9 / 0.8e12 = 1 ms, whatever the flops */
  { "plain", { .op_class = SS_OP_MEMORY, .dtype = SS_BF16, .flops = 4000000, .bytes = 800000000 },
    0.001002 },
  { "cast", { .op_class = SS_OP_MEMORY, .variant = SS_MEMORY_CAST, .bytes = 800000000 }, 0.002002 },
  { "nothing to do", { .op_class = SS_OP_MEMORY, .dtype = SS_BF16 }, 2e-6 },
  /* 0.9e9 / 0.9e12 = 1 ms and 50 floors */
  { "fused optimizer",
    { .op_class = SS_OP_MULTI_TENSOR, .dtype = SS_F32, .bytes = 900000000, .n_launches = 50 },
    0.0011 },
  /* 4e12 * (1 + 128/1024) / 40e12 = 0.1125 s */
  { "causal attention",
    { .op_class = SS_OP_ATTENTION, .dtype = SS_BF16, .flops = 4000000000000,
      .shape = { 1, 1024, 1024, 128 }, .is_causal = TRUE },
    0.112502 },
  /* one tile is computed whole, which is twice the half: 4e12 * 2 / 40e12 */
  { "short causal attention",
    { .op_class = SS_OP_ATTENTION, .dtype = SS_BF16, .flops = 4000000000000,
      .shape = { 1, 64, 64, 128 }, .is_causal = TRUE },
    0.200002 },
  /* and 0.5e9 bytes of copies at 0.5e12 */
  { "full attention with repeated heads",
    { .op_class = SS_OP_ATTENTION, .dtype = SS_BF16, .flops = 4000000000000,
      .side_bytes = 500000000, .shape = { 1, 1024, 1024, 128 } },
    0.101002 },
  /* 4e12 / 20e12 */
  { "attention backward",
    { .op_class = SS_OP_ATTENTION, .dtype = SS_BF16, .flops = 4000000000000, .is_backward = TRUE },
    0.200002 },
  { "attention recomputed",
    { .op_class = SS_OP_ATTENTION, .dtype = SS_BF16, .flops = 4000000000000, .is_backward = TRUE,
      .is_recompute = TRUE },
    0.100002 },
};

Test (op_time, each_class_has_its_model)
{
  g_autoptr (SsDevice) device = round_device (&(SsDeviceSettings) { 0 });

  for (guint i = 0; i < G_N_ELEMENTS (times); i++)
    cr_expect (epsilon_eq (dbl, ss_op_time_s (&times[i].op, device), times[i].time_s,
                           1e-6 * times[i].time_s), "%s", times[i].name);
}

/* a held clock scales arithmetic alone, and stands for what a power limit does:
 * 6.5536e10 / (100e12 * 0.5 * 500 / 1000); TF32 is half of bf16's peak: 6.5536e10 / (50e12 * 0.4)
 */
Test (op_time, a_run_s_clock_and_tf32_change_arithmetic)
{
  g_autoptr (SsDevice) slow = round_device (&(SsDeviceSettings) { .clock_hz = 500e6 });
  g_autoptr (SsDevice) tf32 = round_device (&(SsDeviceSettings) { .has_tf32 = TRUE });
  SsOp copy = { .op_class = SS_OP_MEMORY, .bytes = 800000000 };
  SsOp fp32 = { .op_class = SS_OP_MATMUL, .dtype = SS_F32, .alignment = 8, .shape = WHOLE_TILES };

  cr_expect (epsilon_eq (dbl, ss_op_time_s (&times[0].op, slow), 2.62344e-3, 1e-9));
  cr_expect (epsilon_eq (dbl, ss_op_time_s (&copy, slow), 1.002e-3, 1e-9));
  cr_expect (epsilon_eq (dbl, ss_op_time_s (&fp32, tf32), 3.2788e-3, 1e-9));
  cr_expect (eq (dbl, ss_device_matmul_peak_flop_per_s (tf32, SS_F32), 50e12));
}

Test (op_time, a_device_that_names_no_clock_cannot_hold_one)
{
  g_autoptr (SsDevice) device = ss_device_load ("l40s", NULL);
  g_autoptr (GError) error = NULL;

  cr_assert (ss_device_with (device, &(SsDeviceSettings) { .clock_hz = 1e9 }, &error) == NULL);
  cr_assert (g_error_matches (error, SS_HW_ERROR, SS_HW_ERROR_INPUT));
  cr_assert (eq (str, error->message, "l40s does not say at which clock its shares of the peak "
                                      "were reached, so none can be held"));
}

Test (op_time, issue_costs_are_those_of_who_issues)
{
  static const struct
  {
    const char *name;
    SsOp op;
    double eager_s, compiled_s, graph_s;
  } rows[] = {
    { "recorded", { .n_launches = 1, .is_recorded = TRUE }, 10e-6, 8e-6, 1e-6 },
    { "not recorded", { .n_launches = 1 }, 5e-6, 8e-6, 1e-6 },
    { "backward", { .n_launches = 1, .is_backward = TRUE }, 12e-6, 8e-6, 1e-6 },
    { "recompute", { .n_launches = 1, .is_backward = TRUE, .is_recompute = TRUE,
                     .is_recorded = TRUE }, 10e-6, 8e-6, 1e-6 },
    /* 5 + 2 * 3; three kernels */
    { "three launches", { .n_launches = 3 }, 11e-6, 24e-6, 3e-6 },
    { "optimizer", { .n_launches = 0, .is_optimizer = TRUE }, 6e-6, 6e-6, 6e-6 },
    /* 6 + 9 * 3 */
    { "ten launches", { .n_launches = 10, .is_optimizer = TRUE }, 33e-6, 33e-6, 33e-6 },
  };
  g_autoptr (SsDevice) eager = round_device (&(SsDeviceSettings) { 0 });
  g_autoptr (SsDevice) compiled
    = round_device (&(SsDeviceSettings) { .host_mode = SS_HOST_COMPILED });
  g_autoptr (SsDevice) graph
    = round_device (&(SsDeviceSettings) { .host_mode = SS_HOST_CUDA_GRAPH });
  SsOp nothing = { .op_class = SS_OP_MEMORY };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      cr_expect (epsilon_eq (dbl, ss_op_issue_s (&rows[i].op, eager), rows[i].eager_s, 1e-12),
                 "%s", rows[i].name);
      cr_expect (epsilon_eq (dbl, ss_op_issue_s (&rows[i].op, compiled), rows[i].compiled_s,
                             1e-12), "%s", rows[i].name);
      cr_expect (epsilon_eq (dbl, ss_op_issue_s (&rows[i].op, graph), rows[i].graph_s, 1e-12),
                 "%s", rows[i].name);
    }
  cr_expect (epsilon_eq (dbl, ss_op_time_s (&nothing, graph), 1e-6, 1e-12));
}

/* (1 + ramp / keys): a row of 256 keys with a ramp of 256 takes twice as long a flop; 96 lies
 * between heads of 64 and 128: 1e12 / (100e12 * 0.3) */
Test (op_time, short_rows_and_small_heads_reach_less)
{
  const SsAttentionModel model = { .forward = { 0.2, 0.4, 0.4 }, .backward = { 0.2, 0.4, 0.4 },
                                   .ramp = 256, .mask = 1 };
  const SsChip chip = { .flop_per_s = 100e12, .bytes_per_s = 1e12, .n_multiprocessors = 100 };
  SsAttentionCall call = { .flops = 1e12, .n_keys = 256, .head_size = 64 };

  cr_expect (epsilon_eq (dbl, ss_attention_time_s (&model, &chip, &call), 0.1, 1e-9));
  call.head_size = 96;
  cr_expect (epsilon_eq (dbl, ss_attention_time_s (&model, &chip, &call), 2.0 / 30, 1e-9));
  call.bytes = 0.85e12;
  cr_expect (epsilon_eq (dbl, ss_attention_time_s (&model, &chip, &call), 1, 1e-9));
}

Test (op_time, never_falls_with_larger_products_or_more_bytes)
{
  g_autoptr (SsDevice) device = ss_device_load ("h100-sxm-80gb", NULL);
  double before_k = 0;

  for (guint op_class = SS_OP_MATMUL; op_class <= SS_OP_MULTI_TENSOR; op_class++)
    {
      double before = 0;

      for (guint i = 0; i < 63; i++)
        {
          SsOp op = { .op_class = (guint8) op_class, .dtype = SS_BF16, .n_launches = 1,
                      .alignment = 8, .shape = { 1, 64, 64, 64 },
                      .bytes = G_GUINT64_CONSTANT (1) << i };
          double time_s = ss_op_time_s (&op, device);

          cr_assert (ge (dbl, time_s, before));
          before = time_s;
        }
    }
  for (gint64 k = 1; k < G_GINT64_CONSTANT (1) << 50; k *= 2)
    {
      SsOp op = { .op_class = SS_OP_MATMUL, .dtype = SS_BF16, .alignment = 8,
                  .shape = { 1, 4096, 4096, k } };
      double time_s = ss_op_time_s (&op, device);

      cr_assert (ge (dbl, time_s, before_k));
      before_k = time_s;
    }
}

Test (op_time, utilization_is_a_share)
{
  SsOp matmul = { .op_class = SS_OP_MATMUL, .dtype = SS_BF16, .flops = 4000000000000,
                  .bytes = 8000000000, .n_launches = 1 };
  SsOp huge = { .op_class = SS_OP_MATMUL, .dtype = SS_BF16, .flops = SS_SIZE_OVERFLOW,
                .bytes = SS_SIZE_OVERFLOW,
                .shape = { G_MAXINT64, G_MAXINT64, G_MAXINT64, G_MAXINT64 } };
  SsOp copy = { .op_class = SS_OP_MEMORY, .dtype = SS_BF16, .flops = 1000, .bytes = 800000000 };
  g_autoptr (SsDevice) device = round_device (&(SsDeviceSettings) { 0 });

  /* 4e12 / (100e12 * 0.1); 8e9 / (1e12 * 0.1) */
  cr_assert (epsilon_eq (dbl, ss_op_matmul_utilization (&matmul, device, 0.1), 0.4, 1e-12));
  cr_assert (epsilon_eq (dbl, ss_op_bandwidth_utilization (&matmul, device, 0.1), 0.08, 1e-12));
  cr_assert (eq (dbl, ss_op_matmul_utilization (&copy, device, 0.001), 0));
  cr_assert (epsilon_eq (dbl, ss_op_bandwidth_utilization (&copy, device, 0.001), 0.8, 1e-12));
  cr_assert (eq (dbl, ss_op_matmul_utilization (&matmul, device, 0), 0));
  cr_assert (eq (dbl, ss_op_matmul_utilization (&matmul, device, 1e-9), 1));
  cr_assert (gt (dbl, ss_op_time_s (&huge, device), 0));
}
