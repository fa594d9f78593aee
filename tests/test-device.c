/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <glib/gstdio.h>
#include <string.h>

#include "hw/device.h"
#include "hw/op-time.h"
#include "hw/xml-node.h"

/* Round numbers: matrix products reach 100 * 0.5 * 0.8 = 40 TFLOP/s in bf16 and 4 in fp32,
 * attention 40 forward and 20 backward, memory 0.8 TB/s, optimizers 0.9. */
static const char round_text[]
  = "<device name='Round'>\n"
    " <memory capacity='80 GiB' context='1 GiB' bandwidth='1 TB/s' l2='50 MiB' source='none'/>\n"
    " <compute capability='9.0' multiprocessors='100' threads-per-multiprocessor='2048'"
    " matmul-workspace='32 MiB' source='none'/>\n"
    " <peak bf16='100 TFLOP/s' fp16='100 TFLOP/s' fp32='10 TFLOP/s' source='none'/>\n"
    " <efficiency matmul='0.5' sustained='0.8' memory='0.8' multi-tensor='0.9'"
    " attention-forward='0.4' attention-backward='0.2' source='none'/>\n"
    " <launch kernel-floor='2 us' latency='4 us' forward-issue='10 us' backward-issue='12 us'"
    " optimizer-issue='6 us' further-launch='3 us' segment-call='100 us' queue-depth='1024' "
    "source='none'/>\n"
    "</device>\n";

static SsDevice *
load_text (const char *text, GError **error)
{
  g_autofree char *folder = g_dir_make_tmp ("stepsim-XXXXXX", NULL),
                  *path = g_build_filename (folder, "round.xml", NULL);
  SsDevice *device;

  cr_assert (g_file_set_contents (path, text, -1, NULL));
  device = ss_device_load_file (path, error);
  if (error != NULL && *error != NULL)
    {
      g_autofree char *prefix = g_strdup_printf ("%s/", folder);
      g_auto (GStrv) parts = g_strsplit ((*error)->message, prefix, -1);

      g_free ((*error)->message);
      (*error)->message = g_strjoinv ("", parts);
    }
  g_remove (path);
  g_rmdir (folder);
  return device;
}

/* sources: hw/devices; what is not whole bytes is rounded */
Test (device, the_first_six_are_what_the_framework_sees)
{
  static const struct
  {
    const char *id;
    guint64 capacity_bytes, context_bytes, workspace_bytes;
    guint capability, n_multiprocessors, n_threads;
  } rows[] = {
    { "h100-sxm-80gb", G_GUINT64_CONSTANT (84929347584), 697303040, 33554432, 90, 132, 2048 },
    { "a100-sxm-80gb", G_GUINT64_CONSTANT (85094039552), 500000000, 8519680, 80, 108, 2048 },
    { "a100-sxm-40gb", G_GUINT64_CONSTANT (42298834944), 500000000, 8519680, 80, 108, 2048 },
    { "rtx-4090", G_GUINT64_CONSTANT (25386352640), 450000000, 8519680, 89, 128, 1536 },
    /* 139.80 * 2^30 = 150,109,106,995.2; 0.65 * 2^30 = 697,932,185.6 */
    { "h200-sxm-141gb", G_GUINT64_CONSTANT (150109106995), 697932186, 33554432, 90, 132, 2048 },
    /* 178.35 * 2^30 = 191,501,854,310.4; 0.70 * 2^30 = 751,619,276.8 */
    { "b200-sxm-180gb", G_GUINT64_CONSTANT (191501854310), 751619277, 33554432, 100, 148, 2048 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (SsDevice) device = ss_device_load (rows[i].id, &error);
      const SsTarget *target;

      cr_assert (device != NULL, "%s: %s", rows[i].id, error == NULL ? "" : error->message);
      target = ss_device_target (device);
      cr_expect (eq (str, (char *) ss_device_id (device), (char *) rows[i].id));
      cr_expect (eq (u64, ss_device_capacity_bytes (device), rows[i].capacity_bytes), "%s",
                 rows[i].id);
      cr_expect (eq (u64, ss_device_context_bytes (device), rows[i].context_bytes), "%s",
                 rows[i].id);
      cr_expect (eq (u64, target->workspace_bytes, rows[i].workspace_bytes), "%s", rows[i].id);
      cr_expect (eq (uint, target->compute_capability, rows[i].capability), "%s", rows[i].id);
      cr_expect (eq (uint, target->n_multiprocessors, rows[i].n_multiprocessors), "%s", rows[i].id);
      cr_expect (eq (uint, target->threads_per_multiprocessor, rows[i].n_threads), "%s",
                 rows[i].id);
      cr_expect (not (target->is_deterministic));
    }
}

Test (device, every_shipped_file_keeps_the_letter_of_the_schema)
{
  g_auto (GStrv) ids = ss_data_list ("hw/devices");

  cr_assert (ge (uint, g_strv_length (ids), 30));
  for (guint i = 0; ids[i] != NULL; i++)
    {
      g_autofree char *name = g_strdup_printf ("hw/devices/%s.xml", ids[i]),
                      *path = ss_data_find (name);
      g_autoptr (SsProblems) problems = ss_problems_new ();
      g_autoptr (SsXmlDocument) document
          = ss_xml_document_open (path, "device", "hw/device.xsd", problems);
      g_autoptr (GError) error = NULL;

      cr_assert (document != NULL && ss_xml_document_validate (document, "hw/device.xsd", problems),
                 "%s", ids[i]);
      cr_assert (ss_problems_settle (problems, &error));
    }
}

/* Every device is below its name's size, and says in its sources how its capacity is known. */
Test (device, the_capacity_is_below_the_name_and_has_a_source)
{
  g_auto (GStrv) ids = ss_data_list ("hw/devices");

  for (guint i = 0; ids[i] != NULL; i++)
    {
      g_autoptr (SsDevice) device = ss_device_load (ids[i], NULL);
      g_autofree char *name = g_strdup_printf ("hw/devices/%s.xml", ids[i]),
                      *path = ss_data_find (name), *text = NULL;
      const char *unit = g_strrstr (ss_device_name (device), "GB"), *first = unit;

      cr_assert (g_file_get_contents (path, &text, NULL, NULL));
      cr_expect (strstr (text, "source=\"capacity [P] ") || strstr (text, "source=\"capacity [E] ")
                   || strstr (text, "source=\"capacity, l2 [P] "), "%s", ids[i]);
      if (unit == NULL || strstr (ss_device_name (device), "one of its two dies"))
        continue;
      while (g_ascii_isdigit (first[-1]))
        first--;
      cr_expect (lt (u64, ss_device_capacity_bytes (device),
                     g_ascii_strtoull (first, NULL, 10) << 30), "%s", ids[i]);
    }
}

Test (device, published_peaks_are_read)
{
  g_autoptr (SsDevice) device = ss_device_load ("h100-sxm-80gb", NULL);

  cr_assert (eq (str, (char *) ss_device_name (device), "NVIDIA H100 SXM 80GB"));
  cr_assert (eq (dbl, ss_device_matmul_peak_flop_per_s (device, SS_BF16), 989.4e12));
  cr_assert (eq (dbl, ss_device_matmul_peak_flop_per_s (device, SS_F16), 989.4e12));
  cr_assert (eq (dbl, ss_device_matmul_peak_flop_per_s (device, SS_F32), 67e12));
  cr_assert (eq (dbl, ss_device_bandwidth_bytes_per_s (device), 3.35e12));
  cr_assert (eq (u64, ss_device_l2_bytes (device), 52428800));
  cr_assert (eq (uint, ss_device_queue_depth (device), 1024));
  cr_assert (epsilon_eq (dbl, ss_device_launch_latency_s (device), 4e-6, 1e-12));
}

Test (device, an_unknown_name_gets_the_near_ones)
{
  static const struct
  {
    const char *name, *message;
  } rows[] = {
    /* and the option that plays a size, as far as the name tells one */
    { "h100-96gb", "device \"h100-96gb\" is not known; near: gh200-96gb, h20-96gb; a card with "
                   "another memory is one of them with --capacity=\"96 GiB\"" },
    { "a100", "device \"a100\" is not known; near: a100-pcie-40gb, a100-pcie-80gb, "
              "a100-sxm-40gb, a100-sxm-80gb; a card with another memory is one of them with "
              "--capacity=\"24 GiB\"" },
    { "../h100-sxm-80gb", "device \"../h100-sxm-80gb\" is not known; near: h100-sxm-80gb" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;

      cr_assert (ss_device_load (rows[i].name, &error) == NULL);
      cr_assert (error->domain == SS_HW_ERROR && error->code == SS_HW_ERROR_UNKNOWN);
      cr_assert (g_str_has_prefix (error->message, rows[i].message), "%s", error->message);
    }
}

Test (device, every_bad_value_is_told_with_its_line)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SsDevice) device = load_text (
    "<device name='Bad'>\n"
    "<memory capacity='80' context='1 GiB' bandwidth='1 TiB/s' l2='50 MiB' source='x'/>\n"
    "<compute capability='9' multiprocessors='0' threads-per-multiprocessor='2048'"
    " matmul-workspace='-1 B'\n source='x'/>\n"
    "<peak bf16='100' fp16='100 TFLOP/s' fp32='10 TFLOPS' source='x'/>\n"
    "<efficiency matmul='1.5' sustained='0' memory='0.8' multi-tensor='0.9'"
    " attention-forward='0.4'\n attention-backward='0.2' source='x'/>\n"
    "<launch kernel-floor='2' latency='4 us' forward-issue='10 us' backward-issue='12 us'\n"
    " optimizer-issue='6 us' further-launch='2 s' segment-call='1 us' queue-depth='many' "
    "source='x'/>\n"
    "</device>\n",
    &error);

  cr_assert (device == NULL);
  cr_assert (error->domain == SS_HW_ERROR && error->code == SS_HW_ERROR_INPUT);
  cr_assert (eq (
      str, error->message,
      "round.xml:2: capacity: \"80\" has no unit; "
      "expected B, KiB, MiB, GiB, TiB, kB, MB, GB or TB\n"
      "round.xml:2: bandwidth: \"1 TiB/s\" has an unknown unit; "
      "expected B/s, kB/s, MB/s, GB/s or TB/s\n"
      "round.xml:3: capability: \"9\" is not like 9.0\n"
      "round.xml:3: multiprocessors: \"0\" is not between 1 and 65536\n"
      "round.xml:3: matmul-workspace: \"-1 B\" has a sign; a plain number is expected\n"
      "round.xml:5: bf16: \"100\" has no unit; expected GFLOP/s, TFLOP/s or PFLOP/s\n"
      "round.xml:5: fp32: \"10 TFLOPS\" has an unknown unit; expected GFLOP/s, TFLOP/s or PFLOP/s\n"
      "round.xml:6: matmul: \"1.5\" is not between 0 and 1\n"
      "round.xml:6: sustained: an efficiency of nothing takes for ever\n"
      "round.xml:8: kernel-floor: \"2\" has no unit; expected ns, us, ms or s\n"
      "round.xml:9: further-launch: is longer than 1 s\n"
      "round.xml:9: queue-depth: \"many\" is not a whole number"));
}

Test (device, a_context_larger_than_the_memory_is_refused)
{
  g_autoptr (GString) text = g_string_new (round_text);
  g_autoptr (GError) error = NULL;

  g_string_replace (text, "context='1 GiB'", "context='80 GiB'", 1);
  cr_assert (load_text (text->str, &error) == NULL);
  cr_assert (eq (str, error->message, "round.xml:2: context: leaves nothing of the capacity"));
}

/* ---- op time ---- */

static SsDevice *
round_device (void)
{
  SsDevice *device = load_text (round_text, NULL);

  cr_assert (device != NULL);
  return device;
}

static const struct
{
  const char *name;
  SsOp op;
  double time_s;
} times[] = {
  /* 4e12 / 40e12 = 0.1 s; 8e9 / 0.8e12 = 0.01 s; floor 2 us */
  { "compute bound",
    { .op_class = SS_OP_MATMUL, .dtype = SS_BF16, .flops = 4000000000000, .bytes = 8000000000 },
    0.100002 },
  /* 4e9 / 40e12 = 0.1 ms; 8e9 / 0.8e12 = 10 ms */
  { "memory bound",
    { .op_class = SS_OP_MATMUL, .dtype = SS_BF16, .flops = 4000000000, .bytes = 8000000000 },
    0.010002 },
  /* 4e12 / (10e12 * 0.4) = 1 s: no TF32 */
  { "fp32", { .op_class = SS_OP_MATMUL, .dtype = SS_F32, .flops = 4000000000000 }, 1.000002 },
  /* 0.8e9 / 0.8e12 = 1 ms, whatever the flops */
  { "pointwise",
    { .op_class = SS_OP_MEMORY, .dtype = SS_BF16, .flops = 4000000000000, .bytes = 800000000 },
    0.001002 },
  { "nothing to do", { .op_class = SS_OP_MEMORY, .dtype = SS_BF16 }, 2e-6 },
  { "no matrix type", { .op_class = SS_OP_MATMUL, .dtype = SS_I64 }, 2e-6 },
  /* 0.9e9 / 0.9e12 = 1 ms and 50 floors */
  { "fused optimizer",
    { .op_class = SS_OP_MULTI_TENSOR, .dtype = SS_F32, .bytes = 900000000, .n_launches = 50 },
    0.0011 },
  /* 4e12 * (1 + 128/1024) / 40e12 = 0.1125 s */
  { "causal attention",
    { .op_class = SS_OP_ATTENTION,
      .dtype = SS_BF16,
      .flops = 4000000000000,
      .shape = { 1, 1024, 1024, 128 },
      .is_causal = TRUE },
    0.112502 },
  /* one tile is computed whole, which is twice the half: 4e12 * 2 / 40e12 */
  { "short causal attention",
    { .op_class = SS_OP_ATTENTION,
      .dtype = SS_BF16,
      .flops = 4000000000000,
      .shape = { 1, 64, 64, 128 },
      .is_causal = TRUE },
    0.200002 },
  { "full attention",
    { .op_class = SS_OP_ATTENTION,
      .dtype = SS_BF16,
      .flops = 4000000000000,
      .shape = { 1, 1024, 1024, 128 } },
    0.100002 },
  /* 4e12 / 20e12 */
  { "attention backward",
    { .op_class = SS_OP_ATTENTION,
      .dtype = SS_BF16,
      .flops = 4000000000000,
      .is_backward = TRUE },
    0.200002 },
  { "attention recomputed",
    { .op_class = SS_OP_ATTENTION,
      .dtype = SS_BF16,
      .flops = 4000000000000,
      .is_backward = TRUE,
      .is_recompute = TRUE },
    0.100002 },
};

Test (op_time, the_slower_of_arithmetic_and_memory_decides)
{
  g_autoptr (SsDevice) device = round_device ();

  for (guint i = 0; i < G_N_ELEMENTS (times); i++)
    cr_expect (epsilon_eq (dbl, ss_op_time_s (&times[i].op, device), times[i].time_s, 1e-12), "%s",
               times[i].name);
}

Test (op_time, issue_costs_are_those_of_who_issues)
{
  static const struct
  {
    const char *name;
    SsOp op;
    double time_s;
  } rows[] = {
    { "forward", { .n_launches = 1 }, 10e-6 },
    { "backward", { .n_launches = 1, .is_backward = TRUE }, 12e-6 },
    { "recompute", { .n_launches = 1, .is_backward = TRUE, .is_recompute = TRUE }, 10e-6 },
    { "optimizer", { .n_launches = 0, .is_optimizer = TRUE }, 6e-6 },
    /* 6 + 9 * 3 */
    { "ten launches", { .n_launches = 10, .is_optimizer = TRUE }, 33e-6 },
  };
  g_autoptr (SsDevice) device = round_device ();

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    cr_expect (epsilon_eq (dbl, ss_op_issue_s (&rows[i].op, device), rows[i].time_s, 1e-12), "%s",
               rows[i].name);
}

Test (op_time, never_falls_with_more_flops_or_bytes)
{
  g_autoptr (SsDevice) device = ss_device_load ("h100-sxm-80gb", NULL);

  for (guint op_class = SS_OP_MATMUL; op_class <= SS_OP_MULTI_TENSOR; op_class++)
    {
      double before_flops = 0, before_bytes = 0;

      for (guint i = 0; i < 64; i++)
        {
          SsOp more_flops = {
            .op_class = (guint8)op_class, .dtype = SS_BF16, .bytes = 1 << 20, .n_launches = 1
          };
          SsOp more_bytes = more_flops;
          double time_s;

          more_flops.flops = G_GUINT64_CONSTANT (1) << i;
          more_bytes.bytes = G_GUINT64_CONSTANT (1) << i;
          time_s = ss_op_time_s (&more_flops, device);
          cr_assert (ge (dbl, time_s, before_flops));
          before_flops = time_s;
          time_s = ss_op_time_s (&more_bytes, device);
          cr_assert (ge (dbl, time_s, before_bytes));
          before_bytes = time_s;
        }
    }
}

Test (op_time, utilization_is_a_share)
{
  SsOp matmul = { .op_class = SS_OP_MATMUL,
                  .dtype = SS_BF16,
                  .flops = 4000000000000,
                  .bytes = 8000000000,
                  .n_launches = 1 };
  SsOp huge = {
    .op_class = SS_OP_MATMUL, .dtype = SS_BF16, .flops = SS_SIZE_OVERFLOW, .bytes = SS_SIZE_OVERFLOW
  };
  SsOp copy = { .op_class = SS_OP_MEMORY, .dtype = SS_BF16, .flops = 1000, .bytes = 800000000 };
  g_autoptr (SsDevice) device = round_device ();

  /* 4e12 / (100e12 * 0.1); 8e9 / (1e12 * 0.1) */
  cr_assert (epsilon_eq (dbl, ss_op_matmul_utilization (&matmul, device, 0.1), 0.4, 1e-12));
  cr_assert (epsilon_eq (dbl, ss_op_bandwidth_utilization (&matmul, device, 0.1), 0.08, 1e-12));
  cr_assert (eq (dbl, ss_op_matmul_utilization (&copy, device, 0.001), 0));
  cr_assert (epsilon_eq (dbl, ss_op_bandwidth_utilization (&copy, device, 0.001), 0.8, 1e-12));
  cr_assert (eq (dbl, ss_op_matmul_utilization (&matmul, device, 0), 0));
  cr_assert (eq (dbl, ss_op_matmul_utilization (&matmul, device, 1e-9), 1));
  cr_assert (lt (dbl, ss_op_time_s (&huge, device), 1e9));
  cr_assert (le (dbl, ss_op_matmul_utilization (&huge, device, ss_op_time_s (&huge, device)), 1));
}
