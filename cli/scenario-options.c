/* SPDX-License-Identifier: MIT */
#include "cli/scenario-options.h"

#include "cli/console.h"
#include "hw/data-path.h"
#include "output/format.h"

#define SHORT_ROW(self, UPPER, option, path, meaning, value)                                       \
  [SS_SHORT_##UPPER] = { "--" option, path },

const SsShortOption *
ss_short_options (void)
{
  static const SsShortOption rows[] = { SS_SHORT_OPTIONS (SHORT_ROW, ) };

  return rows;
}

void
ss_scenario_options_clear (SsScenarioOptions *self)
{
  g_clear_pointer (&self->before, g_strfreev);
  g_clear_pointer (&self->set, g_strfreev);
  for (guint i = 0; i < SS_N_SHORT_OPTIONS; i++)
    g_clear_pointer (&self->given[i], g_free);
}

char *
ss_scenario_options_words (const SsScenarioOptions *self, const char *more, const char *path)
{
  GString *words = g_string_new (NULL);
  g_autofree char *file = ss_shell_word (path);

  for (guint i = 0; i < SS_N_SHORT_OPTIONS; i++)
    {
      g_autofree char *word = self->given[i] != NULL ? ss_shell_word (self->given[i]) : NULL;

      if (word != NULL)
        g_string_append_printf (words, "%s=%s ", ss_short_options ()[i].option, word);
    }
  for (char **set = self->set; set != NULL && *set != NULL; set++)
    {
      g_autofree char *word = ss_shell_word (*set);

      g_string_append_printf (words, "--set %s ", word);
    }
  if (more != NULL)
    g_string_append_printf (words, "%s ", more);
  g_string_append (words, file);
  return g_string_free (words, FALSE);
}

/* NULL with *error if one of them is not text. */
static GPtrArray *
overrides_of (const SsScenarioOptions *self, const char *const *more, GError **error)
{
  g_autoptr (GPtrArray) overrides = g_ptr_array_new_with_free_func (g_free);

  /* the last one holds: a --set, as advice prints it, beside the command it is advice for */
  for (char **set = self->before; set != NULL && *set != NULL; set++)
    g_ptr_array_add (overrides, g_strdup (*set));
  for (guint i = 0; i < SS_N_SHORT_OPTIONS; i++)
    if (self->given[i] != NULL)
      g_ptr_array_add (overrides,
                       g_strconcat (ss_short_options ()[i].path, "=", self->given[i], NULL));
  for (char **set = self->set; set != NULL && *set != NULL; set++)
    g_ptr_array_add (overrides, g_strdup (*set));
  for (; more != NULL && *more != NULL; more++)
    g_ptr_array_add (overrides, g_strdup (*more));
  for (guint i = 0; i < overrides->len; i++)
    if (!g_utf8_validate (g_ptr_array_index (overrides, i), -1, NULL))
      {
        g_set_error (error, SS_SCENARIO_ERROR, SS_SCENARIO_ERROR_OVERRIDE,
                     "a setting on the command line is not UTF-8");
        return NULL;
      }
  g_ptr_array_add (overrides, NULL);
  return g_steal_pointer (&overrides);
}

/* A problem of --capacity is told as that, not as the --set it stands for. */
static void
name_options (GString *message, const SsScenarioOptions *self)
{
  for (guint i = 0; i < SS_N_SHORT_OPTIONS; i++)
    if (self->given[i] != NULL)
      {
        const SsShortOption *option = &ss_short_options ()[i];
        g_autofree char *set = g_strdup_printf ("--set %s=%s: ", option->path, self->given[i]);
        g_autofree char *given = g_strdup_printf ("%s=%s: ", option->option, self->given[i]);

        g_string_replace (message, set, given, 0);
      }
}

char *
ss_scenario_options_hint (const char *name)
{
  g_autofree char *base = g_path_get_basename (name), *file = NULL, *path = NULL, *whole = NULL;

  file = g_strconcat ("scenarios/", base, g_str_has_suffix (base, ".xml") ? "" : ".xml", NULL);
  path = ss_data_find (file);
  whole = path != NULL ? g_canonicalize_filename (path, NULL) : NULL;
  return whole != NULL ? g_strconcat ("; the shipped one is ", whole, NULL) : g_strdup ("");
}

SsScenario *
ss_scenario_options_try (const SsScenarioOptions *self, const char *path, const char *const *more,
                         GError **error)
{
  g_autoptr (GPtrArray) overrides = overrides_of (self, more, error);
  g_autoptr (GError) problem = NULL;
  g_autofree char *hint = NULL;
  g_autoptr (GString) message = NULL;
  SsScenario *scenario;

  if (overrides == NULL)
    return NULL;
  scenario = ss_scenario_load (path, (const char *const *) overrides->pdata, &problem);
  if (scenario != NULL)
    return scenario;
  hint = ss_scenario_options_hint (path);
  message = g_string_new (problem->message);
  name_options (message, self);
  g_set_error (error, problem->domain, problem->code, "%s%s", message->str,
               g_file_test (path, G_FILE_TEST_EXISTS) ? "" : hint);
  return NULL;
}

SsScenario *
ss_scenario_options_load (const SsScenarioOptions *self, const char *path)
{
  g_autoptr (GError) error = NULL;
  SsScenario *scenario = ss_scenario_options_try (self, path, NULL, &error);

  if (scenario == NULL)
    ss_console_error ("%s", error->message);
  else if (ss_device_warning (ss_scenario_device (scenario)) != NULL)
    ss_console_error ("%s: %s", ss_device_id (ss_scenario_device (scenario)),
                      ss_device_warning (ss_scenario_device (scenario)));
  return scenario;
}
