/* SPDX-License-Identifier: MIT
 *
 * The XML Schema of the scenario file, made out of the table of attributes.
 */
#include "scenarios/attribute.h"

static void
add_restriction (GString *out, const char *base, const char *facets)
{
  g_string_append_printf (out,
                          "<xs:simpleType><xs:restriction base=\"%s\">\n%s"
                          "</xs:restriction></xs:simpleType>\n",
                          base, facets);
}

static char *
enumeration (const SsAttribute *a)
{
  g_auto (GStrv) words = a->kind->words (a);
  GString *facets = g_string_new (NULL);

  for (char **word = words; *word; word++)
    g_string_append_printf (facets, "<xs:enumeration value=\"%s\"/>\n", *word);
  return g_string_free (facets, FALSE);
}

/* Where the table says in words what is accepted, only the readers know it all. */
static void
add_type (GString *out, const SsAttribute *a)
{
  g_autofree char *facets = NULL;

  if (a->kind->pattern)
    {
      facets = g_strdup_printf ("<xs:pattern value=\"%s\"/>\n", a->kind->pattern);
      add_restriction (out, "xs:string", facets);
    }
  else if (a->kind->words && !a->accepts)
    {
      facets = enumeration (a);
      add_restriction (out, "xs:string", facets);
    }
  else if (!a->accepts)
    {
      facets = g_strdup_printf ("<xs:minInclusive value=\"%" G_GINT64_FORMAT "\"/>\n"
                                "<xs:maxInclusive value=\"%" G_GINT64_FORMAT "\"/>\n",
                                a->min, a->max);
      add_restriction (out, "xs:integer", facets);
    }
  else
    add_restriction (out, "xs:string", "");
}

static void
add_attribute (GString *out, const SsAttribute *a, gboolean is_structure)
{
  g_autofree char *meaning = NULL;

  g_string_append_printf (out, "<xs:attribute name=\"%s\"%s", a->name,
                          a->fallback || a->otherwise ? "" : " use=\"required\"");
  if (is_structure)
    {
      g_string_append (out, "/>\n");
      return;
    }
  meaning = g_markup_escape_text (a->meaning, -1);
  g_string_append_printf (out,
                          ">\n<xs:annotation><xs:documentation>%s</xs:documentation>"
                          "</xs:annotation>\n",
                          meaning);
  add_type (out, a);
  g_string_append (out, "</xs:attribute>\n");
}

static void
add_attributes (GString *out, const char *element, gboolean is_structure)
{
  guint n;
  const SsAttribute *attributes = ss_scenario_attributes (&n);

  for (guint i = 0; i < n; i++)
    if (g_str_equal (attributes[i].element, element))
      add_attribute (out, &attributes[i], is_structure);
}

char *
ss_scenario_schema (gboolean is_structure)
{
  guint n;
  const SsElement *elements = ss_scenario_elements (&n);
  GString *out = g_string_new ("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                               "<xs:schema xmlns:xs=\"http://www.w3.org/2001/XMLSchema\">\n");

  g_string_append_printf (out, "<xs:element name=\"%s\"><xs:complexType><xs:all>\n",
                          elements[0].name);
  for (guint i = 1; i < n; i++)
    {
      g_string_append_printf (out, "<xs:element name=\"%s\"%s><xs:complexType>\n",
                              elements[i].name,
                              elements[i].presence == SS_ELEMENT_REQUIRED ? ""
                                                                          : " minOccurs=\"0\"");
      add_attributes (out, elements[i].name, is_structure);
      g_string_append (out, "</xs:complexType></xs:element>\n");
    }
  g_string_append (out, "</xs:all>\n");
  add_attributes (out, elements[0].name, is_structure);
  g_string_append (out, "</xs:complexType></xs:element>\n</xs:schema>\n");
  return g_string_free (out, FALSE);
}
