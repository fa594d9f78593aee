/* SPDX-License-Identifier: MIT
 *
 * Advice as people meet it: what is printed can be pasted, and does what it says.
 */
#include "cli-fixture.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

TestSuite (cli_advice, .init = ss_cli_make_folder, .fini = ss_cli_remove_folder);

/* "      --set ...": the lines to paste. */
static GPtrArray *
commands_in (const char *text)
{
  GPtrArray *commands = g_ptr_array_new_with_free_func (g_free);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (char **line = lines; *line != NULL; line++)
    if (g_str_has_prefix (*line, "      --set "))
      g_ptr_array_add (commands, g_strstrip (g_strdup (*line)));
  return commands;
}

/* The figure before its unit in "   17.2 GiB  nothing ...", on the line before the command's. */
static char *
peak_of (const char *text, const char *command)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (guint i = 1; lines[i] != NULL; i++)
    if (g_str_equal (g_strstrip (lines[i]), command))
      for (guint j = i; j-- > 0;)
        if (strstr (lines[j], " % ") != NULL)
          {
            g_auto (GStrv) halves = g_strsplit (strstr (lines[j], " % ") + 3, "GiB", 2);

            return g_strdup (g_strstrip (halves[0]));
          }
  return NULL;
}

static void
expect_lines_to_hold (const char *options, guint min_lines)
{
  g_autofree char *line = g_strdup_printf ("$S --no-files --advice %s $F", options);
  g_auto (SsCliResult) first = ss_cli_shell (line);
  g_autoptr (GPtrArray) commands = commands_in (first.out);

  cr_assert (eq (int, first.status, 1));
  cr_assert (ge (u32, commands->len, min_lines));
  for (guint i = 0; i < commands->len; i++)
    {
      const char *command = g_ptr_array_index (commands, i);
      g_autofree char *again
        = g_strdup_printf ("$S --no-files --no-advice %s $F %s", options, command);
      g_autofree char *peak = peak_of (first.out, command);
      g_autofree char *wanted = g_strdup_printf ("Peak %s GiB", peak);
      g_auto (SsCliResult) changed = ss_cli_shell (again);

      cr_expect (eq (int, changed.status, 0), "%s: %s", command, changed.err);
      cr_expect (ne (ptr, strstr (changed.out, wanted), NULL), "%s: %s", command, wanted);
    }
}

Test (cli_advice, every_line_can_be_pasted)
{
  expect_lines_to_hold ("--capacity='18 GiB'", 6);
  expect_lines_to_hold ("--capacity='6 GiB' --set training/steps=3", 3);
}

/* What a line adds to the options that were given holds over them. */
Test (cli_advice, a_line_holds_beside_alloc_conf)
{
  expect_lines_to_hold ("--capacity='19.6 GiB' --alloc-conf=max_split_size_mb:2048", 3);
}

Test (cli_advice, no_advice_has_none)
{
  g_auto (SsCliResult) with = ss_cli_shell ("$S --no-files --capacity='18 GiB' $F");
  g_auto (SsCliResult) without
    = ss_cli_shell ("$S --no-files --no-advice --capacity='18 GiB' $F");
  g_auto (SsCliResult) json
    = ss_cli_shell ("$S --no-files --no-advice --json --capacity='18 GiB' $F");

  cr_assert (eq (int, without.status, 1));
  cr_assert (ne (ptr, strstr (with.out, "to make it fit\n"), NULL));
  cr_assert (ne (ptr, strstr (without.out, "\nNext: stepsim advice --capacity='18 GiB' "), NULL));
  cr_assert (eq (ptr, strstr (without.out, "to make it fit"), NULL));
  cr_assert (ne (ptr, strstr (json.out, "\"advice\":[]"), NULL));
}

/* The object and the file say the same, and more than the lines. */
Test (cli_advice, the_file_of_a_run_has_it)
{
  g_auto (SsCliResult) json = ss_cli_shell ("$S --json -o out --capacity='18 GiB' $F");
  g_auto (SsCliResult) quiet = ss_cli_shell ("$S -q -o quiet --capacity='18 GiB' $F");
  g_autofree char *file = ss_cli_read ("out/run.json"), *silent = ss_cli_read ("quiet/run.json");

  cr_assert (ne (ptr, strstr (json.out, "\"set\":{\"optimizer/type\":\"sgd\"}"), NULL));
  cr_assert (eq (str, file, json.out));
  cr_assert (eq (str, quiet.out, (char *) ""));
  cr_assert (eq (str, silent, json.out));
}

Test (cli_advice, fewer_checkpoints_are_named_with_their_command)
{
  g_auto (SsCliResult) fits
    = ss_cli_shell ("$S --no-files --advice --capacity='18 GiB' "
                    "--set checkpointing/policy=full $F");

  cr_assert (eq (int, fits.status, 0));
  cr_assert (ne (ptr, strstr (fits.out, "layers checkpointed it fits as well: "), NULL));
  cr_assert (ne (ptr, strstr (fits.out, "      --set checkpointing/policy=block --set "), NULL));
}

/* What the command prints is a script: comments and commands, each of which fits. */
Test (cli_advice, the_command_prints_commands)
{
  g_auto (SsCliResult) all = ss_cli_shell ("$S advice --capacity='18 GiB' $F");
  g_auto (GStrv) lines = g_strsplit (all.out, "\n", -1);
  guint n = 0;

  cr_assert (eq (int, all.status, 1));
  for (char **line = lines; *line != NULL; line++)
    {
      g_autofree char *again = NULL;

      if (!g_str_has_prefix (*line, "stepsim "))
        continue;
      n++;
      again = g_strdup_printf ("$S -q --no-files %s", *line + strlen ("stepsim "));
      g_auto (SsCliResult) run = ss_cli_shell (again);
      cr_expect (eq (int, run.status, 0), "%s: %s", *line, run.err);
    }
  cr_expect (ge (u32, n, 8), "%s", all.out);
}

/* Every shipped scenario that runs out of memory is told a way out. */
Test (cli_advice, shipped_scenarios_are_helped)
{
  const char *const names[]
    = { "llama8b-h100", "llama8b-h100-mixed", "llama8b-h100-fragmentation" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *line
        = g_strdup_printf ("$S --no-files --advice %s/scenarios/%s.xml", SS_SOURCE_DIR,
                           names[i]);
      g_auto (SsCliResult) run = ss_cli_shell (line);
      g_autoptr (GPtrArray) commands = commands_in (run.out);

      cr_expect (eq (int, run.status, 1));
      cr_expect (ge (u32, commands->len, 3), "%s", names[i]);
    }
}
