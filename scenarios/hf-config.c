/* SPDX-License-Identifier: MIT */
#include "scenarios/hf-config.h"

#include "scenarios/json-source.h"

static SsConfigValue *
value_of (JsonNode *node, gint line)
{
  SsConfigValue *value = g_new0 (SsConfigValue, 1);
  GType type = JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : G_TYPE_INVALID;

  value->line = line;
  value->kind = SS_CONFIG_OTHER;
  if (JSON_NODE_HOLDS_NULL (node))
    value->kind = SS_CONFIG_NULL;
  else if (type == G_TYPE_INT64 || type == G_TYPE_DOUBLE)
    {
      value->kind = SS_CONFIG_NUMBER;
      value->number = json_node_get_double (node);
    }
  else if (type == G_TYPE_BOOLEAN)
    {
      value->kind = SS_CONFIG_FLAG;
      value->flag = json_node_get_boolean (node);
    }
  else if (type == G_TYPE_STRING)
    {
      value->kind = SS_CONFIG_TEXT;
      value->text = g_strdup (json_node_get_string (node));
      return value;
    }
  if (value->kind == SS_CONFIG_OTHER)
    value->text = g_strdup (JSON_NODE_HOLDS_ARRAY (node) ? "a list" : "an object");
  else
    value->text = json_to_string (node, FALSE);
  return value;
}

/* The members of an object within the object, as "rope_scaling.rope_type", with the line of the
 * former. */
static void
add_inner_members (GHashTable *values, JsonObject *object, const char *outer, gint line)
{
  JsonObjectIter iter;
  const char *name;
  JsonNode *node;

  json_object_iter_init (&iter, object);
  while (json_object_iter_next (&iter, &name, &node))
    g_hash_table_replace (values, g_strdup_printf ("%s.%s", outer, name), value_of (node, line));
}

/* The first of a list too, as "architectures.0". */
static void
add_first_element (GHashTable *values, JsonArray *array, const char *outer, gint line)
{
  if (json_array_get_length (array) > 0)
    g_hash_table_replace (values, g_strdup_printf ("%s.0", outer),
                          value_of (json_array_get_element (array, 0), line));
}

static void
add_members (GHashTable *values, const SsJsonSource *source)
{
  JsonObjectIter iter;
  const char *name;
  JsonNode *node;

  json_object_iter_init (&iter, source->object);
  while (json_object_iter_next (&iter, &name, &node))
    {
      gint line = ss_json_source_line (source, name);

      g_hash_table_replace (values, g_strdup (name), value_of (node, line));
      if (JSON_NODE_HOLDS_ARRAY (node))
        add_first_element (values, json_node_get_array (node), name, line);
      if (JSON_NODE_HOLDS_OBJECT (node))
        add_inner_members (values, json_node_get_object (node), name, line);
    }
}

GHashTable *
ss_hf_config_load (const char *path, SsProblems *problems)
{
  g_autoptr (SsJsonSource) source
      = ss_json_source_load (path, SS_HF_CONFIG_MAX_BYTES, problems);
  g_autoptr (GHashTable) values = NULL;

  if (source == NULL)
    return NULL;
  values = ss_config_values_new ();
  add_members (values, source);
  return g_steal_pointer (&values);
}
