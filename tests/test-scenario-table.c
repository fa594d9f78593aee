/* SPDX-License-Identifier: MIT
 *
 * The table of attributes, the schema made of it, the reference and the printed scenario are four
 * tellings of one list.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "hw/xml-node.h"
#include "scenario-fixture.h"
#include "scenarios/attribute.h"

static char *
read_source (const char *name)
{
  g_autofree char *path = fixture_source (name);
  char *text = NULL;

  cr_assert (g_file_get_contents (path, &text, NULL, NULL), "%s", path);
  return text;
}

/* The part of the reference under "## `<element>`". (transfer full) */
static char *
section_of (const char *reference, const char *element)
{
  g_autofree char *heading = g_strdup_printf ("\n## `<%s>`\n", element);
  g_auto (GStrv) around = g_strsplit (reference, heading, 2);
  g_auto (GStrv) sections = g_strsplit (around[1] ? around[1] : "", "\n## ", 2);

  cr_assert (around[1] != NULL, "no section %s", heading);
  return g_strconcat ("\n", sections[0], NULL);
}

Test (scenario_table, the_reference_has_every_attribute_with_its_default_and_its_words)
{
  g_autofree char *reference = read_source ("docs/scenario-reference.md");
  guint n;
  const SsAttribute *attributes = ss_scenario_attributes (&n);

  for (guint i = 0; i < n; i++)
    {
      const SsAttribute *a = &attributes[i];
      g_autofree char *section = section_of (reference, a->element);
      g_autofree char *row
        = a->fallback
            ? g_strdup_printf ("\n| `%s` | `%s` |", a->name, a->fallback[0] ? a->fallback : "\"\"")
          : a->otherwise ? g_strdup_printf ("\n| `%s` | *%s* |", a->name, a->otherwise)
                         : g_strdup_printf ("\n| `%s` | required |", a->name);
      g_auto (GStrv) words = a->kind->words && !a->accepts ? a->kind->words (a) : NULL;

      cr_assert (strstr (section, row) != NULL, "the reference lacks the row %s", row + 1);
      for (char **word = words; word && *word; word++)
        {
          g_autofree char *quoted = g_strdup_printf ("`%s`", *word);

          cr_assert (strstr (section, quoted) != NULL, "the reference of %s lacks the word %s",
                     a->name, *word);
        }
    }
}

/* Names of the xs:attribute of an element's complex type. */
static char **
attributes_of (const SsXmlNode *element)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  const SsXmlNode *type = ss_xml_node_child (element, "complexType");
  SsXmlNode *child = NULL;

  while ((child = ss_xml_node_next_child (type, child)))
    if (g_str_equal (ss_xml_node_name (child), "attribute"))
      {
        g_autofree char *name = ss_xml_node_get (child, "name");

        g_strv_builder_add (builder, name);
      }
  return g_strv_builder_end (builder);
}

static void
assert_schema_has (const SsXmlNode *declaration, const SsElement *element)
{
  g_auto (GStrv) declared = attributes_of (declaration);
  guint n, n_of_element = 0;
  const SsAttribute *attributes = ss_scenario_attributes (&n);

  for (guint i = 0; i < n; i++)
    if (g_str_equal (attributes[i].element, element->name))
      {
        n_of_element++;
        cr_assert (g_strv_contains ((const char *const *) declared, attributes[i].name),
                   "the schema lacks %s/%s", element->name, attributes[i].name);
      }
  cr_assert (eq (u32, g_strv_length (declared), n_of_element),
             "the schema of <%s> has more than the table", element->name);
}

Test (scenario_table, the_schema_has_the_same_elements_and_attributes)
{
  g_autoptr (SsProblems) problems = ss_problems_new ();
  g_autoptr (SsXmlDocument) schema
    = ss_xml_document_open_text ("schema", ss_scenario_schema (FALSE), "schema", problems);
  SsXmlNode *root = ss_xml_node_child (ss_xml_document_root (schema), "element"), *child = NULL;
  SsXmlNode *all = ss_xml_node_child (ss_xml_node_child (root, "complexType"), "all");
  guint n, i = 1;
  const SsElement *elements = ss_scenario_elements (&n);

  assert_schema_has (root, &elements[0]);
  while ((child = ss_xml_node_next_child (all, child)))
    {
      g_autofree char *name = ss_xml_node_get (child, "name"),
                      *least = ss_xml_node_get (child, "minOccurs");

      cr_assert (lt (u32, i, n));
      cr_assert (eq (str, name, (char *) elements[i].name));
      cr_assert (eq (int, least == NULL, elements[i].presence == SS_ELEMENT_REQUIRED), "%s", name);
      assert_schema_has (child, &elements[i++]);
    }
  cr_assert (eq (u32, i, n));
}

/* the schema's own patterns and the readers agree on everything that is shipped, as it is and as it
 * is shown */
static void
assert_valid (const char *path, const char *root, const char *schema)
{
  g_autoptr (SsProblems) problems = ss_problems_new ();
  g_autoptr (SsXmlDocument) document = ss_xml_document_open (path, root, NULL, problems);
  g_autoptr (GError) error = NULL;

  if (document)
    ss_xml_document_validate (document, schema, problems);
  ss_problems_settle (problems, &error);
  cr_assert (error == NULL, "%s", error->message);
}

Test (scenario_table, shipped_and_shown_files_are_valid_by_the_letter_of_the_schema)
{
  g_auto (GStrv) scenarios = fixture_list ("scenarios"), models = fixture_list ("scenarios/models");
  char *folder = fixture_folder ();

  for (char **name = scenarios; *name; name++)
    {
      g_autofree char *file = g_strdup_printf ("scenarios/%s.xml", *name),
                      *path = fixture_source (file);
      g_autoptr (SsScenario) scenario = fixture_load (path, NULL);
      g_autofree char *schema = ss_scenario_schema (FALSE), *xml = ss_scenario_to_xml (scenario),
                      *shown = fixture_write (folder, "s.xml", xml, -1);

      assert_valid (path, "scenario", schema);
      assert_valid (shown, "scenario", schema);
    }
  for (char **name = models; *name; name++)
    {
      g_autofree char *file = g_strdup_printf ("scenarios/models/%s.xml", *name),
                      *path = fixture_source (file);

      assert_valid (path, "model", "scenarios/model.xsd");
    }
  fixture_discard (folder);
}

Test (scenario_table, paths_are_those_of_set)
{
  g_auto (GStrv) paths = ss_scenario_attribute_paths ();
  const SsAttribute *steps = ss_scenario_attribute_find ("training", "steps");
  const SsAttribute *zero = ss_scenario_attribute_find ("training", "zero-grad");
  g_autofree char *limits = ss_scenario_attribute_accepts (steps),
                  *words = ss_scenario_attribute_accepts (zero);

  cr_assert (g_strv_contains ((const char *const *) paths, "name"));
  cr_assert (g_strv_contains ((const char *const *) paths, "checkpointing/policy"));
  cr_assert (ss_scenario_attribute_find ("training", "stepz") == NULL);
  cr_assert (eq (str, limits, "1 to 1000"));
  cr_assert (eq (str, words, "none | zero"));
}
