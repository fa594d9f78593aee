/* SPDX-License-Identifier: MIT */
#include "scenarios/loading-private.h"

#include <string.h>

#include "scenarios/scenario-source.h"

SsXmlNode *
ss_loading_element (const SsLoading *self, const char *element)
{
  SsXmlNode *root = ss_xml_document_root (self->document);

  return g_str_equal (element, ss_xml_node_name (root)) ? root : ss_xml_node_child (root, element);
}

static char *
path_of (const char *element, const char *attribute)
{
  return g_strdup_printf ("%s/%s", element, attribute);
}

const char *
ss_loading_override (const SsLoading *self, const char *element, const char *attribute)
{
  g_autofree char *path = path_of (element, attribute);

  return g_hash_table_lookup (self->overrides, path);
}

/* An element that only overrides made answers by the first of them for what they left out. */
static const char *
override_of_created (const SsLoading *self, const SsXmlNode *node)
{
  g_auto (GStrv) names = ss_xml_node_line (node) == 0 ? ss_xml_node_attributes (node) : NULL;

  return names && names[0] ? ss_loading_override (self, ss_xml_node_name (node), names[0]) : NULL;
}

void
ss_loading_problem (SsLoading *self, const char *element, const char *attribute, const char *format,
                    ...)
{
  const char *override = ss_loading_override (self, element, attribute);
  SsXmlNode *node = ss_loading_element (self, element);
  g_autofree char *text = NULL;
  va_list arguments;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  if (!node)
    node = ss_xml_document_root (self->document);
  if (!override)
    override = override_of_created (self, node);
  if (override)
    {
      self->n_in_overrides++;
      ss_problems_add (self->problems, override, 0, "%s", text);
      return;
    }
  ss_problems_add (self->problems, ss_xml_document_path (self->document),
                   ss_xml_node_attribute_line (node, attribute), "%s", text);
}

/* ---- overrides ---- */

/* "steps" and "trainin/steps" are both meant as training/steps. */
static char *
suggest_path (const char *path)
{
  const char *slash = strrchr (path, '/');
  const char *name = slash ? slash + 1 : path;
  g_auto (GStrv) paths = ss_scenario_attribute_paths ();
  g_autoptr (GString) same = g_string_new (NULL);
  guint n;
  const SsAttribute *attributes = ss_scenario_attributes (&n);

  for (guint i = 0; i < n; i++)
    if (g_str_equal (attributes[i].name, name))
      g_string_append_printf (same, "%s%s", same->len ? ", " : "near: ", paths[i]);
  if (same->len)
    return g_strdup (same->str);
  return ss_problems_suggest (path, (const char *const *) paths);
}

static const SsAttribute *
find_path (const char *path)
{
  g_auto (GStrv) pieces = g_strsplit (path, "/", 2);
  guint n_elements;

  if (!pieces[0])
    return NULL;
  if (!pieces[1])
    return ss_scenario_attribute_find (ss_scenario_elements (&n_elements)[0].name, pieces[0]);
  return ss_scenario_attribute_find (pieces[0], pieces[1]);
}

static void
apply_override (SsLoading *self, const char *override)
{
  g_autofree char *origin = g_strdup_printf ("--set %s", override);
  const char *equals = strchr (override, '=');
  g_autofree char *path = equals ? g_strndup (override, (gsize) (equals - override)) : NULL;
  const SsAttribute *attribute;
  g_autofree char *near = NULL;

  if (!equals || !g_utf8_validate (override, -1, NULL))
    {
      self->n_in_overrides++;
      ss_problems_add (self->problems, origin, 0, "%s",
                       equals ? "is not UTF-8" : "has no =; wanted PATH=VALUE");
      return;
    }
  attribute = find_path (path);
  if (!attribute)
    {
      near = suggest_path (path);
      self->n_in_overrides++;
      ss_problems_add (self->problems, origin, 0, "no attribute \"%s\"; %s", path, near);
      return;
    }
  g_hash_table_replace (self->overrides, path_of (attribute->element, attribute->name),
                        g_steal_pointer (&origin));
  if (!ss_loading_element (self, attribute->element))
    ss_xml_node_ensure_child (ss_xml_document_root (self->document), attribute->element);
  ss_xml_node_set (ss_loading_element (self, attribute->element), attribute->name, equals + 1);
}

static void
apply_overrides (SsLoading *self, const char *const *overrides)
{
  for (const char *const *override = overrides; override && *override; override++)
    apply_override (self, *override);
}

/* ---- values ---- */

static gboolean
has_control_character (const char *text)
{
  for (const char *p = text; *p; p++)
    if (g_ascii_iscntrl (*p))
      return TRUE;
  return FALSE;
}

static void
read_attribute (SsLoading *self, const SsAttribute *attribute)
{
  SsXmlNode *node = ss_loading_element (self, attribute->element);
  g_autofree char *met = node ? ss_xml_node_get (node, attribute->name) : NULL;
  const char *text = met ? met : attribute->fallback;
  g_autofree char *problem = NULL;

  /* a required one that is missing is the schema's to refuse */
  if (!text)
    return;
  if (has_control_character (text))
    problem = g_strdup ("has a control character in it");
  else if (attribute->kind->read (attribute, self->scenario, text, &problem))
    return;
  ss_loading_problem (self, attribute->element, attribute->name, "%s: %s", attribute->name,
                      problem);
}

static void
read_attributes (SsLoading *self)
{
  guint n_elements, n_attributes;
  const SsElement *elements = ss_scenario_elements (&n_elements);
  const SsAttribute *attributes = ss_scenario_attributes (&n_attributes);

  for (guint i = 0; i < n_elements; i++)
    {
      if (elements[i].presence == SS_ELEMENT_OPTIONAL
          && !ss_loading_element (self, elements[i].name))
        continue;
      for (guint j = 0; j < n_attributes; j++)
        if (g_str_equal (attributes[j].element, elements[i].name))
          read_attribute (self, &attributes[j]);
    }
}

/* ---- loading ---- */

/* The problems as this folder's error. */
static gboolean
settle (const SsLoading *self, GError **error)
{
  g_autoptr (GError) found = NULL;
  gboolean is_override = ss_problems_count (self->problems) == self->n_in_overrides;

  if (ss_problems_settle (self->problems, &found))
    return TRUE;
  g_set_error_literal (error, SS_SCENARIO_ERROR,
                       is_override ? SS_SCENARIO_ERROR_OVERRIDE : SS_SCENARIO_ERROR_INPUT,
                       found->message);
  return FALSE;
}

SsScenario *
ss_scenario_load (const char *path, const char *const *overrides, GError **error)
{
  g_autoptr (SsScenario) scenario = NULL;
  g_autoptr (SsProblems) problems = ss_problems_new ();
  g_autofree char *schema = NULL;
  g_autoptr (SsXmlDocument) document = NULL;
  g_autoptr (GHashTable) set = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  SsLoading loading = { .problems = problems, .overrides = set };
  SsSourceKind kind;

  g_return_val_if_fail (path != NULL, NULL);
  document = ss_scenario_source_open (path, &kind, problems);
  loading.document = document;
  loading.is_around_model = kind == SS_SOURCE_MODEL;
  if (!document)
    {
      settle (&loading, error);
      return NULL;
    }
  loading.scenario = scenario = ss_scenario_new ();
  scenario->path = g_strdup (path);
  scenario->file = g_strdup (ss_xml_document_path (document));
  scenario->overrides = g_strdupv ((char **) overrides);
  apply_overrides (&loading, overrides);
  schema = ss_scenario_schema (TRUE);
  ss_xml_document_check (document, schema, problems);
  read_attributes (&loading);
  ss_loading_resolve (&loading);
  return settle (&loading, error) ? g_steal_pointer (&scenario) : NULL;
}

SsScenario *
ss_scenario_derive (const SsScenario *self, const char *const *overrides, GError **error)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_auto (GStrv) all = NULL;

  g_return_val_if_fail (self != NULL, NULL);
  if (self->overrides)
    g_strv_builder_addv (builder, (const char **) self->overrides);
  if (overrides)
    g_strv_builder_addv (builder, (const char **) overrides);
  all = g_strv_builder_end (builder);
  return ss_scenario_load (self->path, (const char *const *) all, error);
}
