/* SPDX-License-Identifier: MIT */
#include "scenarios/attribute.h"
#include "scenarios/scenario-private.h"

#include <string.h>

#define MAX_COLUMNS 100

/* The beginning of a tag with its attributes; what makes a line too long goes under the first. */
static void
append_tag (GString *xml, const char *margin, const char *element, const SsScenario *self)
{
  gsize line = xml->len, indent = strlen (margin) + strlen (element) + 2;
  guint n;
  const SsAttribute *attributes = ss_scenario_attributes (&n);

  g_string_append_printf (xml, "%s<%s", margin, element);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *value = NULL, *escaped = NULL;

      if (!g_str_equal (attributes[i].element, element))
        continue;
      value = attributes[i].kind->print (&attributes[i], self);
      if (!value)
        continue;
      escaped = g_markup_escape_text (value, -1);
      if (xml->len - line + strlen (attributes[i].name) + strlen (escaped) + strlen (" =\"\"/>")
            > MAX_COLUMNS
          && xml->len - line > indent)
        {
          g_string_append_c (xml, '\n');
          line = xml->len;
          g_string_append_printf (xml, "%*s", (int) indent - 1, "");
        }
      g_string_append_printf (xml, " %s=\"%s\"", attributes[i].name, escaped);
    }
}

/* The words of `text` in lines of at most MAX_COLUMNS, each after `indent` spaces. */
static void
append_wrapped (GString *xml, guint indent, const char *text)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);
  gsize column = 0;

  for (char **word = words; *word; word++)
    {
      if (column > 0 && column + 1 + strlen (*word) > MAX_COLUMNS - 4)
        column = 0;
      if (column == 0)
        g_string_append_printf (xml, "\n%*s%s", (int) indent, "", *word);
      else
        g_string_append_printf (xml, " %s", *word);
      column += (column == 0 ? indent : 1) + strlen (*word);
    }
}

/* "micro-batch: sequences of one forward (1 to 1048576; default 1)" (transfer full) */
static char *
explained (const SsAttribute *attribute)
{
  g_autofree char *accepts = ss_scenario_attribute_accepts (attribute);
  const char *otherwise = attribute->fallback ? attribute->fallback : attribute->otherwise;

  return g_strdup_printf ("%s: %s (%s%s%s)", attribute->name, attribute->meaning, accepts,
                          otherwise && *otherwise ? "; default: " : "",
                          otherwise ? otherwise : "");
}

/* What the element is and what each attribute means.  No text of the table has the "--" that a
 * comment must not have. */
static void
append_comment (GString *xml, guint indent, const SsElement *element)
{
  guint n;
  const SsAttribute *attributes = ss_scenario_attributes (&n);

  g_string_append_printf (xml, "%*s<!-- <%s>: %s.", (int) indent, "", element->name,
                          element->meaning);
  for (guint i = 0; i < n; i++)
    if (g_str_equal (attributes[i].element, element->name))
      {
        g_autofree char *text = explained (&attributes[i]);

        append_wrapped (xml, indent + 5, text);
      }
  g_string_append (xml, " -->\n");
}

/* An optional element that is not in the run has no value to tell in its first attribute. */
static gboolean
says_anything (const char *element, const SsScenario *self)
{
  guint n, i = 0;
  const SsAttribute *attributes = ss_scenario_attributes (&n);
  g_autofree char *value = NULL;

  while (!g_str_equal (attributes[i].element, element))
    i++;
  value = attributes[i].kind->print (&attributes[i], self);
  return value != NULL;
}

static gboolean
is_there (const SsScenario *self, const SsElement *element)
{
  return element->presence != SS_ELEMENT_OPTIONAL || says_anything (element->name, self);
}

static char *
to_xml (const SsScenario *self, gboolean is_commented)
{
  GString *xml = g_string_new ("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
  guint n;
  const SsElement *elements = ss_scenario_elements (&n);

  for (guint i = 0; i < n; i++)
    {
      const char *margin = i == 0 ? "" : "  ";

      if (is_commented && i > 0)
        g_string_append_c (xml, '\n');
      if (is_commented)
        append_comment (xml, (guint) strlen (margin), &elements[i]);
      if (!is_there (self, &elements[i]))
        continue;
      append_tag (xml, margin, elements[i].name, self);
      g_string_append (xml, i == 0 ? ">\n" : "/>\n");
    }
  g_string_append_printf (xml, "</%s>\n", elements[0].name);
  return g_string_free (xml, FALSE);
}

char *
ss_scenario_to_xml (const SsScenario *self)
{
  g_return_val_if_fail (self != NULL, NULL);
  return to_xml (self, FALSE);
}

char *
ss_scenario_to_commented_xml (const SsScenario *self)
{
  g_return_val_if_fail (self != NULL, NULL);
  return to_xml (self, TRUE);
}

char **
ss_scenario_settings (const SsScenario *self)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  guint n_elements, n_attributes;
  const SsElement *elements = ss_scenario_elements (&n_elements);
  const SsAttribute *attributes = ss_scenario_attributes (&n_attributes);

  g_return_val_if_fail (self != NULL, NULL);
  for (guint i = 0; i < n_elements; i++)
    for (guint j = 0; is_there (self, &elements[i]) && j < n_attributes; j++)
      {
        g_autofree char *path = NULL, *value = NULL, *setting = NULL;

        if (!g_str_equal (attributes[j].element, elements[i].name))
          continue;
        value = attributes[j].kind->print (&attributes[j], self);
        if (value == NULL)
          continue;
        path = ss_scenario_attribute_path (&attributes[j]);
        setting = g_strdup_printf ("%s=%s", path, value);
        g_strv_builder_add (builder, setting);
      }
  return g_strv_builder_end (builder);
}
