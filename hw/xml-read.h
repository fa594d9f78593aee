/* SPDX-License-Identifier: MIT
 *
 * Typed reads of an element's attributes: the value, or a problem "file:line: attribute: what".
 * It knows units, no models and no devices.  The caller owns what is returned.
 */
#pragma once

#include "hw/xml-node.h"

G_BEGIN_DECLS

/* Each returns TRUE and sets the value if the attribute is there and good. If it is missing the
 * value stays as it is (the default), FALSE; missing ones are the schema's to refuse. If it is bad
 * the problem is added, FALSE. */
gboolean ss_xml_read_bytes (const SsXmlNode *node,
                            const char *attribute,
                            guint64 *bytes,
                            SsProblems *problems);
gboolean ss_xml_read_bytes_per_s (const SsXmlNode *node,
                                  const char *attribute,
                                  double *bytes_per_s,
                                  SsProblems *problems);
gboolean ss_xml_read_flop_per_s (const SsXmlNode *node,
                                 const char *attribute,
                                 double *flop_per_s,
                                 SsProblems *problems);
gboolean ss_xml_read_seconds (const SsXmlNode *node,
                              const char *attribute,
                              double *seconds,
                              SsProblems *problems);
gboolean ss_xml_read_hertz (const SsXmlNode *node,
                            const char *attribute,
                            double *hertz,
                            SsProblems *problems);
gboolean ss_xml_read_number (const SsXmlNode *node,
                             const char *attribute,
                             double *number,
                             SsProblems *problems);
gboolean ss_xml_read_fraction (const SsXmlNode *node,
                               const char *attribute,
                               double *fraction,
                               SsProblems *problems);
gboolean ss_xml_read_count (const SsXmlNode *node,
                            const char *attribute,
                            gint64 min,
                            gint64 max,
                            gint64 *count,
                            SsProblems *problems);
/* "yes" or "no". */
gboolean ss_xml_read_boolean (const SsXmlNode *node,
                              const char *attribute,
                              gboolean *value,
                              SsProblems *problems);
/* One of `known` (NULL-terminated); *index is its place. */
gboolean ss_xml_read_choice (const SsXmlNode *node,
                             const char *attribute,
                             const char *const *known,
                             guint *index,
                             SsProblems *problems);

G_END_DECLS
