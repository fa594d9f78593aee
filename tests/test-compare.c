/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "cli-fixture.h"
#include "output/figures/compare.h"
#include "recording-fixture.h"
#include "text-boxes.h"

static gboolean
says (const char *text, const char *words)
{
  return strstr (text, words) != NULL;
}

/* The two steps of a run that dies in the second, by the recording's own figures. */
Test (compare, a_side_is_what_the_recording_says)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_oom);
  g_autoptr (SsCompareSide) run = ss_compare_side_new (recording, 0, "run");
  g_autoptr (SsCompareSide) one = ss_compare_side_new (recording, 1, "step 1");
  g_autoptr (SsCompareSide) two = ss_compare_side_new (recording, 2, "step 2");
  const SsStepRecord *step = &g_array_index (recording->steps, SsStepRecord, 0);

  cr_assert (run != NULL && one != NULL && two != NULL);
  cr_expect (eq (ptr, ss_compare_side_new (recording, 3, "step 3"), NULL));
  cr_expect (eq (u64, run->peak_bytes,
                 recording->peak.allocated_bytes + recording->context_bytes));
  cr_expect (eq (u64, one->peak_bytes, step->peak_allocated_bytes + recording->context_bytes));
  cr_expect (eq (u64, two->peak_bytes, step[1].peak_allocated_bytes + recording->context_bytes));
  cr_expect (eq (i64, one->step_ns, step->end_ns - step->start_ns));
  cr_expect (eq (i64, two->step_ns, 0));
  cr_expect (eq (str, one->verdict, "fits"));
  cr_expect (eq (str, two->verdict, "out of memory"));
  cr_expect (eq (str, run->verdict, "out of memory in step 2"));
}

Test (compare, bands_add_up_to_the_peak)
{
  for (guint f = 0; f < ss_n_fixture_gallery; f++)
    {
      g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_gallery[f]);
      g_autoptr (SsCompareSide) side = ss_compare_side_new (recording, 0, "all");
      guint64 sum = 0;

      for (guint b = 0; b < SS_N_BANDS; b++)
        sum += side->at_peak.bands[b];
      cr_expect (eq (u64, sum, side->peak_bytes), "%s", recording->scenario_name);
      cr_expect (eq (u64, sum, recording->peak.allocated_bytes + recording->context_bytes), "%s",
                 recording->scenario_name);
    }
}

/* 24 letters of a name have room; of a longer one the end is what tells it from another. */
Test (compare, long_names_are_told_apart)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_fits);
  g_autoptr (SsCompareSide) a = ss_compare_side_new (recording, 0, "Llama 3 8B on one H100");
  g_autoptr (SsCompareSide) b
    = ss_compare_side_new (recording, 0, "Llama 3 8B on one H100, checkpointed");
  g_autofree char *text = ss_compare_table (a, b, SS_MEMORY_GIB);

  cr_expect (says (text, " Llama 3 8B on one H100  ...ne H100, checkpointed\n"), "%s", text);
}

Test (compare, the_same_run_twice_differs_in_nothing)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_fits);
  g_autoptr (SsCompareSide) a = ss_compare_side_new (recording, 0, "a");
  g_autoptr (SsCompareSide) b = ss_compare_side_new (recording, 0, "b");
  g_autofree char *headline = ss_compare_headline (a, b, SS_MEMORY_GIB);
  g_autofree char *table = ss_compare_table (a, b, SS_MEMORY_GIB);

  cr_expect (eq (str, headline, "The same peak, the same step time"));
  cr_expect (not (says (table, "+")), "%s", table);
}

/* How far a step came before it failed is not how much it takes. */
Test (compare, peaks_are_not_compared_with_a_run_that_fails)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_oom);
  g_autoptr (SsCompareSide) one = ss_compare_side_new (recording, 1, "step 1");
  g_autoptr (SsCompareSide) two = ss_compare_side_new (recording, 2, "step 2");
  g_autofree char *worse = ss_compare_headline (one, two, SS_MEMORY_GIB);
  g_autofree char *better = ss_compare_headline (two, one, SS_MEMORY_GIB);
  g_autofree char *neither = ss_compare_headline (two, two, SS_MEMORY_GIB);

  cr_expect (eq (str, worse, "Only the first fits"));
  cr_expect (eq (str, better, "Only the second fits"));
  cr_expect (eq (str, neither, "The same peak; both run out of memory"));
}

/* The second step begins with the 16 MiB of states that the first has made. */
Test (compare, two_steps_differ_by_the_states)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_fits);
  g_autoptr (SsCompareSide) a = ss_compare_side_new (recording, 1, "step 1");
  g_autoptr (SsCompareSide) b = ss_compare_side_new (recording, 2, "step 2");
  g_autofree char *table = ss_compare_table (a, b, SS_MEMORY_GIB);

  cr_expect (eq (u64, b->at_peak.bands[SS_BAND_STATES], 16 * SS_MIB));
  cr_expect (says (table, "optimizer states"), "%s", table);
}

Test (compare, no_text_of_the_picture_touches_another)
{
  for (guint f = 0; f < ss_n_fixture_gallery; f++)
    {
      g_autoptr (SsRecording) first = ss_fixture_record (&ss_fixture_gallery[f]);
      g_autoptr (SsRecording) second
        = ss_fixture_record (&ss_fixture_gallery[(f + 1) % ss_n_fixture_gallery]);
      g_autoptr (SsCompareSide) a = ss_compare_side_new (first, 0, "it's `touch X`, a long name of "
                                                         "some scenario that somebody has made");
      g_autoptr (SsCompareSide) b = ss_compare_side_new (second, 0, second->scenario_name);
      g_autoptr (SsCanvas) canvas = ss_compare_figure (a, b, SS_MEMORY_GIB);
      g_autofree char *script = ss_canvas_script (canvas, SS_CANVAS_SVG);

      ss_expect_texts_clear (first->scenario_name, script, 1280, 760);
      cr_expect (not (says (script, "nan")));
      cr_expect (not (says (script, "it's")));
    }
}

/* ---- the command ---- */

TestSuite (cli_compare, .init = ss_cli_make_folder, .fini = ss_cli_remove_folder);

Test (cli_compare, one_scenario_and_a_change)
{
  g_auto (SsCliResult) result
    = RUN ("compare", SS_TEACHING, "--with", "training/micro-batch=1");

  cr_expect (eq (int, result.status, 0));
  cr_expect (g_str_has_prefix (result.out, "Peak "), "%s", result.out);
  cr_expect (says (result.out, " lower, step "), "%s", result.out);
  cr_expect (says (result.out, "training/micro-batch=1\n"), "%s", result.out);
  cr_expect (eq (str, result.err, ""));
}

Test (cli_compare, two_steps_and_a_picture)
{
  g_auto (SsCliResult) result = RUN ("compare", SS_TEACHING, "--steps", "1,2", "-o", "x.svg");
  g_autofree char *gnuplot = g_find_program_in_path ("gnuplot"), *svg = NULL;

  cr_expect (eq (int, result.status, gnuplot != NULL ? 0 : 3));
  cr_expect (says (result.out, "step 1                    step 2\n"), "%s", result.out);
  if (gnuplot == NULL)
    return;
  svg = ss_cli_read ("x.svg");
  cr_assert (ne (ptr, svg, NULL));
  cr_expect (says (svg, "<svg"));
}

Test (cli_compare, refuses_what_it_cannot_do)
{
  static const struct
  {
    const char *line, *said;
    int status;
  } rows[] = {
    { "$S compare $F", "one scenario alone: give a second, --with PATH=VALUE or --steps 1,2", 2 },
    { "$S compare $F $F --steps 1,2", "--steps compares two steps of one run", 2 },
    { "$S compare $F --steps 1", "--steps: \"1\" is not two steps: 1,2", 2 },
    { "$S compare $F --steps 1,7", "step 7 is none of the 2 steps of this run", 2 },
    { "$S compare $F $F -o x.pdf", "x.pdf: a picture is a file .png or .svg", 2 },
    { "$S compare $F --with no/such=1", "no", 2 },
    { "$S compare $F --with training/micro-batch=1 --capacity='15 GiB'", "", 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_auto (SsCliResult) result = ss_cli_shell (rows[i].line);

      cr_expect (eq (int, result.status, rows[i].status), "%s", rows[i].line);
      cr_expect (says (result.err, rows[i].said), "%s: %s", rows[i].line, result.err);
      cr_expect (ss_cli_lines_are_ours (result.err));
    }
}
