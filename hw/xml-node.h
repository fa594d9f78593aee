/* SPDX-License-Identifier: MIT
 *
 * Reading XML that comes from strangers: a file against its schema, then typed reads of attributes, every
 * problem as file:line.  No network, no DTD, no entities, bounded size and depth.  It knows no model and
 * no device.  The caller owns the document; nodes are borrowed from it.
 */
#pragma once

#include "hw/problems.h"

G_BEGIN_DECLS

typedef struct _SsXmlDocument SsXmlDocument;
typedef struct _SsXmlNode SsXmlNode;     /* an element */

/* Largest file in bytes and deepest nesting that are read. */
#define SS_XML_MAX_BYTES (1024 * 1024)
#define SS_XML_MAX_DEPTH 32

/* Opens and validates: NULL if it cannot be read or is not well formed (the problem is added).  Schema
 * violations are added to `problems` in the project's own words where the readers below would say them
 * better; a document that only fails validation is returned, so that all problems can be found.
 * `root` is the root element's name. (transfer full) */
SsXmlDocument *ss_xml_document_open (const char *path, const char *root, const char *schema, SsProblems *problems);
void ss_xml_document_free (SsXmlDocument *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsXmlDocument, ss_xml_document_free)

const char *ss_xml_document_path (const SsXmlDocument *self);
SsXmlNode *ss_xml_document_root (const SsXmlDocument *self);
/* `href` relative to the document's own folder. (transfer full) */
char *ss_xml_document_resolve (const SsXmlDocument *self, const char *href);

const char *ss_xml_node_name (const SsXmlNode *self);
gint ss_xml_node_line (const SsXmlNode *self);
/* First child element of that name, or NULL. (transfer none) */
SsXmlNode *ss_xml_node_child (const SsXmlNode *self, const char *name);
/* Next element after `previous` (NULL: the first); any name. (transfer none) */
SsXmlNode *ss_xml_node_next_child (const SsXmlNode *self, const SsXmlNode *previous);
/* Value of an attribute, or NULL. (transfer full) */
char *ss_xml_node_get (const SsXmlNode *self, const char *attribute);
/* NULL-terminated names of all attributes. (transfer full) */
char **ss_xml_node_attributes (const SsXmlNode *self);
/* Sets an attribute, creating it: for overrides. */
void ss_xml_node_set (SsXmlNode *self, const char *attribute, const char *value);
/* Finds the child element or creates it. (transfer none) */
SsXmlNode *ss_xml_node_ensure_child (SsXmlNode *self, const char *name);

/* Folder of the installed or in-tree data: looks in STEPSIM_DATA_DIR's compile-time places and next to the
 * executable's build tree. `name` like "hw/devices/h100-sxm-80gb.xml". NULL if nowhere. (transfer full) */
char *ss_data_find (const char *name);
/* Sorted base names, without ".xml", of every XML file in a data folder, the user's own
 * ($XDG_DATA_HOME/stepsim/...) included. NULL-terminated. (transfer full) */
char **ss_data_list (const char *folder);

G_END_DECLS
