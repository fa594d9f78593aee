/* SPDX-License-Identifier: MIT */
#include "scenarios/json-source.h"

#include <string.h>

#include "scenarios/text-file.h"

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
      if (depth > SS_JSON_MAX_DEPTH)
        return FALSE;
      p++;
    }
  return TRUE;
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

void
ss_json_source_free (SsJsonSource *self)
{
  if (self == NULL)
    return;
  g_clear_object (&self->parser);
  g_hash_table_unref (self->lines);
  g_free (self);
}

SsJsonSource *
ss_json_source_load (const char *path, guint max_bytes, SsProblems *problems)
{
  g_autofree char *text = ss_text_file_load (path, max_bytes, problems);
  g_autoptr (SsJsonSource) self = NULL;
  g_autoptr (GError) error = NULL;
  JsonNode *root;
  gint line;

  if (text == NULL)
    return NULL;
  self = g_new0 (SsJsonSource, 1);
  self->parser = json_parser_new_immutable ();
  self->lines = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  if (!scan (text, self->lines, &line))
    {
      ss_problems_add (problems, path, line, "is nested deeper than %d", SS_JSON_MAX_DEPTH);
      return NULL;
    }
  if (!json_parser_load_from_data (self->parser, text, -1, &error))
    {
      add_parse_error (path, error->message, problems);
      return NULL;
    }
  root = json_parser_get_root (self->parser);
  if (root == NULL || !JSON_NODE_HOLDS_OBJECT (root))
    {
      ss_problems_add (problems, path, 1, "is not a JSON object");
      return NULL;
    }
  self->object = json_node_get_object (root);
  return g_steal_pointer (&self);
}

gint
ss_json_source_line (const SsJsonSource *self, const char *name)
{
  return GPOINTER_TO_INT (g_hash_table_lookup (self->lines, name));
}
