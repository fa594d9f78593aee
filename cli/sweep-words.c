/* SPDX-License-Identifier: MIT */
#include "cli/sweep-words.h"

#include <string.h>

#include "hw/data-path.h"
#include "output/formats/json-text.h"
#include "scenarios/attribute.h"

#define NUMBER "%" G_GINT64_FORMAT

/* ---- the search ---- */

/* "8193 runs out of memory", "1025 is refused: ..." */
static void
append_next (GString *text, const SsSweepSearch *search, gint64 value)
{
  const char *colon = search->next_problem != NULL ? strstr (search->next_problem, ": ") : NULL;

  if (!search->next_is_refused)
    g_string_append_printf (text, NUMBER " runs out of memory", value);
  else
    g_string_append_printf (text, NUMBER " is refused (%s)", value,
                            colon != NULL ? colon + 2 : search->next_problem);
}

static void
append_verified (GString *text, const SsSweepSearch *search)
{
  if (search->n_above > 1 && !search->next_is_refused)
    g_string_append_printf (text, "; of %u larger values tried, up to " NUMBER ", none fits",
                            search->n_above, search->above);
  if (search->n_holes > 0)
    g_string_append_printf (text,
                            ". But %u of %u smaller ones do not fit, the largest of them " NUMBER
                            ": smaller is not always safe here",
                            search->n_holes, search->n_below, search->hole);
  else if (search->n_below > 0)
    g_string_append_printf (text, search->n_below > 1
                                    ? "; %u smaller ones, down to " NUMBER ", all fit"
                                    : "; %u smaller one, " NUMBER ", fits",
                            search->n_below, search->below);
}

char *
ss_sweep_search_words (const SsSweepSearch *search, const char *name)
{
  GString *text = g_string_new (NULL);

  if (!search->has_fit)
    {
      g_string_append_printf (text, "%s: nothing fits, not even the smallest: ", name);
      append_next (text, search, search->value);
    }
  else if (search->is_long)
    g_string_append_printf (text,
                            "%s: everything tried up to " NUMBER " fits; longer runs than that "
                            "were not tried",
                            name, search->value);
  else if (search->is_limit)
    g_string_append_printf (text,
                            "%s: everything tried fits, up to the attribute's limit of " NUMBER,
                            name, search->value);
  else
    {
      g_string_append_printf (text, "%s: " NUMBER " fits, ", name, search->value);
      append_next (text, search, search->value + 1);
      append_verified (text, search);
    }
  g_string_append_printf (text, " (%u run%s).", search->n_runs, search->n_runs == 1 ? "" : "s");
  return g_string_free (text, FALSE);
}

char *
ss_sweep_search_json (const SsSweepSearch *search)
{
  GString *json = g_string_new (NULL);
  gint64 next = search->has_fit ? search->value + 1 : search->value;

  g_string_append_printf (json, "{\"largest\":");
  if (search->has_fit)
    g_string_append_printf (json, NUMBER, search->value);
  else
    g_string_append (json, "null");
  g_string_append_printf (json, ",\"runs\":%u,\"is_limit\":%s,\"next\":", search->n_runs,
                          search->is_limit ? "true" : "false");
  if (search->is_limit)
    g_string_append (json, "null");
  else
    {
      g_string_append_printf (json, "{\"value\":" NUMBER ",\"verdict\":\"%s\",\"problem\":", next,
                              search->next_is_refused ? "refused" : "oom");
      if (search->next_problem != NULL)
        ss_json_append_text (json, search->next_problem);
      else
        g_string_append (json, "null");
      g_string_append_c (json, '}');
    }
  g_string_append_printf (json,
                          ",\"tried_above\":%u,\"tried_below\":%u,\"smaller_that_do_not_fit\":%u}",
                          search->n_above, search->n_below, search->n_holes);
  return g_string_free (json, FALSE);
}

/* ---- the question ---- */

/* The file that a value of a scenario names, wherever it is looked for. */
static void
append_file (GString *text, const SsScenario *base, const char *value)
{
  g_autofree char *folder = g_path_get_dirname (ss_scenario_file (base));
  g_autofree char *beside = g_build_filename (folder, value, NULL);
  g_autofree char *shipped = g_build_filename ("scenarios", value, NULL);
  g_autofree char *device = g_strdup_printf ("hw/devices/%s.xml", value);
  char *paths[] = { g_strdup (value), g_strdup (beside), ss_data_find (shipped),
                    ss_data_find (device) };

  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      g_autofree char *path = paths[i], *contents = NULL, *sum = NULL;
      gsize n;

      if (path == NULL || !g_file_test (path, G_FILE_TEST_IS_REGULAR)
          || !g_file_get_contents (path, &contents, &n, NULL))
        continue;
      sum = g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *) contents, n);
      g_string_append_printf (text, "file %s %s\n", value, sum);
    }
}

static gboolean
names_a_file (const char *path)
{
  return g_str_has_suffix (path, "/href") || g_str_equal (path, "hardware/device");
}

static void
append_files (GString *text, const SsScenario *base)
{
  guint n;
  const SsAttribute *attributes = ss_scenario_attributes (&n);

  append_file (text, base, ss_scenario_file (base));
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *path = ss_scenario_attribute_path (&attributes[i]);
      g_autofree char *value
        = names_a_file (path) ? attributes[i].kind->print (&attributes[i], base) : NULL;

      if (value != NULL)
        append_file (text, base, value);
    }
}

char *
ss_sweep_question (const SsScenario *base, const SsSweep *sweep, gboolean is_full)
{
  g_autofree char *xml = ss_scenario_to_xml (base);
  GString *text = g_string_new ("stepsim " SS_VERSION);

  g_string_append_printf (text, "%s\n%s", is_full ? " in full" : "", xml);
  append_files (text, base);
  for (guint i = 0; i < ss_sweep_n_axes (sweep); i++)
    {
      const SsSweepAxis *axis = ss_sweep_axis (sweep, i);

      g_string_append_printf (text, "%s%s\n", axis->path, axis->is_max ? "=max" : "");
      for (guint v = 0; v < axis->values->len; v++)
        {
          g_string_append_printf (text, "=%s\n", (char *) g_ptr_array_index (axis->values, v));
          if (names_a_file (axis->path))
            append_file (text, base, g_ptr_array_index (axis->values, v));
        }
    }
  return g_string_free (text, FALSE);
}
