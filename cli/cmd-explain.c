/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/scenario-options.h"
#include "cli/terminal.h"
#include "output/tables/explain-json.h"
#include "output/tables/explain-text.h"
#include "study/explain.h"

/* Of a log the end is looked at: the last message is in it. */
#define MAX_LOG_BYTES ((gsize) 16 * 1024 * 1024)

typedef struct
{
  SsScenarioOptions scenario;
  SsTerminalOptions terminal;
  SsReportStyle style;
  gboolean wants_json;
} Options;

static void
options_clear (Options *self)
{
  ss_scenario_options_clear (&self->scenario);
  ss_terminal_options_clear (&self->terminal);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

/* The last MAX_LOG_BYTES of a stream, and at most twice as much in memory. NULL and said. */
static GString *
read_end (FILE *stream, const char *name)
{
  GString *text = g_string_new (NULL);
  char buffer[65536];
  gsize n;

  while ((n = fread (buffer, 1, sizeof buffer, stream)) > 0)
    {
      g_string_append_len (text, buffer, (gssize) n);
      if (text->len > 2 * MAX_LOG_BYTES)
        g_string_erase (text, 0, (gssize) (text->len - MAX_LOG_BYTES));
    }
  if (!ferror (stream))
    return text;
  ss_console_error ("%s: %s", name, g_strerror (errno));
  g_string_free (text, TRUE);
  return NULL;
}

/* A pipe ends, as that of <(...) does; a device may not. */
static gboolean
is_device (FILE *stream)
{
  struct stat status;

  return fstat (fileno (stream), &status) == 0
         && (S_ISCHR (status.st_mode) || S_ISBLK (status.st_mode));
}

static GString *
read_file (const char *path)
{
  FILE *stream = fopen (path, "rb");
  GString *text;

  if (stream != NULL && is_device (stream))
    {
      ss_console_error ("%s: is a device; a log is expected", path);
      fclose (stream);
      return NULL;
    }
  if (stream == NULL)
    {
      ss_console_error ("%s: %s", path, g_strerror (errno));
      return NULL;
    }
  text = read_end (stream, path);
  fclose (stream);
  return text;
}

/* A message that was not quoted comes in pieces; `-` is the standard input; what is no message may
 * be the name of a log. */
static gboolean
read_message (int n, char **words, SsOomMessage *message)
{
  g_auto (GStrv) all = g_new0 (char *, (gsize) n + 1);
  g_autofree char *joined = NULL;
  g_autoptr (GString) log = NULL;
  g_autoptr (GError) error = NULL;
  gboolean is_stdin = n == 1 && g_str_equal (words[0], "-");

  for (int i = 0; i < n; i++)
    all[i] = g_strdup (words[i]);
  joined = g_strjoinv (" ", all);
  if (is_stdin)
    log = read_end (stdin, "standard input");
  else if (ss_oom_message_parse (joined, strlen (joined), message, &error))
    return TRUE;
  else if (n == 1 && g_file_test (joined, G_FILE_TEST_EXISTS))
    log = read_file (joined);
  else
    {
      ss_console_error ("\"%s\": %s%s", joined, error->message,
                        strchr (joined, ' ') == NULL ? ", and there is no such file" : "");
      return FALSE;
    }
  g_clear_error (&error);
  if (log == NULL)
    return FALSE;
  if (ss_oom_message_parse (log->str, log->len, message, &error))
    return TRUE;
  ss_console_error ("%s: %s", is_stdin ? "standard input" : joined, error->message);
  return FALSE;
}

static SsExit
answer (const Options *options, const SsExplanation *explanation)
{
  g_autofree char *text = options->wants_json ? ss_explain_json (explanation)
                                              : ss_explain_text (explanation, &options->style);

  if (!ss_console_print (text))
    return SS_EXIT_OUTPUT;
  return explanation->found->len > 0 ? SS_EXIT_FITS : SS_EXIT_NOT_FOUND;
}

static SsExit
run (int argc, char **argv)
{
  g_auto (Options) options = { 0 };
  g_auto (SsOomMessage) message = { 0 };
  g_autoptr (SsScenario) scenario = NULL;
  g_autoptr (SsExplanation) explanation = NULL;
  g_autoptr (GError) error = NULL;
  const GOptionEntry entries[] = {
    SS_SCENARIO_OPTION_ENTRIES (options.scenario),
    { "units", 0, 0, G_OPTION_ARG_STRING, &options.terminal.units,
      "Powers of 1024 or of 1000 (GiB), but for requests", "GiB|GB" },
    { "json", 0, 0, G_OPTION_ARG_NONE, &options.wants_json,
      "Print one JSON object and nothing else", NULL },
    G_OPTION_ENTRY_NULL
  };
  SsExit status;

  if (!ss_command_parse (&ss_command_explain, entries, &argc, &argv, &status))
    return status;
  if (!ss_command_check_arguments (&ss_command_explain, argc, argv, 2, argc)
      || !ss_terminal_style (&options.terminal, &options.style)
      || !read_message (argc - 2, argv + 2, &message))
    return SS_EXIT_INPUT;
  scenario = ss_scenario_options_load (&options.scenario, argv[1]);
  if (scenario == NULL)
    return SS_EXIT_INPUT;
  explanation = ss_explain (scenario, &message, &error);
  if (explanation != NULL)
    return answer (&options, explanation);
  ss_console_error ("%s: %s", argv[1], error->message);
  return SS_EXIT_INPUT;
}

const SsCommand ss_command_explain = {
  .name = "explain",
  .arguments = "FILE MESSAGE",
  .summary = "say which tensors an out-of-memory message is about",
  .run = run,
};
