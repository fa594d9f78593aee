/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <glib/gstdio.h>
#include <string.h>

#include "hw/device.h"
#include "hw/op-time.h"
#include "hw/xml-node.h"

static const char round_text[]
  = "<device name='Round'>\n"
    " <memory capacity='80 GiB' context='1 GiB' bandwidth='1 TB/s' l2='50 MiB' source='none'/>\n"
    " <compute capability='9.0' multiprocessors='100' threads-per-multiprocessor='2048'"
    " matmul-workspace='32 MiB' source='none'/>\n"
    " <peak bf16='100 TFLOP/s' fp16='100 TFLOP/s' fp32='10 TFLOP/s' source='none'/>\n"
    " <launch kernel-floor='2 us' source='none'/>\n"
    "</device>\n";

/* As the last release had it: products reach 100 * 0.5 * 0.8 = 40 TFLOP/s. */
static const char old_text[]
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
  cr_assert (eq (uint, ss_device_host (device)->queue_depth, 1024));
  cr_assert (epsilon_eq (dbl, ss_device_host (device)->launch_latency_s, 4e-6, 1e-12));
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
    "<memory capacity='80' context='1 GiB' bandwidth='1 TiB/s' l2='50 MiB' source='x'>\n"
    " <kinds plain='1.5' source='x'/></memory>\n"
    "<compute capability='9' multiprocessors='0' threads-per-multiprocessor='2048'"
    " matmul-workspace='-1 B'\n clock='1500' source='x'/>\n"
    "<peak bf16='100' fp16='100 TFLOP/s' fp32='10 TFLOPS' source='x'/>\n"
    "<gemm efficiency='0' k-ramp='x' memory='0.8' floor='2' tile-penalty='0' sharpness='4'\n"
    " weight-gradient='1' sustained='1' source='x'/>\n"
    "<attention kernel='fa2' forward-64='0.4' forward-128='0.4' backward-64='0.3'"
    " backward-128='0.3'\n ramp='0' mask='1' source='x'/>\n"
    "<host name='fast'/>\n"
    "<launch kernel-floor='2 s' source='x'/>\n"
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
      "round.xml:3: plain: is not between 0.02 and 1\n"
      "round.xml:4: capability: \"9\" is not like 9.0\n"
      "round.xml:4: multiprocessors: \"0\" is not between 1 and 65536\n"
      "round.xml:4: matmul-workspace: \"-1 B\" has a sign; a plain number is expected\n"
      "round.xml:5: clock: \"1500\" has no unit; expected MHz or GHz\n"
      "round.xml:6: bf16: \"100\" has no unit; expected GFLOP/s, TFLOP/s or PFLOP/s\n"
      "round.xml:6: fp32: \"10 TFLOPS\" has an unknown unit; expected GFLOP/s, TFLOP/s or PFLOP/s\n"
      "round.xml:7: efficiency: is not between 0.02 and 1.2\n"
      "round.xml:7: k-ramp: \"x\" does not begin with a number like 80 or 0.5\n"
      "round.xml:7: floor: \"2\" has no unit; expected ns, us, ms or s\n"
      "round.xml:9: kernel: \"fa2\" is not known; known: flash, fa3, fa4, cudnn, efficient\n"
      "round.xml:11: name: host \"fast\" is not known; known: fast-x86, grace, older-x86\n"
      "round.xml:12: kernel-floor: is longer than 1 s"));
}

/* ---- what the last release had, and what a family lends ---- */

Test (device, elements_of_the_last_release_are_read_with_a_warning)
{
  g_autoptr (SsDevice) device = load_text (old_text, NULL);
  /* 1000 tiles of 256 x 128 on 100 multiprocessors: 2 * 12800 * 2560 * 1000 / 40e12 s, and 2 us */
  SsOp product = { .op_class = SS_OP_MATMUL, .dtype = SS_BF16, .alignment = 8,
                   .shape = { 1, 12800, 2560, 1000 } };
  SsOp copy = { .op_class = SS_OP_MEMORY, .dtype = SS_BF16, .bytes = 800000000 };
  SsOp forward = { .n_launches = 1 }, optimizer = { .n_launches = 10, .is_optimizer = TRUE };
  const char *warning;

  cr_assert (device != NULL);
  warning = ss_device_warning (device);
  cr_assert (warning != NULL && strstr (warning, "<efficiency> on line 5")
             && strstr (warning, "<gemm>") && strstr (warning, "<launch> on line 6")
             && strstr (warning, "<host name="), "%s", warning);
  cr_expect (epsilon_eq (dbl, ss_op_time_s (&product, device), 1.6404e-3, 1e-9));
  cr_expect (epsilon_eq (dbl, ss_op_time_s (&copy, device), 1.002e-3, 1e-9));
  cr_expect (epsilon_eq (dbl, ss_op_issue_s (&forward, device), 10e-6, 1e-12));
  cr_expect (epsilon_eq (dbl, ss_op_issue_s (&optimizer, device), 33e-6, 1e-12));
}

Test (device, what_a_file_does_not_say_is_its_family_s)
{
  g_autoptr (SsDevice) device = load_text (round_text, NULL);
  g_autoptr (SsDevice) family = ss_device_load ("h100-sxm-80gb", NULL);

  cr_assert (device != NULL && ss_device_warning (device) == NULL);
  cr_expect (eq (str, (char *) ss_device_family (device), "h100-sxm-80gb"));
  for (guint i = 0; i < SS_TIME_HOST; i++)
    {
      cr_expect (ss_device_origin (device, (SsTimeClass) i) == SS_ORIGIN_FAMILY);
      cr_expect (ss_device_source (device, (SsTimeClass) i) == NULL);
    }
  cr_expect (eq (dbl, ss_device_gemm (device)->efficiency, ss_device_gemm (family)->efficiency));
  cr_expect (eq (dbl, ss_device_attention (device, SS_KERNEL_CUDNN)->ramp,
                 ss_device_attention (family, SS_KERNEL_CUDNN)->ramp));
  cr_expect (ss_device_attention (device, SS_KERNEL_FA4) == NULL);
  cr_expect (eq (str, (char *) ss_device_host_name (device), "fast-x86"));
}

Test (device, a_beginning_that_one_device_alone_has_is_its_name)
{
  g_autoptr (SsDevice) device = ss_device_load ("b300-sxm", NULL);
  g_autoptr (GError) error = NULL;

  cr_assert (device != NULL);
  cr_expect (eq (str, (char *) ss_device_id (device), "b300-sxm-288gb"));
  cr_expect (ss_device_load ("h100", &error) == NULL);
  cr_expect (g_error_matches (error, SS_HW_ERROR, SS_HW_ERROR_UNKNOWN));
}

Test (device, every_shipped_one_has_times_without_a_warning)
{
  g_auto (GStrv) ids = ss_data_list ("hw/devices");

  for (guint i = 0; ids[i] != NULL; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (SsDevice) device = ss_device_load (ids[i], &error);

      cr_assert (device != NULL, "%s", error->message);
      cr_expect (ss_device_warning (device) == NULL, "%s", ids[i]);
      cr_expect (ss_device_attention (device, SS_KERNEL_FLASH) != NULL, "%s", ids[i]);
      cr_expect (ss_device_attention (device, SS_KERNEL_EFFICIENT) != NULL, "%s", ids[i]);
      cr_expect (gt (dbl, ss_device_gemm (device)->efficiency, 0), "%s", ids[i]);
      for (guint k = 0; k < SS_N_MEMORY_KINDS; k++)
        cr_expect (gt (dbl, ss_device_memory (device)->share[k], 0), "%s", ids[i]);
    }
}

Test (device, a_context_larger_than_the_memory_is_refused)
{
  g_autoptr (GString) text = g_string_new (round_text);
  g_autoptr (GError) error = NULL;

  g_string_replace (text, "context='1 GiB'", "context='80 GiB'", 1);
  cr_assert (load_text (text->str, &error) == NULL);
  cr_assert (eq (str, error->message, "round.xml:2: context: leaves nothing of the capacity"));
}
