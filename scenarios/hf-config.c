/* SPDX-License-Identifier: MIT */
#include "scenarios/hf-config.h"

#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <string.h>

static char *
read_text (const char *path, SsProblems *problems)
{
  GStatBuf info;
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  gsize length = 0;

  if (g_stat (path, &info) == 0 && !S_ISREG (info.st_mode))
    ss_problems_add (problems, path, 0, "is not a regular file");
  else if (g_stat (path, &info) == 0 && info.st_size > SS_HF_CONFIG_MAX_BYTES)
    ss_problems_add (problems, path, 0, "is %" G_GINT64_FORMAT " bytes long; at most %d are read",
                     (gint64) info.st_size, SS_HF_CONFIG_MAX_BYTES);
  else if (!g_file_get_contents (path, &text, &length, &error))
    ss_problems_add (problems, path, 0, "cannot be read: %s", error->message);
  else if (!g_utf8_validate (text, (gssize) length, NULL))
    ss_problems_add (problems, path, 0, "is not UTF-8 text");
  else if (text[strspn (text, " \t\r\n")] == '\0')
    ss_problems_add (problems, path, 0, "is empty");
  else
    return g_steal_pointer (&text);
  return NULL;
}

/* ---- nesting and lines, before the parser, which recurses and keeps no lines ---- */

/* Past the string that begins at `p`. */
static const char *
skip_string (const char *p, gint *line)
{
  for (p++; *p && *p != '"'; p++)
    {
      *line += *p == '\n';
      if (*p == '\\' && p[1])
        p++;
    }
  return *p ? p + 1 : p;
}

/* Fills `lines` with the line of each key of the outermost object; FALSE if the nesting is too
 * deep. */
static gboolean
scan (const char *text, GHashTable *lines, gint *line)
{
  guint depth = 0;
  const char *p = text;

  for (*line = 1; *p;)
    {
      const char *start = p;
      gint at = *line;

      if (*p == '"')
        {
          p = skip_string (p, line);
          if (depth == 1 && p[strspn (p, " \t\r\n")] == ':')
            g_hash_table_replace (lines, g_strndup (start + 1, (gsize) (p - start) - 2),
                                  GINT_TO_POINTER (at));
          continue;
        }
      *line += *p == '\n';
      if (*p == '{' || *p == '[')
        depth++;
      else if ((*p == '}' || *p == ']') && depth > 0)
        depth--;
      if (depth > SS_HF_CONFIG_MAX_DEPTH)
        return FALSE;
      p++;
    }
  return TRUE;
}

/* ---- values ---- */

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

static void
add_members (GHashTable *values, JsonObject *object, GHashTable *lines)
{
  JsonObjectIter iter;
  const char *name;
  JsonNode *node;

  json_object_iter_init (&iter, object);
  while (json_object_iter_next (&iter, &name, &node))
    {
      gint line = GPOINTER_TO_INT (g_hash_table_lookup (lines, name));

      g_hash_table_replace (values, g_strdup (name), value_of (node, line));
      if (JSON_NODE_HOLDS_OBJECT (node))
        add_inner_members (values, json_node_get_object (node), name, line);
    }
}

/* "<data>:4:3: Parse error: unexpected ..." as a problem of line 4. */
static void
add_parse_error (const char *path, const char *message, SsProblems *problems)
{
  g_auto (GStrv) parts = g_strsplit (message, ":", 5);

  if (g_strv_length (parts) == 5 && g_str_equal (parts[0], "<data>"))
    ss_problems_add (problems, path, (gint) g_ascii_strtoll (parts[1], NULL, 10), "is not JSON:%s",
                     parts[4]);
  else
    ss_problems_add (problems, path, 0, "is not JSON: %s", message);
}

GHashTable *
ss_hf_config_load (const char *path, SsProblems *problems)
{
  g_autofree char *text = read_text (path, problems);
  g_autoptr (GHashTable) lines = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (JsonParser) parser = json_parser_new_immutable ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GHashTable) values = ss_config_values_new ();
  gint line;

  if (!text)
    return NULL;
  if (!scan (text, lines, &line))
    {
      ss_problems_add (problems, path, line, "is nested deeper than %d", SS_HF_CONFIG_MAX_DEPTH);
      return NULL;
    }
  if (!json_parser_load_from_data (parser, text, -1, &error))
    {
      add_parse_error (path, error->message, problems);
      return NULL;
    }
  if (!json_parser_get_root (parser) || !JSON_NODE_HOLDS_OBJECT (json_parser_get_root (parser)))
    {
      ss_problems_add (problems, path, 1, "is not a JSON object");
      return NULL;
    }
  add_members (values, json_node_get_object (json_parser_get_root (parser)), lines);
  return g_steal_pointer (&values);
}
