/* SPDX-License-Identifier: MIT */
#include "scenarios/scenario-source.h"

#include <string.h>

#include "scenarios/attribute.h"
#include "scenarios/json-source.h"
#include "scenarios/model-file.h"

#define SCENARIOS "scenarios"
#define MODELS "scenarios/models"
/* The longest JSON of a run that is read: a thousand steps make a few megabytes. */
#define MAX_RUN_BYTES (16 * 1024 * 1024)

/* ---- shipped ones, by name ---- */

/* NULL if there is none. (transfer full) */
static char *
shipped (const char *folder, const char *name)
{
  g_autofree char *file = g_strdup_printf ("%s/%s.xml", folder, name);

  return name[0] != '\0' && name[0] != '.' && strchr (name, '/') == NULL ? ss_data_find (file)
                                                                         : NULL;
}

gboolean
ss_scenario_source_is_shipped (const char *name)
{
  g_autofree char *scenario = shipped (SCENARIOS, name), *model = shipped (MODELS, name);

  return scenario != NULL || model != NULL;
}

char **
ss_scenario_source_scenarios (void)
{
  return ss_data_list (SCENARIOS);
}

char **
ss_scenario_source_models (void)
{
  return ss_data_list (MODELS);
}

/* ---- a scenario around a model ---- */

/* A shipped model is named as from any scenario, another one as beside this document. */
static char *
href_of (const char *path)
{
  g_autofree char *base = g_path_get_basename (path), *name = ss_model_file_name (path),
                  *own = shipped (MODELS, name);

  return g_strcmp0 (own, path) == 0 ? g_strconcat ("models/", base, NULL)
                                    : g_steal_pointer (&base);
}

static SsXmlDocument *
around_model (const char *path)
{
  SsXmlDocument *document = ss_xml_document_new (path, "scenario");
  SsXmlNode *root = ss_xml_document_root (document);
  g_autofree char *name = ss_model_file_name (path), *href = href_of (path);

  ss_xml_node_set (root, "name", name);
  ss_xml_node_set (ss_xml_node_ensure_child (root, "model"), "href", href);
  ss_xml_node_ensure_child (root, "hardware");
  return document;
}

/* ---- which of them it is ---- */

/* A folder stands for its config.json, a name without a file for the shipped scenario or model.
 * (transfer full) */
static char *
find_path (const char *given)
{
  g_autofree char *config = g_build_filename (given, "config.json", NULL), *found = NULL;

  if (g_file_test (given, G_FILE_TEST_IS_DIR) && g_file_test (config, G_FILE_TEST_IS_REGULAR))
    return g_steal_pointer (&config);
  if (g_file_test (given, G_FILE_TEST_EXISTS))
    return g_strdup (given);
  found = shipped (SCENARIOS, given);
  if (found == NULL)
    found = shipped (MODELS, given);
  return found != NULL ? g_steal_pointer (&found) : g_strdup (given);
}

static gboolean
is_json (const char *path)
{
  return g_str_has_suffix (path, ".json") && g_file_test (path, G_FILE_TEST_IS_REGULAR);
}

/* ---- a run's JSON, which has its settings inside ---- */

/* What was written of a run, and may be run again; NULL if it has none of it, as a model's config.
 * (transfer full) */
static SsJsonSource *
open_run (const char *path)
{
  g_autoptr (SsProblems) unsaid = ss_problems_new ();
  g_autoptr (SsJsonSource) source = ss_json_source_load (path, MAX_RUN_BYTES, unsaid);
  JsonNode *settings = source != NULL ? json_object_get_member (source->object, "settings") : NULL;

  return settings != NULL && JSON_NODE_HOLDS_OBJECT (settings)
             && !json_object_has_member (source->object, "model_type")
           ? g_steal_pointer (&source) : NULL;
}

/* "training/steps" is an attribute of <training>, "name" one of the root. */
static void
set_path (SsXmlNode *root, const char *path, const char *value)
{
  g_auto (GStrv) parts = g_strsplit (path, "/", 2);

  if (parts[0] != NULL && parts[1] != NULL)
    ss_xml_node_set (ss_xml_node_ensure_child (root, parts[0]), parts[1], value);
  else
    ss_xml_node_set (root, path, value);
}

static gboolean
is_path (const char *path)
{
  g_auto (GStrv) known = ss_scenario_attribute_paths ();

  return g_strv_contains ((const char *const *) known, path);
}

static SsXmlDocument *
of_run (const char *path, const SsJsonSource *source, SsProblems *problems)
{
  g_autoptr (SsXmlDocument) document = ss_xml_document_new (path, "scenario");
  SsXmlNode *root = ss_xml_document_root (document);
  JsonObjectIter iter;
  const char *name;
  JsonNode *node;

  json_object_iter_init (&iter, json_object_get_object_member (source->object, "settings"));
  while (json_object_iter_next (&iter, &name, &node))
    if (!is_path (name) || json_node_get_value_type (node) != G_TYPE_STRING)
      {
        ss_problems_add (problems, path, ss_json_source_line (source, "settings"),
                         "settings: \"%s\" is no setting, or no text", name);
        return NULL;
      }
    else
      set_path (root, name, json_node_get_string (node));
  return g_steal_pointer (&document);
}

SsXmlDocument *
ss_scenario_source_open (const char *given, SsSourceKind *kind, SsProblems *problems)
{
  g_autofree char *path = find_path (given);
  g_autoptr (SsXmlDocument) document = NULL;

  *kind = SS_SOURCE_MODEL;
  if (g_file_test (path, G_FILE_TEST_IS_DIR))
    {
      ss_problems_add (problems, path, 0, "is a folder without a config.json; wanted a scenario, "
                                          "a model's config.json or the folder it lies in");
      return NULL;
    }
  if (is_json (path))
    {
      g_autoptr (SsJsonSource) run = open_run (path);

      if (run == NULL)
        return around_model (path);
      *kind = SS_SOURCE_SCENARIO;
      return of_run (path, run, problems);
    }
  document = ss_xml_document_open (path, "scenario or model", NULL, problems);
  if (document != NULL && g_str_equal (ss_xml_node_name (ss_xml_document_root (document)), "model"))
    return around_model (path);
  *kind = SS_SOURCE_SCENARIO;
  return g_steal_pointer (&document);
}
