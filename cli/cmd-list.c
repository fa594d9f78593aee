/* SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/console.h"
#include "hw/device.h"
#include "hw/units.h"
#include "hw/xml-node.h"
#include "memory/allocator.h"
#include "plan/policy.h"
#include "ops/kernel-profile.h"
#include "ops/optim/optimizer.h"
#include "ops/precision.h"
#include "output/formats/json-text.h"
#include "output/output.h"
#include "scenarios/attribute.h"
#include "scenarios/scenario-source.h"

typedef struct
{
  char *name, *description;
  char *accepts, *fallback;      /* of a setting: what it takes, what holds without it, or NULL */
  char **words;                  /* of a setting: the words it takes, or NULL */
} Row;

static void
row_clear (gpointer data)
{
  Row *row = data;

  g_free (row->name);
  g_free (row->description);
  g_free (row->accepts);
  g_free (row->fallback);
  g_strfreev (row->words);
}

static void
add_row (GArray *rows, const char *name, const char *description)
{
  Row row = { .name = g_strdup (name), .description = g_strdup (description) };

  g_array_append_val (rows, row);
}

/* A model's or a device's file may be the user's own, and wrong: then its name still stands
 * here. */
static void
add_models (GArray *rows)
{
  g_auto (GStrv) names = ss_data_list ("scenarios/models");

  for (char **name = names; *name != NULL; name++)
    {
      g_autoptr (SsProblems) problems = ss_problems_new ();
      g_autoptr (SsXmlDocument) document = NULL;
      g_autofree char *file = g_strdup_printf ("scenarios/models/%s.xml", *name);
      g_autofree char *path = ss_data_find (file), *title = NULL;

      if (path != NULL)
        document = ss_xml_document_open (path, "model", NULL, problems);
      if (document != NULL)
        title = ss_xml_node_get (ss_xml_document_root (document), "name");
      add_row (rows, *name, title != NULL ? title : "(its file cannot be read)");
    }
}

/* Which of its times are fitted to measured kernels, which it has otherwise, which are its
 * family's. (transfer full) */
static char *
origins_of (const SsDevice *device)
{
  GString *fitted = g_string_new (NULL);
  g_autoptr (GString) stated = g_string_new (NULL), lent = g_string_new (NULL);

  for (guint i = 0; i < SS_TIME_HOST; i++)
    {
      const char *source = ss_device_source (device, (SsTimeClass) i);
      GString *list = source == NULL                                       ? lent
                      : g_str_has_prefix (source, "[F] stepsim calibrate") ? fitted
                                                                           : stated;

      g_string_append_printf (list, "%s%s", list->len > 0 ? ", " : "",
                              ss_time_class_name ((SsTimeClass) i));
    }
  if (fitted->len > 0)
    g_string_prepend (fitted, "fitted ");
  if (stated->len > 0)
    g_string_append_printf (fitted, "%sstated %s", fitted->len > 0 ? "; " : "", stated->str);
  if (lent->len > 0)
    g_string_append_printf (fitted, "%s%s as %s", fitted->len > 0 ? "; " : "", lent->str,
                            ss_device_family (device));
  return g_string_free (fitted, FALSE);
}

static void
add_devices (GArray *rows)
{
  g_auto (GStrv) names = ss_data_list ("hw/devices");

  for (char **name = names; *name != NULL; name++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (SsDevice) device = ss_device_load (*name, &error);
      g_autofree char *description = NULL;

      if (device != NULL)
        {
          g_autofree char *capacity
              = ss_units_format_bytes (ss_device_capacity_bytes (device), SS_UNITS_GIB, 2);
          g_autofree char *origins = origins_of (device);

          description = g_strdup_printf ("%s, the framework sees %s; times: %s",
                                         ss_device_name (device), capacity, origins);
        }
      add_row (rows, *name, description != NULL ? description : "(its file cannot be read)");
    }
}

static void
add_policies (GArray *rows)
{
  for (const SsCheckpointPolicy *const *policy = ss_checkpoint_policies (); *policy != NULL;
       policy++)
    add_row (rows, (*policy)->name, (*policy)->description);
}

static void
add_optimizers (GArray *rows)
{
  for (const SsOptimizer *const *optimizer = ss_optimizers (); *optimizer != NULL; optimizer++)
    {
      g_autoptr (GString) text = g_string_new ((*optimizer)->description);

      for (guint i = 0, n = 0; i < SS_N_IMPLEMENTATIONS; i++)
        if (ss_optimizer_implementations (*optimizer) & (1u << i))
          g_string_append_printf (text, "%s%s%s", n++ == 0 ? "; " : ", ",
                                  ss_implementation_name ((SsImplementation) i),
                                  ss_optimizer_not_recorded (*optimizer) & (1u << i)
                                    ? " (by its source, not recorded)"
                                    : "");
      add_row (rows, (*optimizer)->name, text->str);
    }
}

static void
add_profiles (GArray *rows)
{
  for (const SsKernelProfile *const *profile = ss_kernel_profiles (); *profile != NULL; profile++)
    add_row (rows, (*profile)->name, (*profile)->description);
}

static void
add_recipes (GArray *rows)
{
  for (const SsPrecision *const *precision = ss_precisions (); *precision != NULL; precision++)
    add_row (rows, (*precision)->name, (*precision)->description);
}

static void
add_allocators (GArray *rows)
{
  for (const SsAllocatorClass *const *klass = ss_allocator_classes (); *klass != NULL; klass++)
    add_row (rows, (*klass)->name, (*klass)->description);
}

static void
add_outputs (GArray *rows)
{
  for (const SsOutput *const *output = ss_outputs (); *output != NULL; output++)
    add_row (rows, (*output)->name, (*output)->description);
}

static void
add_scenarios (GArray *rows)
{
  g_auto (GStrv) names = ss_scenario_source_scenarios ();

  for (char **name = names; *name != NULL; name++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (SsScenario) scenario = ss_scenario_load (*name, NULL, &error);

      add_row (rows, *name,
               scenario != NULL ? ss_scenario_name (scenario) : "(its file cannot be read)");
    }
}

/* Every PATH of --set. */
static void
add_settings (GArray *rows)
{
  guint n;
  const SsAttribute *attributes = ss_scenario_attributes (&n);

  for (guint i = 0; i < n; i++)
    {
      const SsAttribute *a = &attributes[i];
      const char *otherwise = a->fallback != NULL ? a->fallback : a->otherwise;
      Row row = { .name = ss_scenario_attribute_path (a),
                  .accepts = ss_scenario_attribute_accepts (a),
                  .fallback = g_strdup (otherwise),
                  .words = a->kind->words != NULL ? a->kind->words (a) : NULL };

      row.description
        = g_strdup_printf ("%s (%s%s%s)", a->meaning, row.accepts,
                           otherwise != NULL && *otherwise != '\0' ? "; default: " : "",
                           otherwise != NULL ? otherwise : "");
      g_array_append_val (rows, row);
    }
}

static const struct
{
  const char *name;
  void (*add) (GArray *rows);
} kinds[] = {
  { "scenarios", add_scenarios },   { "settings", add_settings },
  { "models", add_models },         { "devices", add_devices },   { "policies", add_policies },
  { "optimizers", add_optimizers }, { "profiles", add_profiles }, { "recipes", add_recipes },
  { "allocators", add_allocators }, { "outputs", add_outputs },
};

static void
write_rows (const GArray *rows, GString *out)
{
  gsize width = 0;

  for (guint i = 0; i < rows->len; i++)
    width = MAX (width, strlen (g_array_index (rows, Row, i).name));
  for (guint i = 0; i < rows->len; i++)
    {
      const Row *row = &g_array_index (rows, Row, i);

      g_string_append_printf (out, "%-*s  %s\n", (int) width, row->name, row->description);
    }
}

static void
append_member (GString *json, const char *name, const char *text)
{
  if (text == NULL)
    return;
  g_string_append_printf (json, ",\"%s\":", name);
  ss_json_append_text (json, text);
}

/* A list of objects. */
static void
append_json (const GArray *rows, GString *json)
{
  for (guint i = 0; i < rows->len; i++)
    {
      const Row *row = &g_array_index (rows, Row, i);

      g_string_append (json, i == 0 ? "[\n {\"name\":" : ",\n {\"name\":");
      ss_json_append_text (json, row->name);
      append_member (json, "description", row->description);
      append_member (json, "accepts", row->accepts);
      append_member (json, "default", row->fallback);
      for (char **word = row->words; word != NULL && *word != NULL; word++)
        {
          g_string_append (json, word == row->words ? ",\"words\":[" : ",");
          ss_json_append_text (json, *word);
          if (word[1] == NULL)
            g_string_append_c (json, ']');
        }
      g_string_append_c (json, '}');
    }
  g_string_append (json, rows->len == 0 ? "[]" : "]");
}

/* Where they are all listed, each kind has its title. */
typedef struct
{
  gboolean is_json, has_titles;
  GString *out;
} Listing;

static void
write_kind (const Listing *self, guint kind)
{
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (Row));
  gboolean is_first = self->out->len == 0;

  g_array_set_clear_func (rows, row_clear);
  kinds[kind].add (rows);
  if (self->is_json)
    {
      g_string_append_printf (self->out, "%s\"%s\":", is_first ? "{" : ",\n", kinds[kind].name);
      append_json (rows, self->out);
      return;
    }
  if (self->has_titles)
    g_string_append_printf (self->out, "%s%s:\n", is_first ? "" : "\n", kinds[kind].name);
  write_rows (rows, self->out);
}

/* FALSE and said: there is no such kind. */
static gboolean
write_named (const Listing *self, const char *name)
{
  const char *known[G_N_ELEMENTS (kinds) + 1] = { NULL };
  g_autofree char *suggestion = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      known[i] = kinds[i].name;
      if (g_str_equal (kinds[i].name, name))
        {
          write_kind (self, i);
          return TRUE;
        }
    }
  suggestion = ss_problems_suggest (name, known);
  ss_console_error ("\"%s\" cannot be listed; %s", name, suggestion);
  return FALSE;
}

static SsExit
run (int argc, char **argv)
{
  g_autoptr (GString) out = g_string_new (NULL);
  Listing listing = { .out = out };
  const GOptionEntry entries[] = {
    { "json", 0, 0, G_OPTION_ARG_NONE, &listing.is_json, "Print one JSON object", NULL },
    G_OPTION_ENTRY_NULL
  };
  SsExit status;

  if (!ss_command_parse (&ss_command_list, entries, &argc, &argv, &status))
    return status;
  listing.has_titles = argc != 2;
  for (int i = 1; i < argc; i++)
    if (!write_named (&listing, argv[i]))
      return SS_EXIT_INPUT;
  for (guint i = 0; argc == 1 && i < G_N_ELEMENTS (kinds); i++)
    write_kind (&listing, i);
  if (listing.is_json)
    g_string_append (out, "}\n");
  return ss_console_print (out->str) ? SS_EXIT_FITS : SS_EXIT_OUTPUT;
}

const SsCommand ss_command_list = {
  .name = "list",
  .arguments = "[scenarios|settings|models|devices|policies|optimizers|profiles|recipes"
               "|allocators|outputs]",
  .summary = "list the names a scenario may use, and what a run writes",
  .run = run,
};
