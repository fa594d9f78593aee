/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <string.h>

#include "cli-fixture.h"

#define SHARED SS_SOURCE_DIR "/../shared/data/snapshot/"

TestSuite (cli_formats, .init = ss_cli_make_folder, .fini = ss_cli_remove_folder);

static void
expect_contains (const char *text, const char *wanted)
{
  cr_expect (ne (ptr, strstr (text, wanted), NULL), "no \"%s\" in:\n%s", wanted, text);
}

Test (cli_formats, a_trace_is_text_on_stdout_or_in_a_file)
{
  g_auto (SsCliResult) out = RUN ("trace", SS_TEACHING);
  g_auto (SsCliResult) file = RUN ("trace", SS_TEACHING, "-o", "t.json");
  g_auto (SsCliResult) again = RUN ("trace", SS_TEACHING, "-o", "t.json");
  g_autofree char *text = ss_cli_read ("t.json");

  cr_expect (eq (int, out.status, 0));
  cr_expect (eq (int, file.status, 0));
  cr_expect (eq (str, file.out, (char *) ""));
  cr_assert (ne (ptr, text, NULL));
  cr_expect (eq (str, text, out.out));
  cr_expect (eq (int, again.status, 3));
  expect_contains (again.err, "exists already");
}

Test (cli_formats, a_snapshot_laid_over_its_own_run_is_one_with_it)
{
  g_auto (SsCliResult) wrote = RUN ("snapshot", SS_TEACHING, "-o", "s.pickle");
  g_auto (SsCliResult) laid = RUN ("overlay", "s.pickle", SS_TEACHING);
  g_auto (SsCliResult) packed = ss_cli_shell ("gzip -n s.pickle && $S overlay s.pickle.gz $F");

  cr_expect (eq (int, wrote.status, 0));
  cr_expect (eq (int, laid.status, 0));
  expect_contains (laid.out, "The same to the byte in every phase");
  cr_expect (eq (int, packed.status, 0), "%s", packed.err);
  expect_contains (packed.out, "s.pickle.gz: memory snapshot");
  expect_contains (packed.out, "The same to the byte in every phase");
}

/* what is printed is what is drawn; nothing is written, and gnuplot not needed */
Test (cli_formats, the_script_of_a_picture_is_printed_for_a_gnuplot_elsewhere)
{
  static const struct { const char *arguments, *draws; } rows[] = {
    { "$F", "$F -q -o d; mv d/memory.png p" },
    { "compare $F --steps=1,2 -o p.svg", "compare $F --steps=1,2 -o p.svg; mv p.svg p" },
    { "sweep $F training/micro-batch=1,2 -q --no-files",
      "sweep $F training/micro-batch=1,2 --no-files --plot p.png; mv p.png p" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *print = g_strdup_printf ("PATH= $S %s --gnuplot-script", rows[i].arguments);
      g_autofree char *draw = g_strdup_printf (
        "$S %s --gnuplot-script > s; $S %s; gnuplot s > q; cmp p q; rm -rf s q p d",
        rows[i].arguments, rows[i].draws);
      g_auto (SsCliResult) printed = ss_cli_shell (print), drawn = { 0 };
      g_autoptr (GDir) folder = g_dir_open (ss_cli_folder (), 0, NULL);

      cr_expect (eq (int, printed.status, 0), "%s", printed.err);
      cr_expect (g_str_has_prefix (printed.out, "set encoding utf8\nset terminal "), "%.60s",
                 printed.out);
      cr_expect (eq (ptr, (gpointer) g_dir_read_name (folder), NULL), "%s", print);
      drawn = ss_cli_shell (draw);
      cr_expect (eq (int, drawn.status, 0), "%s: %s%s", draw, drawn.out, drawn.err);
      cr_expect (eq (str, drawn.err, (char *) ""));
    }
}

Test (cli_formats, the_timeline_is_printed_as_the_file_has_it)
{
  g_auto (SsCliResult) result = ss_cli_shell ("$S $F --csv -o d > c; cmp c d/timeline.csv");
  g_auto (SsCliResult) both = RUN (SS_TEACHING, "--csv", "--json");

  cr_expect (eq (int, result.status, 0), "%s", result.out);
  cr_expect (eq (str, result.err, (char *) ""));
  cr_expect (eq (int, both.status, 2));
  cr_expect (eq (str, both.err, (char *) "stepsim: --json and --csv both want the standard "
                                         "output\n"));
}

Test (cli_formats, a_script_and_another_answer_have_no_room_on_one_output)
{
  g_auto (SsCliResult) json = RUN (SS_TEACHING, "--gnuplot-script", "--json");
  g_auto (SsCliResult) program = RUN (SS_TEACHING, "--gnuplot-script", "--dump-program");
  g_auto (SsCliResult) table = RUN ("sweep", SS_TEACHING, "training/steps=1,2", "--gnuplot-script",
                                    "-o", "-");

  cr_expect (eq (int, json.status, 2));
  cr_expect (eq (str, json.err, (char *) "stepsim: --gnuplot-script and --json both want the "
                                         "standard output\n"));
  cr_expect (eq (int, program.status, 2));
  cr_expect (eq (int, table.status, 2));
  expect_contains (table.err, "--gnuplot-script and -o - both want");
}

Test (cli_formats, the_picture_takes_the_form_its_name_says)
{
  g_auto (SsCliResult) wrote = RUN ("snapshot", SS_TEACHING, "-o", "s.pickle");
  g_auto (SsCliResult) svg = RUN ("overlay", "s.pickle", SS_TEACHING, "-o", "o.svg");
  g_auto (SsCliResult) png = RUN ("overlay", "s.pickle", SS_TEACHING, "-o", "o.png");
  g_auto (SsCliResult) out = ss_cli_shell ("$S overlay s.pickle $F -o - | cmp - o.png");
  g_autofree char *drawing = ss_cli_read ("o.svg"), *image = ss_cli_read ("o.png");

  cr_expect (eq (int, svg.status, 0), "%s", svg.err);
  cr_expect (eq (int, png.status, 0), "%s", png.err);
  cr_expect (eq (int, out.status, 0), "%s", out.out);
  expect_contains (drawing, "<svg");
  cr_expect (g_str_has_prefix (image, "\x89PNG"));
}

Test (cli_formats, what_cannot_be_read_is_bad_input_and_said_with_its_place)
{
  static const char *const lines[][2] = {
    { "$S overlay none.pickle $F", "none.pickle: " },
    { "$S overlay $F $F", "byte 0: neither a pickle" },
    { "printf '\\200\\004cos\\nsystem\\n.' > x; $S overlay x $F", "byte 2: GLOBAL" },
    { "$S snapshot $F | head -c 1000 > x; $S overlay x $F", "the file ends in the middle" },
    { "$S trace $F > x; $S overlay x $F", "no \"[memory]\" events" },
    { "$S snapshot $F > x; $S overlay x $F --gpu=1", "no history of that device" },
    { "$S snapshot $F > x; $S overlay x none.xml", "none.xml" },
    { "$S snapshot $F > x; $S overlay x $F --step=0", "--step: 0" },
    { "$S snapshot $F > x; $S overlay x $F --gpu=-2", "--gpu: -2" },
    { "$S snapshot $F > x; $S overlay x $F --units=MB", "--units: \"MB\"" },
    { "$S overlay $F", "wants REAL FILE" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    {
      g_auto (SsCliResult) result = ss_cli_shell (lines[i][0]);

      cr_expect (eq (int, result.status, 2), "%s: %s", lines[i][0], result.err);
      cr_expect (eq (str, result.out, (char *) ""), "%s", lines[i][0]);
      cr_expect (ss_cli_lines_are_ours (result.err), "%s", result.err);
      expect_contains (result.err, lines[i][1]);
    }
}

/* The recorded runs of two scenarios, in PyTorch and here. */
Test (cli_formats, recorded_runs_are_one_with_their_simulation)
{
  static const char *const lines[] = {
    "$S overlay " SHARED "llama8b_oom.pickle " SS_SOURCE_DIR "/scenarios/llama8b-h100.xml",
    "$S overlay " SHARED "llama32_1b.pickle " SS_SOURCE_DIR "/scenarios/llama1b-rtx4090.xml "
    "-s training/micro-batch=2 -s hardware/device=h100-sxm-80gb",
  };

  if (!g_file_test (SHARED, G_FILE_TEST_IS_DIR))
    cr_skip_test ("no recordings here");
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    {
      g_auto (SsCliResult) result = ss_cli_shell (lines[i]);

      cr_expect (eq (int, result.status, 0), "%s", result.err);
      expect_contains (result.out, "The same to the byte in every phase");
      expect_contains (result.out, "requests have the same size in the same order.\n"
                                   "After each of these, the same is allocated.");
    }
}
