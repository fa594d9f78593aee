/* SPDX-License-Identifier: MIT */
#include "hw/xml-node-private.h"

#include <libxml/xmlschemas.h>
#include <libxml/xmlschemastypes.h>
#include <string.h>

/* A schema is read as any other document. Only what our own schemas use is understood by the check
 * of structure: elements with a complex type, in place or named at the top; all, sequence and
 * choice; attributes. */

static SsXmlDocument *
open_schema (const SsXmlDocument *document, const char *schema, SsProblems *problems)
{
  g_autofree char *path = NULL;

  if (schema[0] == '<')
    return ss_xml_document_open_text ("schema", g_strdup (schema), "schema", problems);
  path = ss_data_find (schema);
  if (path != NULL)
    return ss_xml_document_open (path, "schema", NULL, problems);
  ss_problems_add (problems, ss_xml_document_path (document), 0,
                   "its schema %s is nowhere; is stepsim installed?", schema);
  return NULL;
}

/* ---- structure, in the project's words ---- */

static gboolean
is_called (const SsXmlNode *node, const char *kind, const char *name)
{
  g_autofree char *met = NULL;

  if (!g_str_equal (ss_xml_node_name (node), kind))
    return FALSE;
  met = ss_xml_node_get (node, "name");
  return g_strcmp0 (met, name) == 0;
}

/* The top-level declaration of that kind and name. */
static SsXmlNode *
top_level (const SsXmlDocument *schema, const char *kind, const char *name)
{
  SsXmlNode *node = NULL;

  while ((node = ss_xml_node_next_child (ss_xml_document_root (schema), node)) != NULL)
    if (is_called (node, kind, name))
      return node;
  return NULL;
}

/* The complex type of an element, or NULL if it has none: then it holds neither elements nor
 * attributes. */
static const SsXmlNode *
type_of (const SsXmlDocument *schema, const SsXmlNode *declaration)
{
  g_autofree char *type = ss_xml_node_get (declaration, "type");

  return type == NULL ? ss_xml_node_child (declaration, "complexType")
                      : top_level (schema, "complexType", type);
}

/* Adds every declaration of that kind below `node`, not looking into the types of elements. */
static void
collect (const SsXmlNode *node, const char *kind, GPtrArray *found)
{
  SsXmlNode *child = NULL;

  while (node != NULL && (child = ss_xml_node_next_child (node, child)) != NULL)
    if (g_str_equal (ss_xml_node_name (child), kind))
      g_ptr_array_add (found, child);
    else if (!g_str_equal (ss_xml_node_name (child), "element"))
      collect (child, kind, found);
}

static char **
names_of (const GPtrArray *declarations)
{
  char **names = g_new0 (char *, declarations->len + 1);

  for (guint i = 0; i < declarations->len; i++)
    names[i] = ss_xml_node_get (declarations->pdata[i], "name");
  return names;
}

/* "none is known here" or ss_problems_suggest. */
static char *
suggest (const char *met, char **known)
{
  return known[0] == NULL ? g_strdup ("none is known here")
                          : ss_problems_suggest (met, (const char *const *) known);
}

static void
check_attributes (const SsXmlNode *node, const SsXmlNode *type, SsProblems *problems)
{
  g_autoptr (GPtrArray) declared = g_ptr_array_new ();
  g_auto (GStrv) known = NULL, met = ss_xml_node_attributes (node);

  collect (type, "attribute", declared);
  known = names_of (declared);
  for (guint i = 0; met[i] != NULL; i++)
    if (!g_strv_contains ((const char *const *) known, met[i]))
      {
        g_autofree char *near = suggest (met[i], known);

        ss_xml_node_problem (node, met[i], problems, "%s: unknown attribute \"%s\"; %s",
                             ss_xml_node_name (node), met[i], near);
      }
  for (guint i = 0; i < declared->len; i++)
    {
      g_autofree char *use = ss_xml_node_get (declared->pdata[i], "use");

      if (g_strcmp0 (use, "required") == 0
          && !g_strv_contains ((const char *const *) met, known[i]))
        ss_xml_node_problem (node, NULL, problems, "%s: attribute \"%s\" is missing",
                             ss_xml_node_name (node), known[i]);
    }
}

static guint
occurs (const SsXmlNode *declaration, const char *which)
{
  g_autofree char *text = ss_xml_node_get (declaration, which);

  return text == NULL                      ? 1
         : g_str_equal (text, "unbounded") ? G_MAXUINT
                                           : (guint) g_ascii_strtoull (text, NULL, 10);
}

/* Elements of the declaration's name in `node`: not too few, not too many. */
static void
check_occurrences (const SsXmlNode *node,
                   const SsXmlNode *declaration,
                   const char *name,
                   SsProblems *problems)
{
  guint n = 0, max = occurs (declaration, "maxOccurs");
  SsXmlNode *child = NULL;

  while ((child = ss_xml_node_next_child (node, child)) != NULL)
    if (g_str_equal (ss_xml_node_name (child), name) && n++ == max)
      ss_xml_node_problem (child, NULL, problems, "%s: <%s> is given more than %s",
                           ss_xml_node_name (node), name, max == 1 ? "once" : "the schema allows");
  if (n < occurs (declaration, "minOccurs"))
    ss_xml_node_problem (node, NULL, problems, "%s: <%s> is missing", ss_xml_node_name (node),
                         name);
}

static void
check_text (const SsXmlNode *node, SsProblems *problems)
{
  const xmlNode *child = ((const xmlNode *) node)->children;

  for (; child != NULL; child = child->next)
    if ((child->type == XML_TEXT_NODE || child->type == XML_CDATA_SECTION_NODE)
        && !xmlIsBlankNode (child))
      {
        g_autofree char *text = g_strndup ((const char *) child->content, 40);

        ss_xml_node_problem (node, NULL, problems, "%s: text \"%s\" is not expected here",
                             ss_xml_node_name (node), g_strstrip (text));
        return;
      }
}

/* Our schemas have no namespace, so whatever has one is none of their elements; said once for what
 * inherits it. */
static void
check_namespace (const SsXmlNode *node, SsProblems *problems)
{
  const xmlNode *element = (const xmlNode *) node, *parent = element->parent;

  if (element->ns == NULL
      || (parent->type == XML_ELEMENT_NODE && parent->ns != NULL
          && xmlStrEqual (parent->ns->href, element->ns->href)))
    return;
  ss_xml_node_problem (node, NULL, problems, "%s: is in the namespace \"%s\"; expected none",
                       ss_xml_node_name (node), (const char *) element->ns->href);
}

/* Depth is bounded by SS_XML_MAX_DEPTH. */
static void
check_element (const SsXmlDocument *schema,
               const SsXmlNode *node,
               const SsXmlNode *declaration,
               SsProblems *problems)
{
  const SsXmlNode *type = type_of (schema, declaration);
  g_autoptr (GPtrArray) declared = g_ptr_array_new ();
  g_auto (GStrv) known = NULL;
  SsXmlNode *child = NULL;

  check_namespace (node, problems);
  check_attributes (node, type, problems);
  check_text (node, problems);
  collect (type, "element", declared);
  known = names_of (declared);
  for (guint i = 0; i < declared->len; i++)
    check_occurrences (node, declared->pdata[i], known[i], problems);
  while ((child = ss_xml_node_next_child (node, child)) != NULL)
    {
      guint i = 0;

      while (i < declared->len && !g_str_equal (known[i], ss_xml_node_name (child)))
        i++;
      if (i < declared->len)
        check_element (schema, child, declared->pdata[i], problems);
      else
        {
          g_autofree char *near = suggest (ss_xml_node_name (child), known);

          ss_xml_node_problem (child, NULL, problems, "%s: unknown element <%s>; %s",
                               ss_xml_node_name (node), ss_xml_node_name (child), near);
        }
    }
}

gboolean
ss_xml_document_check (const SsXmlDocument *self, const char *schema, SsProblems *problems)
{
  guint n_before = ss_problems_count (problems);
  g_autoptr (SsXmlDocument) definition = open_schema (self, schema, problems);
  const SsXmlNode *root = ss_xml_document_root (self), *declaration;

  if (definition == NULL)
    return FALSE;
  declaration = top_level (definition, "element", ss_xml_node_name (root));
  if (declaration == NULL)
    ss_problems_add (problems, ss_xml_document_path (definition), 0, "does not declare <%s>",
                     ss_xml_node_name (root));
  else
    check_element (definition, root, declaration, problems);
  return ss_problems_count (problems) == n_before;
}

/* ---- the letter of the schema ---- */

typedef struct
{
  const SsXmlDocument *document;
  SsProblems *problems;
} Validation;

static void
on_violation (void *data, xmlError *error)
{
  const Validation *validation = data;
  const SsXmlNode *node = error->node;
  g_autofree char *text = g_strstrip (g_strdup (error->message));

  if (node != NULL && ((const xmlNode *) node)->type == XML_ATTRIBUTE_NODE)
    node = (const SsXmlNode *) ((const xmlNode *) node)->parent;
  if (node != NULL && ((const xmlNode *) node)->doc == ss_xml_document_tree (validation->document))
    ss_xml_node_problem (node, NULL, validation->problems, "%s", text);
  else
    ss_problems_add (validation->problems, ss_xml_document_path (validation->document), 0, "%s",
                     text);
}

/* libxml2 makes its built-in types at the first use, unguarded. */
static void
prepare_types (void)
{
  static gsize is_done;

  if (!g_once_init_enter (&is_done))
    return;
  xmlInitParser ();
  xmlSchemaInitTypes ();
  g_once_init_leave (&is_done, 1);
}

gboolean
ss_xml_document_validate (const SsXmlDocument *self, const char *schema, SsProblems *problems)
{
  guint n_before = ss_problems_count (problems);
  g_autoptr (SsXmlDocument) definition = open_schema (self, schema, problems);
  Validation of_schema = { definition, problems }, of_self = { self, problems };
  xmlSchemaParserCtxt *parser;
  xmlSchemaValidCtxt *validator;
  xmlSchema *parsed;

  if (definition == NULL)
    return FALSE;
  prepare_types ();
  parser = xmlSchemaNewDocParserCtxt (ss_xml_document_tree (definition));
  xmlSchemaSetParserStructuredErrors (parser, on_violation, &of_schema);
  parsed = xmlSchemaParse (parser);
  xmlSchemaFreeParserCtxt (parser);
  if (parsed == NULL)
    return FALSE;
  validator = xmlSchemaNewValidCtxt (parsed);
  xmlSchemaSetValidStructuredErrors (validator, on_violation, &of_self);
  xmlSchemaValidateDoc (validator, ss_xml_document_tree (self));
  xmlSchemaFreeValidCtxt (validator);
  xmlSchemaFree (parsed);
  return ss_problems_count (problems) == n_before;
}
