/* SPDX-License-Identifier: MIT */
#include "output/formats/json-elements.h"

#include <string.h>

typedef struct
{
  const char *data;
  gsize size, at;
  gsize counted_to;              /* `line` is that of this byte */
  guint line;
  JsonParser *parser;
  SsJsonElementFunc each;
  gpointer user_data;
  GError **error;
} Scanner;

static guint
line_of (Scanner *self, gsize at)
{
  for (; self->counted_to < at; self->counted_to++)
    self->line += self->data[self->counted_to] == '\n';
  return self->line;
}

static gboolean
refuse_json (Scanner *self, const char *why)
{
  g_set_error (self->error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_INPUT, "line %u: no JSON: %s",
               line_of (self, self->at), why);
  return FALSE;
}

/* The next character that counts, or 0 at the end. */
static char
peek (Scanner *self)
{
  while (self->at < self->size && memchr (" \t\r\n", self->data[self->at], 4) != NULL)
    self->at++;
  return self->at < self->size ? self->data[self->at] : '\0';
}

static gboolean
take (Scanner *self, char wanted)
{
  char why[] = "unexpected end, expected ?";
  char met = peek (self);

  if (met == wanted)
    {
      self->at++;
      return TRUE;
    }
  if (met != '\0')
    memcpy (why, "unexpected byte", sizeof "unexpected byte");
  else
    why[sizeof why - 2] = wanted;
  return refuse_json (self, why);
}

/* ---- values ---- */

static void
skip_text (Scanner *self)
{
  for (self->at++; self->at < self->size && self->data[self->at] != '"'; self->at++)
    if (self->data[self->at] == '\\')
      self->at++;
  self->at++;
}

/* To the end of the value that begins here, by its brackets alone; `depth` are open around it. */
static gboolean
skip_value (Scanner *self, guint depth)
{
  guint outside = depth;

  while (self->at < self->size)
    {
      char c = self->data[self->at];

      if (depth == outside && memchr (",]} \t\r\n", c, 7) != NULL)
        break;
      if (c == '"')
        {
          skip_text (self);
          if (depth == outside)
            break;
          continue;
        }
      if ((c == '[' || c == '{') && ++depth > SS_JSON_MAX_DEPTH_OF_TRACE)
        {
          g_set_error (self->error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_INPUT,
                       "byte %" G_GSIZE_FORMAT ": nested more than %u deep", self->at,
                       SS_JSON_MAX_DEPTH_OF_TRACE);
          return FALSE;
        }
      self->at++;
      if ((c == ']' || c == '}') && --depth == outside)
        break;
    }
  self->at = MIN (self->at, self->size);
  return TRUE;
}

/* "<data>:4:3: Parse error: unexpected ..." of the library as what is wrong in a line. */
static gboolean
refuse_parse (Scanner *self, gsize begin, const char *message)
{
  g_auto (GStrv) parts = g_strsplit (message, ":", 5);
  guint line = line_of (self, begin);

  if (g_strv_length (parts) == 5 && g_str_equal (parts[0], "<data>"))
    g_set_error (self->error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_INPUT, "line %u: no JSON: %s",
                 line + (guint) g_ascii_strtoull (parts[1], NULL, 10) - 1, g_strstrip (parts[4]));
  else
    g_set_error (self->error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_INPUT, "line %u: no JSON: %s", line,
                 message);
  return FALSE;
}

/* The value that begins here, which the parser keeps until the next. NULL: refused. */
static JsonNode *
take_value (Scanner *self, guint depth)
{
  g_autoptr (GError) cause = NULL;
  gsize begin;

  peek (self);
  begin = self->at;
  if (!skip_value (self, depth))
    return NULL;
  if (self->at - begin > SS_JSON_MAX_ELEMENT_BYTES)
    {
      g_set_error (self->error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_INPUT,
                   "line %u: an element of more than %u MiB", line_of (self, begin),
                   SS_JSON_MAX_ELEMENT_BYTES >> 20);
      return NULL;
    }
  if (self->at == begin)
    {
      refuse_json (self, begin < self->size ? "unexpected byte, expected a value"
                                            : "unexpected end, expected a value");
      return NULL;
    }
  if (!json_parser_load_from_data (self->parser, self->data + begin, (gssize) (self->at - begin),
                                   &cause))
    {
      refuse_parse (self, begin, cause->message);
      return NULL;
    }
  return json_parser_get_root (self->parser);
}

/* ---- the outermost levels ---- */

/* A separator, or the end of what `end` closes; FALSE: refused. */
static gboolean
take_separator (Scanner *self, char end, gboolean *is_over)
{
  *is_over = peek (self) == end;
  return take (self, *is_over ? end : ',');
}

/* Checked before the parser makes anything of it: a file of nothing but brackets would take it a
 * minute. */
static gboolean
check_element (Scanner *self, guint n)
{
  if (n >= SS_JSON_MAX_ELEMENTS)
    g_set_error (self->error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_INPUT,
                 "line %u: more than %u elements", line_of (self, self->at), SS_JSON_MAX_ELEMENTS);
  else if (peek (self) != '{')
    g_set_error (self->error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_INPUT,
                 "line %u: an element that is no object", line_of (self, self->at));
  else
    return TRUE;
  return FALSE;
}

static gboolean
scan_array (Scanner *self, guint depth)
{
  gboolean is_over;
  guint n = 0;

  self->at++;
  if (peek (self) == ']')
    return take (self, ']');
  do
    {
      JsonNode *element = check_element (self, n++) ? take_value (self, depth) : NULL;

      if (element == NULL)
        return FALSE;
      self->each (element, self->user_data);
      if (!take_separator (self, ']', &is_over))
        return FALSE;
    }
  while (!is_over);
  return TRUE;
}

static gboolean
scan_member (Scanner *self, const char *name, gboolean *is_there)
{
  gboolean is_wanted;
  JsonNode *key;

  if (peek (self) != '"')
    return refuse_json (self, "expected a name in quotes");
  key = take_value (self, 1);
  if (key == NULL)
    return FALSE;
  is_wanted = g_str_equal (json_node_get_string (key), name);
  if (!take (self, ':'))
    return FALSE;
  if (!is_wanted || peek (self) != '[')
    return take_value (self, 1) != NULL;
  *is_there = TRUE;
  return scan_array (self, 2);
}

static gboolean
scan_object (Scanner *self, const char *name, gboolean *is_there)
{
  gboolean is_over;

  self->at++;
  if (peek (self) == '}')
    return take (self, '}');
  do
    if (!scan_member (self, name, is_there) || !take_separator (self, '}', &is_over))
      return FALSE;
  while (!is_over);
  return TRUE;
}

gboolean
ss_json_elements (const char *data, gsize size, const char *name, SsJsonElementFunc each,
                  gpointer user_data, gboolean *is_there, GError **error)
{
  g_autoptr (JsonParser) parser = json_parser_new_immutable ();
  Scanner self = { .data = data, .size = size, .line = 1, .parser = parser, .each = each,
                   .user_data = user_data, .error = error };

  *is_there = peek (&self) == '[';
  if (*is_there ? !scan_array (&self, 1)
      : peek (&self) == '{' ? !scan_object (&self, name, is_there)
                            : take_value (&self, 0) == NULL)
    return FALSE;
  return peek (&self) == '\0' || refuse_json (&self, "more after the end");
}
