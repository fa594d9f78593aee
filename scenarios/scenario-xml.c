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

char *
ss_scenario_to_xml (const SsScenario *self)
{
  GString *xml = g_string_new ("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
  guint n;
  const SsElement *elements = ss_scenario_elements (&n);

  g_return_val_if_fail (self != NULL, NULL);
  append_tag (xml, "", elements[0].name, self);
  g_string_append (xml, ">\n");
  for (guint i = 1; i < n; i++)
    {
      /* the one optional element is the adapter */
      if (elements[i].presence == SS_ELEMENT_OPTIONAL && !self->config.adapter.type)
        continue;
      append_tag (xml, "  ", elements[i].name, self);
      g_string_append (xml, "/>\n");
    }
  g_string_append_printf (xml, "</%s>\n", elements[0].name);
  return g_string_free (xml, FALSE);
}
