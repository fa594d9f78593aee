/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <glib/gstdio.h>
#include <string.h>

#include "cli-fixture.h"

static void
make_folder (void)
{
  g_autofree char *path = NULL;

  ss_cli_make_folder ();
  path = g_build_filename (ss_cli_folder (), "stepsim", NULL);
  g_mkdir (path, 0700);
}

TestSuite (cli_config, .init = make_folder, .fini = ss_cli_remove_folder);

static void
write_config (const char *contents)
{
  g_autofree char *path = ss_cli_write ("stepsim/config", contents, -1);
}

Test (cli_config, it_says_what_no_option_says)
{
  g_auto (SsCliResult) before = RUN ("ledger", SS_TEACHING), after = { 0 }, option = { 0 };

  write_config ("# for slides\n[stepsim]\nunits = GB \n");
  after = RUN ("ledger", SS_TEACHING);
  option = RUN ("ledger", SS_TEACHING, "--units=GiB");
  cr_expect (ne (ptr, strstr (before.out, "GiB"), NULL));
  cr_expect (eq (int, after.status, 0));
  cr_expect (eq (ptr, strstr (after.out, "GiB"), NULL), "%s", after.out);
  cr_expect (ne (ptr, strstr (after.out, "GB"), NULL), "%s", after.out);
  cr_expect (eq (str, option.out, before.out));
}

/* no-color.org: what a user has written down goes before NO_COLOR, an option before both */
Test (cli_config, its_colour_goes_before_the_environment)
{
  static const struct { const char *config, *line; gboolean is_coloured; } rows[] = {
    { "[stepsim]\ncolor=always\n", "NO_COLOR=1 \"$S\" \"$F\" --no-files", TRUE },
    { "[stepsim]\ncolor=always\n", "\"$S\" \"$F\" --no-files --color=never", FALSE },
    { "[stepsim]\ncolor=never\n", "\"$S\" \"$F\" --no-files --color=always", TRUE },
    { "[stepsim]\ncolor=auto\n", "\"$S\" \"$F\" --no-files", FALSE },
    { "", "\"$S\" \"$F\" --no-files", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_auto (SsCliResult) result = { 0 };

      write_config (rows[i].config);
      result = ss_cli_shell (rows[i].line);
      cr_expect (eq (int, result.status, 0), "%u: %s", i, result.err);
      cr_expect (eq (int, strchr (result.out, '\x1b') != NULL, rows[i].is_coloured), "%u", i);
    }
}

Test (cli_config, all_that_is_wrong_is_said_with_its_line)
{
  static const struct { const char *config, *said; } rows[] = {
    { "[stepsim]\n\nunits=TB\n", "3: units: \"TB\" is not known; known: GiB, GB\n" },
    { "[stepsim]\nunits=\n", "2: units: \"\" is not known; known: GiB, GB\n" },
    { "[stepsim]\nunits=\xff\n", "2: units: \"\xef\xbf\xbd\" is not known; known: GiB, GB\n" },
    { "[stepsim]\nunit=GB\n", "2: unknown setting \"unit\"; known: units, color\n" },
    { "[stepsim]\ncolor=auto\n[other]\nunits=TB\n", "3: unknown group [other]; known: stepsim\n" },
    { "units=GB\n", "1: Key file does not start with a group\n" },
    { "[stepsim]\nunits=GB\nnonsense", "3: Key file contains line" },
    /* the last of two counts */
    { "[stepsim]\nunits=GB\nunits=MB\n", "3: units: \"MB\" is not known; known: GiB, GB\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *said = g_strdup_printf ("stepsim: %s/stepsim/config:%s", ss_cli_folder (),
                                               rows[i].said);
      g_auto (SsCliResult) result = { 0 };

      write_config (rows[i].config);
      result = RUN ("ledger", SS_TEACHING, "--units=GB");
      cr_expect (eq (int, result.status, 2), "%s", rows[i].config);
      cr_expect (eq (str, result.out, (char *) ""), "%s", rows[i].config);
      cr_expect (g_str_has_prefix (result.err, said), "%s: %s", rows[i].config, result.err);
    }
}

Test (cli_config, two_problems_are_two_lines)
{
  g_auto (SsCliResult) result = { 0 };

  write_config ("[stepsim]\nunits=TB\ncolor=red\n");
  result = RUN (SS_TEACHING, "--no-files");
  cr_expect (eq (int, result.status, 2));
  cr_expect (eq (uint, ss_cli_count_lines (result.err), 2), "%s", result.err);
  cr_expect (ss_cli_lines_are_ours (result.err));
}

/* a named pipe would be read for ever */
Test (cli_config, what_is_no_file_is_refused)
{
  g_auto (SsCliResult) folder = ss_cli_shell ("mkdir stepsim/config; \"$S\" ledger \"$F\"");
  g_auto (SsCliResult) pipe = ss_cli_shell ("rmdir stepsim/config; mkfifo stepsim/config; "
                                            "\"$S\" ledger \"$F\"");

  cr_expect (eq (int, folder.status, 2));
  cr_expect (g_str_has_suffix (folder.err, "config: is no file\n"), "%s", folder.err);
  cr_expect (eq (int, pipe.status, 2));
  cr_expect (g_str_has_suffix (pipe.err, "config: is no file\n"), "%s", pipe.err);
}

Test (cli_config, nothing_is_made_there)
{
  g_auto (SsCliResult) result = RUN (SS_TEACHING, "-o", "out");
  g_autofree char *path = g_build_filename (ss_cli_folder (), "stepsim", NULL);
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);

  cr_expect (eq (int, result.status, 0), "%s", result.err);
  cr_expect (eq (ptr, (gpointer) g_dir_read_name (dir), NULL));
}
