/* SPDX-License-Identifier: MIT
 *
 * Reading XML that comes from strangers: a file against its schema, then typed reads of attributes,
 * every problem as file:line.  No network, no DTD, no entities, bounded size and depth.  It knows
 * no model and no device.  The caller owns the document; nodes are borrowed from it.
 */
#pragma once

#include "hw/data-path.h"
#include "hw/problems.h"

G_BEGIN_DECLS

typedef struct _SsXmlDocument SsXmlDocument;
typedef struct _SsXmlNode SsXmlNode;     /* an element */

/* Largest file in bytes and deepest nesting that are read. */
#define SS_XML_MAX_BYTES (1024 * 1024)
#define SS_XML_MAX_DEPTH 32

/* Opens and, unless `schema` is NULL, checks (ss_xml_document_check): NULL if the file cannot be
 * read, is not well formed or has another root element than `root`, or than one of "this or that"
 * (the problem is added); a
 * document that only fails the check is returned, so that all problems can be found.
 * (transfer full) */
SsXmlDocument *ss_xml_document_open (const char *path,
                                     const char *root,
                                     const char *schema,
                                     SsProblems *problems);
/* The same of a text (transfer full; NULL: the reason was added) that `path` is the name of. */
SsXmlDocument *ss_xml_document_open_text (const char *path,
                                          char *text,
                                          const char *root,
                                          SsProblems *problems);
/* An empty root element, to be filled by ss_xml_node_set; what is wrong with it is told of `path`,
 * which is not read. (transfer full) */
SsXmlDocument *ss_xml_document_new (const char *path, const char *root);
void ss_xml_document_free (SsXmlDocument *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsXmlDocument, ss_xml_document_free)

/* Structure: adds elements and attributes that `schema` ("hw/device.xsd", found by ss_data_find;
 * or, if it begins with "<", the schema itself) does not know or that are missing, and text; TRUE
 * if there were none. Values are for the readers of hw/xml-read.h. */
gboolean ss_xml_document_check (const SsXmlDocument *self,
                                const char *schema,
                                SsProblems *problems);
/* The letter of the schema, values included, in libxml2's words: for what passed all readers. */
gboolean ss_xml_document_validate (const SsXmlDocument *self,
                                   const char *schema,
                                   SsProblems *problems);

const char *ss_xml_document_path (const SsXmlDocument *self);
SsXmlNode *ss_xml_document_root (const SsXmlDocument *self);
/* `href` relative to the document's own folder. (transfer full) */
char *ss_xml_document_resolve (const SsXmlDocument *self, const char *href);

const char *ss_xml_node_name (const SsXmlNode *self);
/* Line of its "<"; 0 if it was not in the file. */
gint ss_xml_node_line (const SsXmlNode *self);
/* Line on which the attribute stands; the element's own if it is missing; 0 if it was set by
 * ss_xml_node_set. */
gint ss_xml_node_attribute_line (const SsXmlNode *self, const char *attribute);
/* Adds "file:line: text" for the attribute, or for the element if `attribute` is NULL. */
void ss_xml_node_problem (const SsXmlNode *self,
                          const char *attribute,
                          SsProblems *problems,
                          const char *format,
                          ...)
  G_GNUC_PRINTF (4, 5);
/* First child element of that name, or NULL. (transfer none) */
SsXmlNode *ss_xml_node_child (const SsXmlNode *self, const char *name);
/* Next element after `previous` (NULL: the first); any name. (transfer none) */
SsXmlNode *ss_xml_node_next_child (const SsXmlNode *self, const SsXmlNode *previous);
/* Value of an attribute, or NULL. (transfer full) */
char *ss_xml_node_get (const SsXmlNode *self, const char *attribute);
/* NULL-terminated names of all attributes, in the file's order; those of XML Schema itself
 * (xsi:...) and namespace declarations are left out. (transfer full) */
char **ss_xml_node_attributes (const SsXmlNode *self);
/* Sets an attribute, creating it: for overrides. `value` is UTF-8. */
void ss_xml_node_set (SsXmlNode *self, const char *attribute, const char *value);
/* Finds the child element or creates it. (transfer none) */
SsXmlNode *ss_xml_node_ensure_child (SsXmlNode *self, const char *name);

G_END_DECLS
