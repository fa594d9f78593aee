/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "output/tables/report.h"
#include "recording-fixture.h"

static void
expect_report (const SsRecording *recording, const SsReportStyle *style, const char *wanted)
{
  g_autofree char *text = ss_report (recording, style);

  cr_expect (eq (str, text, (char *) wanted));
}

/* MiB: parameters 8, gradients 8, states 16, workspace 1, activations 4 x 3, logits 4, scratch 0.5,
 * context 2. Step 1 peaks in the optimizer: 8 + 8 + 16 + 1 + 0.5 = 33.5; step 2 at the loss: 8 + 16
 * + 1 + 12 + 4 + 0.5 = 41.5; 64 - 2 - 41.5 = 20.5 are never used.  30 ops of 0.1 ms, 17 of them
 * matmuls at 0.8: 17 x 0.8 / 30 = 45 %. 1024 tokens in 3 ms: 341,333 a second. */
Test (report, a_run_that_fits)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_fits);
  SsReportStyle style = { .width = 80, .is_verbose = TRUE };

  expect_report (recording, &style,
    "FITS. Peak 43.5 MiB of 64.0 MiB, headroom 20.5 MiB; step 2 takes 3.00 ms.\n"
    "Teaching 4, 4.2 M parameters, on H100 SXM 80GB\n"
    "bf16, fused adamw, micro-batch 1 x 1024 tokens, no checkpoints\n"
    "\n"
    "At its fullest, step 2, loss                     MiB\n"
    "  optimizer states        ###############      16.00\n"
    "  activations             ###########          12.00  4 layers, all kept\n"
    "  parameters              ########              8.00\n"
    "  logits                  ####                  4.00\n"
    "  workspace               #                     1.00\n"
    "  temporaries             #                     0.50\n"
    "  CUDA context            ##                    2.00\n"
    "                                      peak     43.50  of 64.00, headroom 20.50\n"
    "\n"
    "                            step 1      step 2\n"
    "  peak MiB                   35.50       43.50\n"
    "  reserved MiB               33.50       41.50\n"
    "  allocated MiB              33.50       41.50\n"
    "  most of it in          optimizer        loss\n"
    "  time ms                     3.00        3.00\n"
    "  tokens per second         341333      341333\n"
    "  matrix units %                45          45\n"
    "  MFU %                       43.8        43.8\n"
    "  HFU %                       43.8        43.8\n"
    "\n"
    "Allocated at most 41.5 MiB, at the loss of step 2, with 0 B cached beside it.\n"
    "Reserved at most 41.5 MiB; the peak is that and the CUDA context.\n"
    "Without any activations at most 33.5 MiB would be allocated, in the optimizer of\n"
    "step 1: checkpoints can lower it by 8.0 MiB at most.\n"
    "MFU and HFU are of 989.4 TFLOP/s; model flops: 6 N + attention.\n");
}

/* What is less than a hundredth is told as one: of 43.5 MiB nothing here. */
Test (report, one_screen_leaves_out_what_is_for_the_curious)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_fits);
  SsReportStyle style = { .width = 80 };
  g_autofree char *text = ss_report (recording, &style);

  cr_expect (ne (ptr, strstr (text, "\n"
    "                            step 1      step 2\n"
    "  peak MiB                   35.50       43.50\n"
    "  time ms                     3.00        3.00\n"
    "  tokens per second         341333      341333\n"
    "  MFU %                       43.8        43.8\n"), NULL), "%s", text);
  cr_expect (eq (ptr, strstr (text, "HFU"), NULL));
}

/* 100 MiB of states beside 0.9 and 0.8 of others, which are less than a hundredth of 103.7. */
Test (report, small_parts_are_told_as_one)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_fits);
  SsReportStyle style = { .width = 80 }, verbose = { .width = 80, .is_verbose = TRUE };
  g_autofree char *text = NULL, *whole = NULL;
  guint64 *bytes = recording->peak.by_category;

  memset (bytes, 0, sizeof recording->peak.by_category);
  bytes[SS_CATEGORY_OPTIMIZER_STATES] = 100 * SS_MIB;
  bytes[SS_CATEGORY_WORKSPACE] = 9 * SS_MIB / 10;
  bytes[SS_CATEGORY_LOGITS] = 8 * SS_MIB / 10;
  recording->peak.allocated_bytes = 100 * SS_MIB + 9 * SS_MIB / 10 + 8 * SS_MIB / 10;
  recording->peak.reserved_bytes = recording->peak_reserved_bytes = recording->peak.allocated_bytes;
  text = ss_report (recording, &style);
  whole = ss_report (recording, &verbose);
  cr_expect (ne (ptr, strstr (text, "  other                   #                     1.70\n"),
                 NULL), "%s", text);
  cr_expect (eq (ptr, strstr (text, "workspace"), NULL));
  cr_expect (ne (ptr, strstr (whole, "workspace"), NULL));
}

/* Thirds of a MiB: 0.33 three times and the 0.01 that is left make 1.00, and 2 of context 3.00. */
Test (report, rows_add_up_as_printed)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_fits);
  SsReportStyle style = { .width = 80, .is_verbose = TRUE };
  g_autofree char *text = NULL;
  guint64 *bytes = recording->peak.by_category;

  memset (bytes, 0, sizeof recording->peak.by_category);
  bytes[SS_CATEGORY_PARAMETERS] = SS_MIB / 3 + 1;
  bytes[SS_CATEGORY_GRADIENTS] = bytes[SS_CATEGORY_LOGITS] = SS_MIB / 3;
  recording->peak.allocated_bytes = SS_MIB;
  recording->peak.reserved_bytes = recording->peak_reserved_bytes = SS_MIB;
  text = ss_report (recording, &style);
  cr_expect (ne (ptr, strstr (text, " 0.34\n"), NULL), "%s", text);
  cr_expect (ne (ptr, strstr (text, "peak      3.00  of 64.00, headroom 61.00\n"), NULL));
}

/* Of 36 MiB the context takes 2 and what step 1 left 25; 9 MiB of activations fill the rest, so
 * half a MiB of scratch in layer 3 finds nothing.  Six ops of step 2 have run: 3.0 + 0.6 ms. */
Test (report, a_run_that_dies)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_oom);
  SsReportStyle style = { .width = 80, .is_verbose = TRUE };

  expect_report (recording, &style,
    "OUT OF MEMORY in step 2, in the forward pass of layer 3, 3.60 ms in; step 1\n"
    "fits.\n"
    "Headroom -8.0 MiB: it needs 44.0 MiB, and the device has 36.0 MiB.\n"
    "  aten::mm in model.layers.3 asks for 512.00 KiB; nothing is free.\n"
    "Teaching 4, 4.2 M parameters, on H100 SXM 80GB\n"
    "bf16, fused adamw, micro-batch 1 x 1024 tokens, no checkpoints\n"
    "\n"
    "In use when it fails                             MiB\n"
    "  optimizer states        ###############      16.00  new since step 1\n"
    "  activations             ########              9.00  layers 0-3, all kept\n"
    "  parameters              ########              8.00\n"
    "  workspace               #                     1.00\n"
    "  CUDA context            ##                    2.00\n"
    "                                    in use     36.00  of 36.00, free 0.00\n"
    "Step 2 starts 16.0 MiB higher: the first update's optimizer states stay.\n"
    "\n"
    "PyTorch's own words:\n"
    "CUDA out of memory. Tried to allocate 0.50 MiB.\n");
}

Test (report, the_message_is_behind_its_option)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_oom);
  SsReportStyle style = { .width = 80 }, asked = { .width = 80, .has_message = TRUE };
  g_autofree char *text = ss_report (recording, &style), *whole = ss_report (recording, &asked);

  cr_expect (eq (ptr, strstr (text, "CUDA out of memory."), NULL));
  cr_expect (ne (ptr, strstr (whole, "CUDA out of memory."), NULL));
}

/* Forward has come to a layer, backward is back at it; the optimizer needs none of them. */
Test (report, whose_activations_are_there_is_said)
{
  static const struct { const char *policy, *phase; gint layer; const char *said; } rows[] = {
    { "none", "forward", 0, "12.00  layer 0, all kept\n" },
    { "none", "backward", 2, "12.00  layers 0-2, all kept\n" },
    { "none", "backward", -1, "12.00  of 4 layers\n" },
    { "full", "forward", 2, "12.00  of layers 0-2\n" },
    { "full", "loss", -1, "12.00  of 4 layers\n" },
    { "none", "optimizer", -1, "12.00\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_fits);
      SsReportStyle style = { .width = 80 };
      g_autofree char *text = NULL;

      g_free (recording->policy);
      recording->policy = g_strdup (rows[i].policy);
      recording->peak.phase = rows[i].phase;
      recording->peak.layer = rows[i].layer;
      text = ss_report (recording, &style);
      cr_expect (ne (ptr, strstr (text, rows[i].said), NULL), "row %u: %s", i, text);
    }
}

Test (report, checkpoints_that_can_win_nothing_are_said)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_fits);
  SsReportStyle style = { .width = 80, .is_verbose = TRUE };
  g_autofree char *bare = NULL, *checkpointed = NULL;

  recording->floor = recording->peak;
  bare = ss_report (recording, &style);
  g_free (recording->policy);
  recording->policy = g_strdup ("full");
  checkpointed = ss_report (recording, &style);
  cr_expect (ne (ptr, strstr (bare, "is allocated: checkpoints cannot"), NULL));
  cr_expect (ne (ptr, strstr (checkpointed, "allocated: more checkpoints cannot"), NULL));
}

/* The inputs of a step are counted as activations and lie there until its end. */
Test (report, inputs_beside_an_optimizers_peak_are_nothing_to_checkpoint)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_fits);
  SsReportStyle style = { .width = 80, .is_verbose = TRUE };
  g_autofree char *text = NULL;

  recording->peak.phase = "optimizer";
  recording->floor = recording->peak;
  recording->floor.allocated_bytes -= 16384;
  text = ss_report (recording, &style);
  cr_expect (ne (ptr, strstr (text, "is allocated: checkpoints cannot"), NULL),
             "%s", text);
}

/* 1 MiB is 1,048,576 bytes: 43.5 MiB are 45.6 MB. */
Test (report, units_are_one_kind_throughout)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_fits);
  SsReportStyle style = { .width = 80, .units = SS_MEMORY_GB };
  g_autofree char *text = ss_report (recording, &style);

  cr_expect (ne (ptr, strstr (text, "FITS. Peak 45.6 MB of 67.1 MB"), NULL));
  cr_expect (eq (ptr, strstr (text, "iB"), NULL));
}

Test (report, bars_of_blocks_and_colour_only_when_asked)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_oom);
  SsReportStyle style = { .width = 80, .is_utf8 = TRUE, .has_colour = TRUE },
                plain = { .width = 80 };
  g_autofree char *text = ss_report (recording, &style), *bare = ss_report (recording, &plain);

  cr_expect (ne (ptr, strstr (text, "█"), NULL));
  cr_expect (eq (ptr, strstr (text, "#"), NULL));
  cr_expect (ne (ptr, strstr (text, "\x1b[1;31mOUT OF MEMORY\x1b[0m in step 2"), NULL));
  cr_expect (eq (ptr, strchr (bare, 0x1b), NULL));
}

/* Lines but PyTorch's own, which keep their one line to be searched for, stay within the width; 40
 * counts as 72. */
Test (report, lines_keep_the_width)
{
  static const guint widths[] = { 40, 72, 80, 132 };

  for (guint w = 0; w < G_N_ELEMENTS (widths); w++)
    {
      g_autoptr (SsRecording) recording
          = ss_fixture_record (w % 2 ? &ss_fixture_oom : &ss_fixture_fits);
      SsReportStyle style = { .width = widths[w], .is_utf8 = TRUE };
      g_autofree char *text = NULL;
      g_auto (GStrv) lines = NULL;

      recording->assumption
          = g_strdup ("the fused update of a parameter in fp32 follows no recording of the "
                      "framework, only its source");
      text = ss_report (recording, &style);
      lines = g_strsplit (text, "\n", -1);
      for (guint i = 0; lines[i] != NULL; i++)
        cr_expect (le (long, g_utf8_strlen (lines[i], -1), MAX (widths[w], 72)), "%s", lines[i]);
      cr_expect (ne (ptr, strstr (text, "Assumed: the fused update"), NULL));
    }
}

Test (report, another_allocator_than_asked_is_said)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_fits);
  SsReportStyle style = { .width = 80 };
  g_autofree char *text = NULL;

  g_free (recording->allocator_type);
  recording->allocator_type = g_strdup ("exact");
  text = ss_report (recording, &style);
  cr_expect (ne (ptr, strstr (text, "\nAllocator: exact, where caching was asked for\n"), NULL));
}

/* 41.5 reserved and 2 of context are 43.5 MiB: 3.5 over 40, 20.5 below 64. */
Test (report, without_limit_it_says_how_far_over)
{
  SsFixture fixture = ss_fixture_fits;
  SsReportStyle style = { .width = 80 };
  g_autoptr (SsRecording) recording = NULL;
  g_autofree char *text = NULL, *roomy = NULL;

  fixture.capacity_bytes = G_MAXINT64;
  recording = ss_fixture_record (&fixture);
  text = ss_report (recording, &style);
  recording->usable_bytes = 64 * SS_MIB;
  roomy = ss_report (recording, &style);
  cr_expect (ne (ptr, strstr (text, "WITHOUT LIMIT. Peak 43.5 MiB, headroom -3.5 MiB on the "
                                    "device's 40.0 MiB;"), NULL), "%s", text);
  cr_expect (ne (ptr, strstr (roomy, "headroom 20.5 MiB on the device's 64.0 MiB;"), NULL));
  cr_expect (ne (ptr, strstr (text, " peak     43.50\n"), NULL));
}

/* 40 MiB of parameters do not go into 36 less 2. */
Test (report, a_model_that_cannot_be_loaded)
{
  SsFixture fixture = ss_fixture_oom;
  SsReportStyle style = { .width = 80 };
  g_autoptr (SsRecording) recording = NULL;
  g_autofree char *text = NULL;

  fixture.parameter_bytes = 40 * SS_MIB;
  recording = ss_fixture_record (&fixture);
  text = ss_report (recording, &style);
  cr_expect (ne (ptr,
                 strstr (text, "OUT OF MEMORY while the model is loaded.\n"
                               "Headroom -8.0 MiB: it needs 44.0 MiB, and the "
                               "device has 36.0 MiB.\n"
                               "  The framework asks for 40.00 MiB; 34.00 MiB is free.\n"),
                 NULL),
             "%s", text);
}

Test (report, free_memory_in_pieces_is_told)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_oom);
  SsReportStyle style = { .width = 80, .is_verbose = TRUE };
  g_autofree char *text = NULL;

  recording->oom.at.reserved_bytes += 2 * SS_MIB;
  recording->oom.largest_free_block_bytes = SS_MIB / 4;
  text = ss_report (recording, &style);
  cr_expect (
      ne (ptr,
          strstr (text, "2.00 MiB is reserved and not in use; its largest piece is 256.0 KiB."),
          NULL),
      "%s", text);
  cr_expect (
      ne (ptr, strstr (text, "  cached, not in use      ##                    2.00\n"), NULL));
}

Test (report, names_cannot_command_the_terminal)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_oom);
  SsReportStyle style = { .width = 80 };
  g_autofree char *text = NULL;

  g_free (recording->model_name);
  recording->model_name = g_strdup ("\x1b[2Jevil\r\n\xff");
  text = ss_report (recording, &style);
  cr_expect (eq (ptr, strchr (text, 0x1b), NULL));
  cr_expect (eq (ptr, strchr (text, '\r'), NULL));
  cr_expect (g_utf8_validate (text, -1, NULL));
}

/* Why it died: states alone, or pieces; or neither. */
Test (report, says_states_alone_or_fragmentation)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_oom);
  SsReportStyle style = { .width = 80 };
  g_autofree char *pieces = NULL, *want = NULL, *states = NULL;

  recording->least_bytes = recording->capacity_bytes;
  pieces = ss_report (recording, &style);
  recording->least_bytes = recording->capacity_bytes + 1;
  want = ss_report (recording, &style);
  recording->least_state_bytes = recording->capacity_bytes + 1;
  states = ss_report (recording, &style);
  cr_assert (strstr (pieces, "Fragmentation: ") != NULL);
  cr_assert (strstr (want, "Fragmentation: ") == NULL);
  cr_assert (strstr (states, "no batch fits.") != NULL);
}

/* 36.04 of 40.04 leave 4.0: 36.0, 4.0 and 40.0 add up; -36.06 of 40.04 would leave 4.0 as 36.1. */
Test (format, the_rest_adds_up_as_printed)
{
  static const struct { guint64 whole, part; const char *rest; } rows[] = {
    { 4004, 3604, "4.0 MiB" }, { 4004, 3606, "3.9 MiB" }, { 3604, 4004, "-4.0 MiB" },
    { 4004, 3964, "409.6 KiB" }, { 3964, 4004, "-409.6 KiB" }, { 4004, 4004, "0 B" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      guint64 hundredth = SS_MIB / 100;
      g_autofree char *rest = ss_format_rest (rows[i].whole * hundredth, rows[i].part * hundredth,
                                              SS_MEMORY_GIB, 1);

      cr_expect (eq (str, rest, (char *) rows[i].rest), "row %u", i);
    }
}
