/* SPDX-License-Identifier: MIT */
#include "cli/sweep-arguments.h"

#include <string.h>

#include "cli/console.h"

/* "PATH=first of its values": a scenario that needs one to be whole has one. */
static char *
first_setting (const char *text)
{
  const char *equals = strchr (text, '='), *end;

  if (equals == NULL || g_str_has_suffix (text, "=max"))
    return NULL;
  for (end = equals + 1; *end != '\0' && *end != ','; end++)
    if (g_str_has_prefix (end, "..") && g_ascii_isdigit (equals[1]))
      break;
  return g_strndup (text, (gsize) (end - text));
}

SsScenario *
ss_sweep_load_base (const SsScenarioOptions *options, const char *path, char **texts)
{
  g_autoptr (GPtrArray) first = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;
  SsScenario *base = ss_scenario_options_try (options, path, NULL, &error);

  if (base != NULL)
    return base;
  for (; *texts != NULL; texts++)
    {
      char *setting = first_setting (*texts);

      if (setting != NULL)
        g_ptr_array_add (first, setting);
    }
  g_ptr_array_add (first, NULL);
  base = ss_scenario_options_try (options, path, (const char *const *) first->pdata, NULL);
  if (base == NULL)
    ss_console_error ("%s", error->message);
  return base;
}

SsSweep *
ss_sweep_from_arguments (const SsScenario *base, char **texts)
{
  g_autoptr (GPtrArray) axes
    = g_ptr_array_new_with_free_func ((GDestroyNotify) ss_sweep_axis_free);
  g_autoptr (GError) error = NULL;
  gboolean is_good = TRUE;
  SsSweep *sweep;

  for (char **text = texts; *text != NULL; text++)
    {
      g_autoptr (GError) problem = NULL;
      SsSweepAxis *axis = ss_sweep_axis_parse (*text, base, &problem);

      if (axis != NULL)
        g_ptr_array_add (axes, axis);
      else
        ss_console_error ("%s", problem->message);
      is_good = is_good && axis != NULL;
    }
  if (!is_good)
    return NULL;
  sweep = ss_sweep_new (base, axes, &error);
  if (sweep == NULL)
    ss_console_error ("%s", error->message);
  return sweep;
}
