/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/console.h"
#include "hw/problems.h"
#include "scenarios/scenario-source.h"

static void
append_commands (GString *text)
{
  g_autoptr (GString) checks = g_string_new (NULL);

  for (const SsCommand *const *command = ss_commands (); *command != NULL; command++)
    if ((*command)->is_for_checking)
      g_string_append_printf (checks, "%s%s", checks->len > 0 ? ", " : "", (*command)->name);
    else
      g_string_append_printf (text, "  %-10s %s\n", (*command)->name, (*command)->summary);
  if (checks->len > 0)
    g_string_append_printf (text, "  for checking: %s\n", checks->str);
}

/* Fits one screen: 24 lines. */
static char *
short_help (void)
{
  GString *text = g_string_new (
    "Usage: stepsim [OPTION...] FILE, or stepsim COMMAND [OPTION...] [ARGUMENT...]\n"
    "Simulates training on an accelerator: does it fit, and if not, when and why not.\n"
    "FILE: a scenario (XML), a model's config.json with --device, or a shipped name.\n\n"
    "Commands (stepsim COMMAND --help says more):\n");

  append_commands (text);
  g_string_append (text,
    "\n  --device, --seq, --micro-batch, --lora ...; -s PATH=VALUE: any setting\n"
    "  --json, --no-files, -o DIR ... (stepsim --help-all has all options)\n"
    "Exit status: 0 fits, 1 out of memory, 2 bad usage or input, 3 could not write.\n");
  return g_string_free (text, FALSE);
}

static SsExit
print (char *text)
{
  g_autofree char *owned = text;

  return ss_console_print (owned) ? SS_EXIT_FITS : SS_EXIT_OUTPUT;
}

/* Somebody's typing mistake is told from a missing file by what the name looks like. */
static SsExit
refuse_word (const char *word)
{
  g_autoptr (GPtrArray) known = g_ptr_array_new ();
  g_auto (GStrv) scenarios = ss_scenario_source_scenarios (),
                 models = ss_scenario_source_models ();
  g_autofree char *suggestion = NULL;

  for (const SsCommand *const *command = ss_commands (); *command != NULL; command++)
    g_ptr_array_add (known, (gpointer) (*command)->name);
  for (char **name = scenarios; *name != NULL; name++)
    g_ptr_array_add (known, *name);
  for (char **name = models; *name != NULL; name++)
    g_ptr_array_add (known, *name);
  g_ptr_array_add (known, NULL);
  suggestion = ss_problems_suggest (word, (const char *const *) known->pdata);
  ss_console_error ("\"%s\" is neither a file nor a command, nor a shipped scenario or model; %s",
                    word, suggestion);
  return SS_EXIT_INPUT;
}

static gboolean
looks_like_a_word (const char *text)
{
  return text[0] != '-' && strpbrk (text, "./") == NULL && !g_file_test (text, G_FILE_TEST_EXISTS)
         && !ss_scenario_source_is_shipped (text);
}

/* A closed standard stream would hand its number to the next file that is opened, and the answer
 * would go there.  In its place: nothing to read, an error to write to, silence. */
static void
hold_standard_streams (void)
{
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    if (fcntl (fd, F_GETFD) < 0
        && open ("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY) != fd)
      return;
}

int
main (int argc, char **argv)
{
  const SsCommand *command;

  hold_standard_streams ();
  setlocale (LC_CTYPE, "");
  /* a reader that goes away is an error of write, said nowhere: exit status 3 */
  signal (SIGPIPE, SIG_IGN);
  if (argc < 2)
    {
      ss_console_error ("no scenario given; usage: stepsim [OPTION...] FILE (stepsim --help)");
      return SS_EXIT_INPUT;
    }
  if (g_str_equal (argv[1], "--help") || g_str_equal (argv[1], "-h"))
    return print (short_help ());
  if (g_str_equal (argv[1], "--version"))
    return print (g_strdup ("stepsim " SS_VERSION "\n"));
  if (g_str_equal (argv[1], "--help-all"))
    {
      argv[1] = (char *) "--help";
      return ss_command_run.run (argc, argv);
    }
  command = ss_command_find (argv[1]);
  if (command != NULL)
    return command->run (argc - 1, argv + 1);
  if (looks_like_a_word (argv[1]))
    return refuse_word (argv[1]);
  return ss_command_run.run (argc, argv);
}
