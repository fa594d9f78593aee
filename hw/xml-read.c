/* SPDX-License-Identifier: MIT */
#include "hw/xml-read.h"

#include "hw/units.h"

/* Tells what a reader of hw/units.h found, which it takes over. */
static gboolean
settle (const SsXmlNode *node,
        const char *attribute,
        gboolean is_good,
        char **problem,
        SsProblems *problems)
{
  if (!is_good)
    ss_xml_node_problem (node, attribute, problems, "%s: %s", attribute, *problem);
  g_clear_pointer (problem, g_free);
  return is_good;
}

gboolean
ss_xml_read_bytes (const SsXmlNode *node,
                   const char *attribute,
                   guint64 *bytes,
                   SsProblems *problems)
{
  g_autofree char *text = ss_xml_node_get (node, attribute);
  char *problem = NULL;

  return text != NULL
         && settle (node, attribute, ss_units_bytes (text, bytes, &problem), &problem, problems);
}

gboolean
ss_xml_read_bytes_per_s (const SsXmlNode *node,
                         const char *attribute,
                         double *bytes_per_s,
                         SsProblems *problems)
{
  g_autofree char *text = ss_xml_node_get (node, attribute);
  char *problem = NULL;

  return text != NULL
         && settle (node, attribute, ss_units_bytes_per_s (text, bytes_per_s, &problem), &problem,
                    problems);
}

gboolean
ss_xml_read_flop_per_s (const SsXmlNode *node,
                        const char *attribute,
                        double *flop_per_s,
                        SsProblems *problems)
{
  g_autofree char *text = ss_xml_node_get (node, attribute);
  char *problem = NULL;

  return text != NULL
         && settle (node, attribute, ss_units_flop_per_s (text, flop_per_s, &problem), &problem,
                    problems);
}

gboolean
ss_xml_read_seconds (const SsXmlNode *node,
                     const char *attribute,
                     double *seconds,
                     SsProblems *problems)
{
  g_autofree char *text = ss_xml_node_get (node, attribute);
  char *problem = NULL;

  return text != NULL
         && settle (node, attribute, ss_units_seconds (text, seconds, &problem), &problem,
                    problems);
}

gboolean
ss_xml_read_hertz (const SsXmlNode *node,
                   const char *attribute,
                   double *hertz,
                   SsProblems *problems)
{
  g_autofree char *text = ss_xml_node_get (node, attribute);
  char *problem = NULL;

  return text != NULL
         && settle (node, attribute, ss_units_hertz (text, hertz, &problem), &problem, problems);
}

gboolean
ss_xml_read_number (const SsXmlNode *node,
                    const char *attribute,
                    double *number,
                    SsProblems *problems)
{
  g_autofree char *text = ss_xml_node_get (node, attribute);
  char *problem = NULL;

  return text != NULL
         && settle (node, attribute, ss_units_number (text, number, &problem), &problem, problems);
}

gboolean
ss_xml_read_fraction (const SsXmlNode *node,
                      const char *attribute,
                      double *fraction,
                      SsProblems *problems)
{
  g_autofree char *text = ss_xml_node_get (node, attribute);
  char *problem = NULL;

  return text != NULL
         && settle (node, attribute, ss_units_fraction (text, fraction, &problem), &problem,
                    problems);
}

gboolean
ss_xml_read_count (const SsXmlNode *node,
                   const char *attribute,
                   gint64 min,
                   gint64 max,
                   gint64 *count,
                   SsProblems *problems)
{
  g_autofree char *text = ss_xml_node_get (node, attribute);
  char *problem = NULL;

  return text != NULL
         && settle (node, attribute, ss_units_count (text, min, max, count, &problem), &problem,
                    problems);
}

gboolean
ss_xml_read_choice (const SsXmlNode *node,
                    const char *attribute,
                    const char *const *known,
                    guint *index,
                    SsProblems *problems)
{
  g_autofree char *text = ss_xml_node_get (node, attribute), *near = NULL;

  if (text == NULL)
    return FALSE;
  for (guint i = 0; known[i] != NULL; i++)
    if (g_str_equal (known[i], text))
      {
        *index = i;
        return TRUE;
      }
  near = ss_problems_suggest (text, known);
  ss_xml_node_problem (node, attribute, problems, "%s: \"%s\" is not known; %s", attribute, text,
                       near);
  return FALSE;
}

gboolean
ss_xml_read_boolean (const SsXmlNode *node,
                     const char *attribute,
                     gboolean *value,
                     SsProblems *problems)
{
  static const char *const words[] = { "no", "yes", NULL };
  guint index;

  if (!ss_xml_read_choice (node, attribute, words, &index, problems))
    return FALSE;
  *value = index == 1;
  return TRUE;
}
