/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <string.h>

#include "cli-fixture.h"

TestSuite (cli, .init = ss_cli_make_folder, .fini = ss_cli_remove_folder);

static GBytes *
read_bytes (const char *below, const char *name)
{
  g_autofree char *path = g_build_filename (ss_cli_folder (), below, name, NULL);
  char *contents;
  gsize length;

  return g_file_get_contents (path, &contents, &length, NULL) ? g_bytes_new_take (contents, length)
                                                              : NULL;
}

/* ---- usage ---- */

Test (cli, without_arguments_it_says_how_to_use_it)
{
  g_auto (SsCliResult) result = ss_cli_spawn ((const char *const[]) { SS_STEPSIM, NULL });

  cr_expect (eq (int, result.status, 2));
  cr_expect (eq (str, result.out, (char *) ""));
  cr_expect (ne (ptr, strstr (result.err, "usage: stepsim"), NULL));
}

Test (cli, help_fits_a_screen_and_names_every_command)
{
  static const char *const commands[]
      = { "sweep", "animate", "compare", "show", "list", "validate", "bench", "dump-events",
          "dump-ops" };
  g_auto (SsCliResult) result = RUN ("--help");

  cr_expect (eq (int, result.status, 0));
  cr_expect (le (uint, ss_cli_count_lines (result.out), 24));
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    cr_expect (ne (ptr, strstr (result.out, commands[i]), NULL), "%s", commands[i]);
}

Test (cli, every_command_has_help)
{
  static const char *const commands[]
      = { "sweep", "show", "list", "validate", "bench", "dump-events", "dump-ops" };

  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    {
      g_auto (SsCliResult) result = RUN (commands[i], "--help");

      cr_expect (eq (int, result.status, 0), "%s", commands[i]);
      cr_expect (ne (ptr, strstr (result.out, "Usage:"), NULL), "%s", commands[i]);
    }
}

Test (cli, version_is_one_line)
{
  g_auto (SsCliResult) result = RUN ("--version");

  cr_expect (eq (int, result.status, 0));
  cr_expect (g_str_has_prefix (result.out, "stepsim "));
  cr_expect (eq (uint, ss_cli_count_lines (result.out), 1));
}

Test (cli, a_mistyped_command_is_told_what_is_near)
{
  g_auto (SsCliResult) result = RUN ("validat", SS_TEACHING);

  cr_expect (eq (int, result.status, 2));
  cr_expect (ne (ptr, strstr (result.err, "validate"), NULL), "%s", result.err);
}

Test (cli, unknown_options_and_wrong_counts_are_usage)
{
  static const char *const lines[] = {
    "$S $F --no-such-option", "$S $F $F",      "$S show",   "$S validate", "$S list nothing",
    "$S bench nothing",       "$S show $F $F", "$S --json", "$S $F --set", "$S $F --capacity",
  };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    {
      g_auto (SsCliResult) result = ss_cli_shell (lines[i]);

      cr_expect (eq (int, result.status, 2), "%s", lines[i]);
      cr_expect (eq (str, result.out, (char *) ""), "%s", lines[i]);
      cr_expect (ss_cli_lines_are_ours (result.err), "%s: %s", lines[i], result.err);
    }
}

/* ---- answers ---- */

Test (cli, status_says_whether_it_fits)
{
  g_auto (SsCliResult) fits = RUN (SS_TEACHING, "--json", "--no-files", "--capacity=unlimited");
  g_auto (SsCliResult) dies = RUN (SS_TEACHING, "--json", "--no-files", "--capacity=1 GiB", "--set",
                              "hardware/context=1 MiB");

  cr_expect (eq (int, fits.status, 0), "%s", fits.err);
  cr_expect (ne (ptr, strstr (fits.out, "\"verdict\":\"fits\""), NULL));
  cr_expect (eq (str, fits.err, (char *) ""));
  cr_expect (eq (int, dies.status, 1), "%s", dies.err);
  cr_expect (ne (ptr, strstr (dies.out, "\"verdict\":\"oom\""), NULL));
  cr_expect (ne (ptr, strstr (dies.out, "CUDA out of memory. Tried to allocate"), NULL));
}

Test (cli, no_files_writes_none_and_json_alone_writes_them)
{
  g_auto (SsCliResult) without = RUN (SS_TEACHING, "--json", "--no-files");
  g_autofree char *out = g_build_filename (ss_cli_folder (), "stepsim-out", NULL);

  cr_expect (not (g_file_test (out, G_FILE_TEST_EXISTS)));
  {
    g_auto (SsCliResult) with = RUN (SS_TEACHING, "--json");
    g_autofree char *json = ss_cli_read ("stepsim-out/run.json");
    g_autofree char *csv = ss_cli_read ("stepsim-out/timeline.csv");

    cr_expect (eq (str, with.out, without.out));
    cr_assert (ne (ptr, json, NULL));
    cr_expect (eq (str, json, with.out));
    cr_expect (ne (ptr, csv, NULL));
  }
}

/* every file a run writes */
Test (cli, the_same_input_gives_the_same_bytes)
{
  g_auto (SsCliResult) one = RUN (SS_TEACHING, "--json", "-o", "one");
  g_auto (SsCliResult) two = RUN (SS_TEACHING, "--json", "-o", "two");
  g_autofree char *path = g_build_filename (ss_cli_folder (), "one", NULL);
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  cr_assert (ne (ptr, dir, NULL));
  cr_expect (eq (str, one.out, two.out));
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autoptr (GBytes) a = read_bytes ("one", name), b = read_bytes ("two", name);

      cr_assert (a != NULL && b != NULL, "%s", name);
      cr_expect (g_bytes_equal (a, b), "%s", name);
    }
}

Test (cli, set_changes_the_scenario_and_names_what_it_does_not_know)
{
  g_auto (SsCliResult) three = RUN (SS_TEACHING, "--json", "--no-files", "-s", "training/steps=3",
                               "--capacity=unlimited");
  g_auto (SsCliResult) bad = RUN (SS_TEACHING, "--json", "--no-files", "--set", "training/stpes=3");
  g_auto (SsCliResult) text = ss_cli_shell ("$S $F --no-files --json --set name=$(printf '\\377')");

  cr_expect (ne (ptr, strstr (three.out, "\"step\":3"), NULL), "%s", three.err);
  cr_expect (eq (int, bad.status, 2));
  cr_expect (ne (ptr, strstr (bad.err, "stpes"), NULL), "%s", bad.err);
  cr_expect (eq (int, text.status, 2));
}

Test (cli, show_prints_a_scenario_that_runs_the_same)
{
  g_auto (SsCliResult) shown = RUN ("show", SS_TEACHING, "-o", "shown.xml");
  g_auto (SsCliResult) again = RUN ("show", SS_TEACHING, "-o", "shown.xml");
  g_auto (SsCliResult) forced = RUN ("show", SS_TEACHING, "-o", "shown.xml", "-f");
  g_auto (SsCliResult) a = RUN (SS_TEACHING, "--json", "--no-files"),
                  b = RUN ("shown.xml", "--json", "--no-files");

  cr_expect (eq (int, shown.status, 0), "%s", shown.err);
  cr_expect (eq (int, again.status, 3));
  cr_expect (eq (int, forced.status, 0));
  cr_expect (eq (str, a.out, b.out), "%s", b.err);
}

Test (cli, lists_have_the_names_that_scenarios_use)
{
  static const struct { const char *kind, *name; } rows[] = {
    { "models", "llama3-8b" }, { "devices", "h100-sxm-80gb" }, { "policies", "full" },
    { "optimizers", "adamw" }, { "profiles", "hf-sdpa" },      { "recipes", "bf16-amp" },
    { "allocators", "exact" }, { "outputs", "run.json" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_auto (SsCliResult) result = RUN ("list", rows[i].kind);
      g_autofree char *text = g_strconcat ("\n", result.out, NULL),
                      *line = g_strconcat ("\n", rows[i].name, " ", NULL);

      cr_expect (eq (int, result.status, 0), "%s", result.err);
      cr_expect (ne (ptr, strstr (text, line), NULL), "%s", rows[i].kind);
    }
}

Test (cli, dumps_have_the_columns_of_the_recordings)
{
  g_auto (SsCliResult) events = RUN ("dump-events", SS_TEACHING);
  g_auto (SsCliResult) ops = RUN ("dump-ops", SS_TEACHING);
  g_auto (SsCliResult) program = RUN (SS_TEACHING, "--dump-program");

  cr_expect (g_str_has_prefix (events.out, "action,id,bytes,step,micro_batch,phase\n"));
  cr_expect (ne (ptr, strstr (events.out, "\nalloc,0,"), NULL));
  cr_expect (g_str_has_prefix (ops.out, "step,micro_batch,phase,op,inputs,outputs,"
                                        "allocated_before,peak_in_op,allocated_after\n"));
  cr_expect (ne (ptr, strstr (ops.out, "\n1,1,forward,aten.embedding.default,"), NULL));
  cr_expect (eq (int, program.status, 0));
  cr_expect (ne (ptr, strstr (program.out, "\nrun,aten::"), NULL));
}

Test (cli, quiet_leaves_the_answer_to_the_status)
{
  g_auto (SsCliResult) result = RUN (SS_TEACHING, "--quiet", "--no-files", "--capacity=unlimited");

  cr_expect (eq (int, result.status, 0));
  cr_expect (eq (str, result.out, (char *) ""));
  cr_expect (eq (str, result.err, (char *) ""));
}

/* an option that an answer has no use for is none of its command */
Test (cli, every_answer_in_bytes_has_units_and_only_coloured_ones_colour)
{
  static const char *const commands[] = { "ledger", "compare", "animate", "overlay", "sweep" };

  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    {
      g_auto (SsCliResult) help = RUN (commands[i], "--help");
      gboolean is_coloured = g_str_equal (commands[i], "sweep");

      cr_expect (ne (ptr, strstr (help.out, "--units=GiB|GB"), NULL), "%s", commands[i]);
      cr_expect (eq (int, strstr (help.out, "--color=") != NULL, is_coloured), "%s", commands[i]);
    }
}

Test (cli, there_is_no_date_unless_it_is_asked_for)
{
  static const struct { const char *line; gboolean is_dated; } rows[] = {
    { "$S $F --json --no-files", FALSE },
    { "SOURCE_DATE_EPOCH= $S $F --json --no-files", FALSE },
    { "SOURCE_DATE_EPOCH=1700000000 $S $F --json --no-files", TRUE },
    { "SOURCE_DATE_EPOCH=1700000000 $S $F --json --no-files --stamp", TRUE },
    { "SOURCE_DATE_EPOCH=1700000000 $S $F -q -o d; cat d/run.json", TRUE },
  };
  g_auto (SsCliResult) now = RUN (SS_TEACHING, "--json", "--no-files", "--stamp");

  cr_expect (ne (ptr, strstr (now.out, "\"date\":\"20"), NULL));
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_auto (SsCliResult) result = ss_cli_shell (rows[i].line);

      cr_expect (eq (int, result.status, 0), "%s", result.err);
      cr_expect (eq (int, strstr (result.out, "\"date\"") != NULL, rows[i].is_dated), "%s",
                 rows[i].line);
      /* date -u -d @1700000000 */
      cr_expect (eq (int, strstr (result.out, "\"date\":\"2023-11-14T22:13:20Z\"") != NULL,
                     rows[i].is_dated));
    }
}

Test (cli, a_date_that_is_none_is_refused)
{
  static const char *const wrong[] = { "x", "-1", "1.5", "99999999999999999999",
                                       "9999999999999999" };

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autofree char *line = g_strdup_printf ("SOURCE_DATE_EPOCH=%s $S $F --no-files", wrong[i]);
      g_auto (SsCliResult) result = ss_cli_shell (line);

      cr_expect (eq (int, result.status, 2), "%s", wrong[i]);
      cr_expect (g_str_has_suffix (result.err, "\" is no time in seconds\n"), "%s", result.err);
    }
}

/* a device and a model of one's own, in the user's folder and in one of the system's */
Test (cli, data_of_ones_own_is_found)
{
  static const char *const variables[] = { "XDG_DATA_HOME", "XDG_DATA_DIRS" };
  g_auto (SsCliResult) made = ss_cli_shell (
    "mkdir -p stepsim/hw/devices stepsim/scenarios/models"
    " && sed 's/name=\"[^\"]*\"/name=\"My card\"/' '" SS_SOURCE_DIR "/hw/devices/rtx-4090.xml'"
    " > stepsim/hw/devices/mine.xml && cp '" SS_SOURCE_DIR "/scenarios/models/gpt2.xml'"
    " stepsim/scenarios/models/my-model.xml");

  cr_assert (eq (int, made.status, 0), "%s", made.err);
  for (guint i = 0; i < G_N_ELEMENTS (variables); i++)
    {
      g_autofree char *line = g_strdup_printf (
        "export %s=\"$PWD\"; \"$S\" list devices; \"$S\" list models; \"$S\" ledger \"$F\""
        " -s hardware/device=mine -s model/href=models/my-model.xml"
        " -s training/sequence-length=1024", variables[i]);
      g_auto (SsCliResult) result = ss_cli_shell (line);

      cr_expect (eq (int, result.status, 0), "%s", result.err);
      cr_expect (ne (ptr, strstr (result.out, "\nmine "), NULL), "%s", result.out);
      cr_expect (ne (ptr, strstr (result.out, "My card"), NULL), "%s", result.out);
      cr_expect (ne (ptr, strstr (result.out, "\nmy-model "), NULL), "%s", result.out);
    }
}

Test (cli, units_and_colour_are_as_asked)
{
  g_auto (SsCliResult) plain = RUN (SS_TEACHING, "--no-files");
  g_auto (SsCliResult) gb = RUN (SS_TEACHING, "--no-files", "--units=GB");
  g_auto (SsCliResult) colour = RUN (SS_TEACHING, "--no-files", "--color=always");
  g_auto (SsCliResult) wrong = RUN (SS_TEACHING, "--no-files", "--units=MB");
  g_auto (SsCliResult) no = RUN (SS_TEACHING, "--no-files", "--color=red");

  cr_expect (eq (ptr, strchr (plain.out, '\x1b'), NULL));
  cr_expect (ne (ptr, strchr (colour.out, '\x1b'), NULL));
  cr_expect (ne (ptr, strstr (plain.out, "GiB"), NULL));
  cr_expect (ne (ptr, strstr (gb.out, "GB"), NULL));
  cr_expect (eq (int, wrong.status, 2));
  cr_expect (eq (int, no.status, 2));
}
