/* SPDX-License-Identifier: MIT */
#include "hw/xml-node-private.h"

#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <string.h>

#define XSI_NAMESPACE "http://www.w3.org/2001/XMLSchema-instance"

struct _SsXmlDocument
{
  xmlDoc *tree;                  /* _private of an element: 1 + where its "<" stands in `text` */
  char *path;
  char *text;
  GArray *line_ends;             /* gsize: where each "\n" of `text` stands */
};

/* What the parser's callbacks need; behind the context's _private. */
typedef struct
{
  SsProblems *problems;
  const char *path, *text;
  gboolean has_failed;
} Reading;

/* ---- parsing ---- */

/* The first failure is told; what the parser says after it are consequences. */
static void reading_fail (xmlParserCtxt *context, gint line, const char *format, ...)
  G_GNUC_PRINTF (3, 4);

static void
reading_fail (xmlParserCtxt *context, gint line, const char *format, ...)
{
  Reading *reading = context->_private;
  g_autofree char *text = NULL;
  va_list arguments;

  if (reading->has_failed)
    return;
  reading->has_failed = TRUE;
  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  ss_problems_add (reading->problems, reading->path, line, "%s", text);
  xmlStopParser (context);
}

static void
on_error (void *data, xmlError *error)
{
  xmlParserCtxt *context = data;
  g_autofree char *text = NULL;

  if (error->level < XML_ERR_ERROR)
    return;
  text = g_strstrip (g_strdup (error->message == NULL ? "unknown fault" : error->message));
  text[0] = g_ascii_tolower (text[0]);
  reading_fail (context, error->line, "is not well-formed XML: %s", text);
}

static void
on_doctype (void *data, const xmlChar *name G_GNUC_UNUSED, const xmlChar *public_id G_GNUC_UNUSED,
            const xmlChar *system_id G_GNUC_UNUSED)
{
  xmlParserCtxt *context = data;

  reading_fail (context, context->input->line,
                "has a DOCTYPE; document types and entities are not read, remove it");
}

/* Builds the element as libxml2 does, and notes where it stands: the parser has just read the tag
 * up to its ">" and knows only its last line.  No "<" can stand inside a tag. */
static void
on_element (void *data,
            const xmlChar *name,
            const xmlChar *prefix,
            const xmlChar *uri,
            int n_namespaces,
            const xmlChar **namespaces,
            int n_attributes,
            int n_defaulted,
            const xmlChar **attributes)
{
  xmlParserCtxt *context = data;
  const xmlParserInput *input = context->input;
  const Reading *reading = context->_private;
  gsize start = (gsize) input->consumed + (gsize) (input->cur - input->base);

  xmlSAX2StartElementNs (data, name, prefix, uri, n_namespaces, namespaces, n_attributes,
                         n_defaulted, attributes);
  while (start > 0 && reading->text[start] != '<')
    start--;
  if (context->node != NULL)
    context->node->_private = GSIZE_TO_POINTER (start + 1);
  if (context->nodeNr > SS_XML_MAX_DEPTH)
    reading_fail (context, input->line, "has elements nested deeper than %d", SS_XML_MAX_DEPTH);
}

static xmlDoc *
parse (const char *path, const char *text, SsProblems *problems)
{
  Reading reading = { .problems = problems, .path = path, .text = text };
  xmlParserCtxt *context;
  xmlDoc *tree;

  xmlInitParser ();
  context = xmlNewParserCtxt ();
  context->_private = &reading;
  context->sax->serror = on_error;
  context->sax->internalSubset = on_doctype;
  context->sax->startElementNs = on_element;
  tree = xmlCtxtReadMemory (context, text, (int) strlen (text), NULL, NULL,
                            XML_PARSE_NONET | XML_PARSE_COMPACT | XML_PARSE_IGNORE_ENC);
  if (tree == NULL && !reading.has_failed)
    ss_problems_add (problems, path, 0, "is not well-formed XML");
  if (tree != NULL && reading.has_failed)
    g_clear_pointer (&tree, xmlFreeDoc);
  xmlFreeDoc (context->myDoc == tree ? NULL : context->myDoc);
  xmlFreeParserCtxt (context);
  return tree;
}

/* ---- documents ---- */

/* Made once: a file can have a hundred thousand faults. */
static GArray *
find_line_ends (const char *text)
{
  GArray *ends = g_array_new (FALSE, FALSE, sizeof (gsize));

  for (const char *p = text; (p = strchr (p, '\n')) != NULL; p++)
    {
      gsize end = (gsize) (p - text);

      g_array_append_val (ends, end);
    }
  return ends;
}

/* What libxml2 says of a text without any tag is about tags; whoever gives us JSON or prose wants
 * to hear what was met. */
static gboolean
begins_with_tag (const SsXmlDocument *self, const char *root, SsProblems *problems)
{
  const char *start = self->text + strspn (self->text, " \t\r\n");
  g_autofree char *met = g_strndup (start, (gsize) (g_utf8_next_char (start) - start));
  gint line = 1;

  if (*start == '<')
    return TRUE;
  for (const char *p = self->text; p < start; p++)
    line += *p == '\n';
  ss_problems_add (problems, self->path, line, "is not XML: begins with \"%s\"; expected <%.*s>",
                   met, (int) strcspn (root, " "), root);
  return FALSE;
}

/* "scenario" is of "scenario or model". */
static gboolean
is_one_of (const char *name, const char *roots)
{
  g_auto (GStrv) all = g_strsplit (roots, " or ", -1);

  return g_strv_contains ((const char *const *) all, name);
}

SsXmlDocument *
ss_xml_document_open_text (const char *path, char *text, const char *root, SsProblems *problems)
{
  g_autoptr (SsXmlDocument) self = g_new0 (SsXmlDocument, 1);
  const char *met;

  self->path = g_strdup (path);
  self->text = text;
  if (self->text == NULL || !begins_with_tag (self, root, problems))
    return NULL;
  self->tree = parse (path, self->text, problems);
  if (self->tree == NULL)
    return NULL;
  self->tree->_private = self;
  self->line_ends = find_line_ends (self->text);
  met = ss_xml_node_name (ss_xml_document_root (self));
  if (!is_one_of (met, root))
    {
      ss_xml_node_problem (ss_xml_document_root (self), NULL, problems,
                           "the root element is <%s>; expected <%.*s>", met,
                           (int) strcspn (root, " "), root);
      return NULL;
    }
  return g_steal_pointer (&self);
}

SsXmlDocument *
ss_xml_document_open (const char *path, const char *root, const char *schema, SsProblems *problems)
{
  SsXmlDocument *self
    = ss_xml_document_open_text (path, ss_xml_load_text (path, problems), root, problems);

  if (self != NULL && schema != NULL)
    ss_xml_document_check (self, schema, problems);
  return self;
}

SsXmlDocument *
ss_xml_document_new (const char *path, const char *root)
{
  SsXmlDocument *self = g_new0 (SsXmlDocument, 1);

  self->path = g_strdup (path);
  self->text = g_strdup ("");
  self->line_ends = find_line_ends (self->text);
  self->tree = xmlNewDoc ((const xmlChar *) "1.0");
  self->tree->_private = self;
  xmlDocSetRootElement (self->tree,
                        xmlNewDocNode (self->tree, NULL, (const xmlChar *) root, NULL));
  return self;
}

void
ss_xml_document_free (SsXmlDocument *self)
{
  if (self == NULL)
    return;
  xmlFreeDoc (self->tree);
  g_clear_pointer (&self->line_ends, g_array_unref);
  g_free (self->path);
  g_free (self->text);
  g_free (self);
}

xmlDoc *
ss_xml_document_tree (const SsXmlDocument *self)
{
  return self->tree;
}

const char *
ss_xml_document_path (const SsXmlDocument *self)
{
  return self->path;
}

SsXmlNode *
ss_xml_document_root (const SsXmlDocument *self)
{
  return (SsXmlNode *) xmlDocGetRootElement (self->tree);
}

char *
ss_xml_document_resolve (const SsXmlDocument *self, const char *href)
{
  g_autofree char *folder = g_path_get_dirname (self->path);

  if (g_path_is_absolute (href) || g_str_equal (folder, "."))
    return g_strdup (href);
  return g_build_filename (folder, href, NULL);
}

/* ---- where things stand ---- */

static const SsXmlDocument *
document_of (const SsXmlNode *self)
{
  return ((const xmlNode *) self)->doc->_private;
}

/* 1 + the line ends before `position`. */
static gint
line_at (const SsXmlDocument *document, const char *position)
{
  gsize at = (gsize) (position - document->text);
  guint low = 0, high = document->line_ends->len;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;

      if (g_array_index (document->line_ends, gsize, middle) < at)
        low = middle + 1;
      else
        high = middle;
    }
  return (gint) low + 1;
}

/* The element's "<" in the file's text, or NULL if it was created. */
static const char *
start_of (const SsXmlNode *self)
{
  gsize start = GPOINTER_TO_SIZE (((const xmlNode *) self)->_private);

  return start == 0 ? NULL : document_of (self)->text + start - 1;
}

gint
ss_xml_node_line (const SsXmlNode *self)
{
  const char *start = start_of (self);

  return start == NULL ? 0 : line_at (document_of (self), start);
}

/* The next name in a well-formed tag from `p` on, which is just behind a name or a value; NULL at
 * the tag's end. */
static const char *
next_name (const char *p)
{
  p += strcspn (p, " \t\r\n>");
  p += strspn (p, " \t\r\n");
  return *p == '>' || *p == '/' || *p == '\0' ? NULL : p;
}

gint
ss_xml_node_attribute_line (const SsXmlNode *self, const char *attribute)
{
  const xmlAttr *met = xmlHasProp ((xmlNode *) self, (const xmlChar *) attribute);
  const char *p = start_of (self);

  if (met != NULL && met->_private != NULL)
    return 0;
  if (met == NULL || p == NULL)
    return ss_xml_node_line (self);
  while ((p = next_name (p)) != NULL)
    {
      gsize n = strcspn (p, "= \t\r\n");

      if (strlen (attribute) == n && strncmp (p, attribute, n) == 0)
        return line_at (document_of (self), p);
      p += strcspn (p, "\"'");
      p = strchr (p + 1, *p) + 1;
    }
  return ss_xml_node_line (self);
}

void
ss_xml_node_problem (const SsXmlNode *self,
                     const char *attribute,
                     SsProblems *problems,
                     const char *format,
                     ...)
{
  g_autofree char *text = NULL;
  gint line
      = attribute == NULL ? ss_xml_node_line (self) : ss_xml_node_attribute_line (self, attribute);
  va_list arguments;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  ss_problems_add (problems, document_of (self)->path, line, "%s", text);
}

/* ---- elements and attributes ---- */

const char *
ss_xml_node_name (const SsXmlNode *self)
{
  return (const char *) ((const xmlNode *) self)->name;
}

SsXmlNode *
ss_xml_node_next_child (const SsXmlNode *self, const SsXmlNode *previous)
{
  const xmlNode *node
      = previous == NULL ? ((const xmlNode *) self)->children : ((const xmlNode *) previous)->next;

  while (node != NULL && node->type != XML_ELEMENT_NODE)
    node = node->next;
  return (SsXmlNode *) node;
}

SsXmlNode *
ss_xml_node_child (const SsXmlNode *self, const char *name)
{
  SsXmlNode *child = NULL;

  while ((child = ss_xml_node_next_child (self, child)) != NULL)
    if (g_str_equal (ss_xml_node_name (child), name))
      return child;
  return NULL;
}

char *
ss_xml_node_get (const SsXmlNode *self, const char *attribute)
{
  xmlChar *value = xmlGetNoNsProp ((const xmlNode *) self, (const xmlChar *) attribute);
  char *copy = g_strdup ((const char *) value);

  xmlFree (value);
  return copy;
}

char **
ss_xml_node_attributes (const SsXmlNode *self)
{
  GPtrArray *names = g_ptr_array_new ();

  for (const xmlAttr *a = ((const xmlNode *) self)->properties; a != NULL; a = a->next)
    if (a->ns == NULL)
      g_ptr_array_add (names, g_strdup ((const char *) a->name));
    else if (!g_str_equal (a->ns->href, XSI_NAMESPACE))
      g_ptr_array_add (names, g_strdup_printf ("%s:%s", a->ns->prefix, a->name));
  g_ptr_array_add (names, NULL);
  return (char **) g_ptr_array_free (names, FALSE);
}

void
ss_xml_node_set (SsXmlNode *self, const char *attribute, const char *value)
{
  xmlAttr *set
    = xmlSetProp ((xmlNode *) self, (const xmlChar *) attribute, (const xmlChar *) value);

  set->_private = self;
}

SsXmlNode *
ss_xml_node_ensure_child (SsXmlNode *self, const char *name)
{
  SsXmlNode *child = ss_xml_node_child (self, name);

  return child != NULL
             ? child
             : (SsXmlNode *) xmlNewChild ((xmlNode *) self, NULL, (const xmlChar *) name, NULL);
}
