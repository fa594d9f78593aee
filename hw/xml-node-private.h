/* SPDX-License-Identifier: MIT
 *
 * What the files of hw/ that read XML share: the text of a file, and the libxml2 tree behind a
 * document.
 */
#pragma once

#include <libxml/tree.h>

#include "hw/xml-node.h"

G_BEGIN_DECLS

/* Its _private is the SsXmlDocument. (transfer none) */
xmlDoc *ss_xml_document_tree (const SsXmlDocument *self);
/* The whole of a regular file of at most SS_XML_MAX_BYTES as UTF-8 without a mark at its start, or
 * NULL with the problem added. (transfer full) */
char *ss_xml_load_text (const char *path, SsProblems *problems);

G_END_DECLS
