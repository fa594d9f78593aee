/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include <string.h>

#include "cli/console.h"
#include "hw/problems.h"

const SsCommand *const *
ss_commands (void)
{
  static const SsCommand *const commands[] = {
    &ss_command_init,        &ss_command_advice,
    &ss_command_animate,     &ss_command_compare,
    &ss_command_sweep,       &ss_command_ledger,   &ss_command_trace,
    &ss_command_snapshot,    &ss_command_overlay,  &ss_command_explain,
    &ss_command_show,
    &ss_command_list,
    &ss_command_validate,    &ss_command_calibrate, &ss_command_bench,
    &ss_command_dump_events, &ss_command_dump_ops, &ss_command_replay_allocator,
    &ss_command_chain,
    NULL,
  };

  return commands;
}

const SsCommand *
ss_command_find (const char *name)
{
  for (const SsCommand *const *command = ss_commands (); *command != NULL; command++)
    if (g_str_equal ((*command)->name, name))
      return *command;
  return NULL;
}

static char *
usage_name (const SsCommand *self)
{
  return self == &ss_command_run ? g_strdup ("stepsim")
                                 : g_strconcat ("stepsim ", self->name, NULL);
}

/* "; near: --units" where GOption met an option that nobody has, or nothing. (transfer full) */
static char *
near_options (const GOptionEntry *entries, const GError *error)
{
  const char *met = strstr (error->message, "--");
  g_autofree char *name = met != NULL ? g_strdup (met) : NULL, *hint = NULL;
  g_autoptr (GPtrArray) known = g_ptr_array_new_with_free_func (g_free);

  if (name == NULL || !g_error_matches (error, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION))
    return g_strdup ("");
  name[strcspn (name, "= ")] = '\0';
  for (; entries->long_name != NULL; entries++)
    g_ptr_array_add (known, g_strconcat ("--", entries->long_name, NULL));
  g_ptr_array_add (known, g_strdup ("--help"));
  g_ptr_array_add (known, NULL);
  hint = ss_problems_suggest (name, (const char *const *) known->pdata);
  return g_str_has_prefix (hint, "near: ") ? g_strconcat ("; ", hint, NULL) : g_strdup ("");
}

gboolean
ss_command_parse (const SsCommand    *self,
                  const GOptionEntry *entries,
                  int                *argc,
                  char             ***argv,
                  SsExit             *status)
{
  g_autoptr (GOptionContext) context = g_option_context_new (self->arguments);
  g_autoptr (GError) error = NULL;
  g_autofree char *name = usage_name (self);
  gboolean wants_help = FALSE;
  const GOptionEntry help[] = {
    { "help", 'h', 0, G_OPTION_ARG_NONE, &wants_help, "Print this", NULL },
    G_OPTION_ENTRY_NULL
  };

  g_set_prgname (name);
  g_option_context_set_summary (context, self->summary);
  g_option_context_set_help_enabled (context, FALSE);
  g_option_context_set_strict_posix (context, FALSE);
  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_main_entries (context, help, NULL);
  if (!g_option_context_parse (context, argc, argv, &error))
    {
      g_autofree char *hint = near_options (entries, error);

      ss_console_error ("%s%s (%s --help)", error->message, hint, name);
      *status = SS_EXIT_INPUT;
      return FALSE;
    }
  if (wants_help)
    {
      g_autofree char *text = g_option_context_get_help (context, TRUE, NULL);

      *status = ss_console_print (text) ? SS_EXIT_FITS : SS_EXIT_OUTPUT;
      return FALSE;
    }
  return TRUE;
}

gboolean
ss_command_check_arguments (const SsCommand *self, int argc, char **argv, int min, int max)
{
  g_autofree char *name = usage_name (self);

  if (argc - 1 < min)
    ss_console_error ("%s wants %s (%s --help)", name, self->arguments, name);
  else if (argc - 1 > max)
    ss_console_error ("\"%s\" is one argument too many; %s wants %s", argv[max + 1], name,
                      self->arguments);
  return argc - 1 >= min && argc - 1 <= max;
}
