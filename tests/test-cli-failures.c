/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <string.h>

#include "cli-fixture.h"

TestSuite (cli_failures, .init = ss_cli_make_folder, .fini = ss_cli_remove_folder);

/* ---- bad input ---- */

static void
expect_refused (const char *path, const char *what)
{
  g_auto (SsCliResult) run = RUN (path, "--json", "--no-files"), validate = RUN ("validate", path);

  cr_expect (eq (int, run.status, 2), "%s", what);
  cr_expect (eq (str, run.out, (char *) ""), "%s", what);
  cr_expect (ne (str, run.err, (char *) ""), "%s", what);
  cr_expect (ss_cli_lines_are_ours (run.err), "%s: %s", what, run.err);
  cr_expect (eq (int, validate.status, 2), "%s", what);
}

Test (cli_failures, wrong_files_are_refused_with_their_name)
{
  static const struct { const char *what, *contents; } rows[] = {
    { "empty", "" },
    { "only spaces", "   \n  " },
    { "no xml", "steps: 2\n" },
    { "cut short", "<scenario name='x'><model href='m.xml'/>" },
    { "wrong root", "<device name='x'/>" },
    { "no model", "<scenario name='x'><hardware device='h100-sxm-80gb'/></scenario>" },
    { "no hardware", "<scenario name='x'><model href='m.xml'/></scenario>" },
    { "unknown element", "<scenario name='x'><modle href='m.xml'/></scenario>" },
    { "cyclic href",
      "<scenario name='x'><model href='bad.xml'/><hardware device='h100-sxm-80gb'/></scenario>" },
    { "absent href", "<scenario name='x'><model href='nowhere.xml'/><hardware "
                     "device='h100-sxm-80gb'/></scenario>" },
    { "entity bomb",
      "<!DOCTYPE s [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;'><!ENTITY c '&b;&b;&b;&b;'>]>"
      "<scenario name='&c;'/>" },
    { "external entity",
      "<!DOCTYPE s [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><scenario name='x'>&a;</scenario>" },
    { "not utf-8", "<scenario name='\xff\xfe'/>" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *path = ss_cli_write ("bad.xml", rows[i].contents, -1);

      expect_refused (path, rows[i].what);
    }
}

Test (cli_failures, what_is_near_an_unknown_name_is_said)
{
  static const struct { const char *line, *said; } rows[] = {
    { "\"$S\" \"$F\" --unit=GB", "Unknown option --unit=GB; near: --units (stepsim --help)" },
    { "\"$S\" sweep --plt=x", "Unknown option --plt=x; near: --plot (stepsim sweep --help)" },
    { "\"$S\" \"$F\" --foo", "stepsim: Unknown option --foo (stepsim --help)" },
    { "\"$S\" sweeep", "stepsim: \"sweeep\" is neither a file nor a command, nor a shipped "
                          "scenario or model; near: sweep" },
    { "\"$S\" llama8b-h10", "near: llama8b-h100" },
    { "\"$S\" sweep llama8b-h100.xml training/steps=1,2",
      "directory; the shipped one is " SS_SOURCE_DIR "/scenarios/llama8b-h100.xml" },
    { "\"$S\" nothing.xml", "nothing.xml: cannot be opened: No such file or directory" },
    { "\"$S\" \"$F\" -s hardware/device=h100",
      "near: h100-nvl-94gb, h100-pcie-80gb, h100-sxm-80gb; a card with another memory is one of "
      "them with --capacity=\"24 GiB\"" },
    { "\"$S\" \"$F\" -s model/href=models/llama3-8.xml", "near: models/llama3-8b.xml" },
    { "\"$S\" \"$F\" -s model/href=/",
      "\"/\" is a folder; wanted a model file (.xml) or a Hugging Face config (.json)" },
    { "echo '{}' >config.json; \"$S\" config.json --device=l4",
      "config.json: model_type is missing; is this a Hugging Face config?" },
    { "\"$S\" \"$F\" -s checkpointing/policy=sqr", "near: sqrt" },
    { "\"$S\" list device", "near: devices" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_auto (SsCliResult) result = ss_cli_shell (rows[i].line);

      cr_expect (eq (int, result.status, 2), "%s", rows[i].line);
      cr_expect (eq (str, result.out, (char *) ""), "%s", rows[i].line);
      cr_expect (eq (uint, ss_cli_count_lines (result.err), 1), "%s", result.err);
      cr_expect (g_str_has_suffix (g_strchomp (result.err), rows[i].said), "%s", result.err);
    }
}

Test (cli_failures, a_problem_is_told_of_the_option_that_was_given)
{
  g_auto (SsCliResult) capacity = ss_cli_shell ("\"$S\" \"$F\" --capacity=24");
  g_auto (SsCliResult) conf = ss_cli_shell ("\"$S\" \"$F\" --alloc-conf=foo:1");

  cr_expect (g_str_has_prefix (capacity.err, "stepsim: --capacity=24: capacity: \"24\" has no "),
             "%s", capacity.err);
  cr_expect (g_str_has_prefix (conf.err, "stepsim: --alloc-conf=foo:1: alloc-conf: "), "%s",
             conf.err);
}

/* before any work: a film takes seconds */
Test (cli_failures, a_picture_that_exists_is_left_alone_without_force)
{
  static const struct { const char *command, *file; } rows[] = {
    { "animate \"$F\" -o", "a.gif" },
    { "compare \"$F\" --steps=1,2 -o", "a.png" },
    { "sweep \"$F\" training/micro-batch=1,2 --no-files --plot", "a.svg" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *path = ss_cli_write (rows[i].file, "mine", -1);
      g_autofree char *line = g_strdup_printf ("\"$S\" %s %s", rows[i].command, rows[i].file);
      g_autofree char *said = g_strdup_printf ("stepsim: %s: exists already; -f replaces it\n",
                                               rows[i].file);
      g_auto (SsCliResult) result = ss_cli_shell (line);
      g_autofree char *left = ss_cli_read (rows[i].file);

      cr_expect (eq (int, result.status, 3), "%s", line);
      cr_expect (eq (str, result.out, (char *) ""), "%s", line);
      cr_expect (eq (str, result.err, said));
      cr_expect (eq (str, left, (char *) "mine"), "%s", line);
    }
}

Test (cli_failures, a_file_of_no_known_kind_is_refused)
{
  static const char *const lines[] = {
    "\"$S\" \"$F\" -o -",
    "\"$S\" animate \"$F\" -o a.gfi",
    "\"$S\" compare \"$F\" --steps=1,2 -o a.pdf",
    "\"$S\" sweep \"$F\" training/micro-batch=1,2 --plot a.pdf",
    "\"$S\" sweep \"$F\" training/micro-batch=1,2 --plot -",
    "\"$S\" overlay \"$F\" \"$F\" -o a.pdf",
  };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    {
      g_auto (SsCliResult) result = ss_cli_shell (lines[i]);
      g_autoptr (GDir) folder = g_dir_open (ss_cli_folder (), 0, NULL);

      cr_expect (eq (int, result.status, 2), "%s", lines[i]);
      cr_expect (eq (str, result.out, (char *) ""), "%s", lines[i]);
      cr_expect (eq (uint, ss_cli_count_lines (result.err), 1), "%s", result.err);
      cr_expect (eq (ptr, (gpointer) g_dir_read_name (folder), NULL), "%s", lines[i]);
    }
}

Test (cli_failures, a_picture_can_go_to_standard_output)
{
  g_auto (SsCliResult) result
    = ss_cli_shell ("\"$S\" compare \"$F\" --steps=1,2 -o - > out; head -c 4 out");

  cr_expect (eq (str, result.err, (char *) ""));
  cr_expect (eq (str, result.out, (char *) "\x89PNG"));
}

Test (cli_failures, wrong_values_are_refused)
{
  static const char *const settings[] = {
    "training/micro-batch=-1",
    "training/micro-batch=0",
    "training/micro-batch=two",
    "training/micro-batch=99999999999999999999",
    "training/micro-batch=4611686018427387904",
    "training/sequence-length=1.5",
    "training/steps=0",
    "training/steps=-2",
    "training/gradient-accumulation=1e9",
    "hardware/capacity=80",
    "hardware/capacity=-80 GiB",
    "hardware/capacity=80 GiBB",
    "hardware/capacity=9999999 TiB",
    "hardware/device=h100-96gb",
    "precision/recipe=fp4",
    "optimizer/type=adamx",
    "optimizer/implementation=quick",
    "checkpointing/policy=sometimes",
    "kernels/profile=mine",
    "kernels/attention=none",
    "allocator/type=best",
    "training/zero-grad=maybe",
    "model/layers=-3",
    "model/layers=0",
    "nonsense",
    "a/b/c=d",
    "=",
    "",
  };

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++)
    {
      g_auto (SsCliResult) result = RUN (SS_TEACHING, "--json", "--no-files", "--set", settings[i]);

      cr_expect (eq (int, result.status, 2), "%s", settings[i]);
      cr_expect (eq (str, result.out, (char *) ""), "%s", settings[i]);
      cr_expect (ss_cli_lines_are_ours (result.err) && result.err[0] != '\0', "%s: %s", settings[i],
                 result.err);
    }
}

/* UTF-16 is XML too: read or refused, never more than that */
Test (cli_failures, utf_16_does_no_harm)
{
  g_autofree char *xml = NULL, *wide = NULL, *path = NULL;
  gsize length = 0;

  cr_assert (g_file_get_contents (SS_TEACHING, &xml, NULL, NULL));
  wide = g_convert (xml, -1, "UTF-16", "UTF-8", NULL, &length, NULL);
  cr_assert (ne (ptr, wide, NULL));
  path = ss_cli_write ("wide.xml", wide, (gssize) length);
  {
    g_auto (SsCliResult) result = RUN (path, "--json", "--no-files");

    cr_expect (le (int, result.status, 2));
    cr_expect (ss_cli_lines_are_ours (result.err), "%s", result.err);
  }
}

Test (cli_failures, a_hundred_megabytes_of_spaces_are_refused_unread)
{
  const gsize n = 100 * 1000 * 1000;
  g_autofree char *spaces = g_malloc (n), *path = NULL;

  memset (spaces, ' ', n);
  path = ss_cli_write ("spaces.xml", spaces, (gssize) n);
  expect_refused (path, "spaces");
}

Test (cli_failures, what_cannot_be_read_is_bad_input)
{
  g_auto (SsCliResult) absent = RUN ("./nowhere.xml"), dir = RUN ("/"), device = RUN ("/dev/null");

  cr_expect (eq (int, absent.status, 2));
  cr_expect (ne (ptr, strstr (absent.err, "nowhere.xml"), NULL));
  cr_expect (eq (int, dir.status, 2));
  cr_expect (eq (int, device.status, 2));
}

/* ---- output that fails ---- */

Test (cli_failures, a_full_device_is_said)
{
  g_auto (SsCliResult) run = ss_cli_shell ("$S $F --json --no-files > /dev/full");
  g_auto (SsCliResult) show = ss_cli_shell ("$S show $F > /dev/full");
  g_auto (SsCliResult) help = ss_cli_shell ("$S --help > /dev/full");
  g_auto (SsCliResult) file = ss_cli_shell ("$S show $F -o /dev/full");

  cr_expect (eq (int, run.status, 3));
  cr_expect (ne (ptr, strstr (run.err, "standard output"), NULL));
  cr_expect (eq (int, show.status, 3));
  cr_expect (eq (int, help.status, 3));
  cr_expect (eq (int, file.status, 3));
}

/* the pictures are missing, all else is there, and why is said once */
Test (cli_failures, without_gnuplot_the_rest_is_written)
{
  g_auto (SsCliResult) result = ss_cli_shell ("PATH= $S $F --capacity=unlimited");
  g_autofree char *json = ss_cli_read ("stepsim-out/run.json");

  cr_expect (eq (int, result.status, 3));
  cr_expect (eq (uint, ss_cli_count_lines (result.err), 1), "%s", result.err);
  cr_expect (ne (ptr, strstr (result.err, "gnuplot"), NULL));
  cr_expect (ne (ptr, strstr (result.out, "\nWrote into stepsim-out: "), NULL));
  cr_expect (ne (ptr, json, NULL));
}

/* Whether it read its script or not, one reason is given for both pictures. */
Test (cli_failures, how_a_gnuplot_without_words_ended_is_said_once)
{
  static const struct { const char *ending, *said; } rows[] = {
    { "exit 5", "gnuplot failed: exit status 5, no reason given; " },
    { "kill -9 $$", "gnuplot failed: ended by signal 9; " },
    { "cat >/dev/null; echo broken >&2; exit 1", "gnuplot failed: broken; " },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *script = g_strdup_printf ("#!/bin/sh\n%s\n", rows[i].ending);
      g_autofree char *path = ss_cli_write ("gnuplot", script, -1);
      g_auto (SsCliResult) result = ss_cli_shell ("chmod +x gnuplot; PATH=.:$PATH $S -q $F");

      cr_expect (eq (int, result.status, 3), "%s", rows[i].ending);
      cr_expect (eq (uint, ss_cli_count_lines (result.err), 1), "%s", result.err);
      cr_expect (g_str_has_prefix (result.err, "stepsim: "), "%s", result.err);
      cr_expect (ne (ptr, strstr (result.err, rows[i].said), NULL), "%s", result.err);
    }
}

Test (cli_failures, a_closed_stdout_is_said_and_nothing_else_is_overwritten)
{
  g_auto (SsCliResult) result = ss_cli_shell ("$S $F --json >&-");
  g_autofree char *json = ss_cli_read ("stepsim-out/run.json");

  cr_expect (eq (int, result.status, 3));
  cr_assert (ne (ptr, json, NULL));
  cr_expect (g_str_has_suffix (json, "}\n"));
}

/* more than a pipe holds, so that the reader is gone before the end */
Test (cli_failures, a_reader_that_goes_away_is_no_noise)
{
  static const char *const commands[]
    = { "dump-events $F -s training/steps=9", "trace $F", "snapshot $F" };

  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    {
      g_autofree char *line
        = g_strdup_printf ("{ $S %s; echo status $? >&2; } | head -c 9", commands[i]);
      g_auto (SsCliResult) result = ss_cli_shell (line);

      cr_expect (eq (str, result.err, (char *) "status 3\n"), "%s", commands[i]);
    }
}

Test (cli_failures, a_folder_that_cannot_be_made_is_said)
{
  g_autofree char *file = ss_cli_write ("file", "x", -1);
  g_auto (SsCliResult) result = RUN (SS_TEACHING, "--json", "-o", "file/below"),
                  on_it = RUN (SS_TEACHING, "--json", "-o", "file");

  cr_expect (eq (int, result.status, 3));
  cr_expect (ss_cli_lines_are_ours (result.err));
  cr_expect (eq (int, on_it.status, 3));
}

static gboolean
has_control (const char *text)
{
  for (; *text != '\0'; text++)
    if (g_ascii_iscntrl (*text) && *text != '\n')
      return TRUE;
  return FALSE;
}

/* An escape sequence in an argument would colour the terminal, or worse; a backspace hides. */
Test (cli_failures, control_characters_of_an_argument_are_not_printed)
{
  static const char *const arguments[] = { "training/steps=\033[31m2", "no/such\b\bpath=1" };

  for (guint i = 0; i < G_N_ELEMENTS (arguments); i++)
    {
      g_auto (SsCliResult) run = RUN ("--set", arguments[i], SS_TEACHING);
      g_auto (SsCliResult) sweep = RUN ("sweep", "--no-files", SS_TEACHING, arguments[i]);

      cr_expect (eq (int, run.status, 2));
      cr_expect (eq (int, sweep.status, 2));
      cr_expect (not (has_control (run.err)), "%s", run.err);
      cr_expect (not (has_control (sweep.err)), "%s", sweep.err);
    }
}
