/* SPDX-License-Identifier: MIT */
#include "cli/bench-allocator.h"
#include "cli/bench-engine.h"
#include "cli/bench-trace.h"
#include "cli/command.h"
#include "cli/console.h"
#include "hw/problems.h"

static gboolean
bench_engine (GString *out, G_GNUC_UNUSED GError **error)
{
  ss_bench_engine (out);
  return TRUE;
}

static const struct
{
  const char *name;
  gboolean (*run) (GString *out, GError **error);
} benches[] = {
  { "engine", bench_engine },
  { "allocator", ss_bench_allocator },
  { "trace", ss_bench_trace },
};

/* Each table is printed when it is there: a bench takes seconds. */
static SsExit
bench (guint i)
{
  g_autoptr (GString) out = g_string_new (NULL);
  g_autoptr (GError) error = NULL;

  g_string_append_printf (out, "%s: ", benches[i].name);
  if (!benches[i].run (out, &error))
    {
      ss_console_error ("%s", error->message);
      return SS_EXIT_INPUT;
    }
  g_string_append_c (out, '\n');
  return ss_console_print (out->str) ? SS_EXIT_FITS : SS_EXIT_OUTPUT;
}

static SsExit
bench_named (const char *name)
{
  const char *known[G_N_ELEMENTS (benches) + 1] = { NULL };
  g_autofree char *suggestion = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (benches); i++)
    {
      known[i] = benches[i].name;
      if (g_str_equal (benches[i].name, name))
        return bench (i);
    }
  suggestion = ss_problems_suggest (name, known);
  ss_console_error ("there is no bench \"%s\"; %s", name, suggestion);
  return SS_EXIT_INPUT;
}

static SsExit
run (int argc, char **argv)
{
  const GOptionEntry entries[] = { G_OPTION_ENTRY_NULL };
  SsExit status = SS_EXIT_FITS;

  if (!ss_command_parse (&ss_command_bench, entries, &argc, &argv, &status))
    return status;
  for (int i = 1; i < argc && status == SS_EXIT_FITS; i++)
    status = bench_named (argv[i]);
  for (guint i = 0; argc == 1 && i < G_N_ELEMENTS (benches) && status == SS_EXIT_FITS; i++)
    status = bench (i);
  return status;
}

const SsCommand ss_command_bench = {
  .name = "bench",
  .arguments = "[engine|allocator|trace]",
  .summary = "measure how fast the program itself is",
  .is_for_checking = TRUE,
  .run = run,
};
