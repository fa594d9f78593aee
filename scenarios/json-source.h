/* SPDX-License-Identifier: MIT
 *
 * SsJsonSource: a file that holds a JSON object, read within bounds, with the lines of its members.
 * It knows nothing of what they mean.  The reader that loaded it owns it.
 */
#pragma once

#include <json-glib/json-glib.h>

#include "hw/problems.h"

G_BEGIN_DECLS

/* Deepest nesting that is read. */
#define SS_JSON_MAX_DEPTH 32

typedef struct
{
  JsonParser *parser;
  JsonObject *object;            /* the parser's */
  GHashTable *lines;             /* of the members of the outermost object, by name */
} SsJsonSource;

/* NULL with the problem added: not a regular file, longer than `max_bytes`, not UTF-8, not JSON, or
 * not an object. (transfer full) */
SsJsonSource *ss_json_source_load (const char *path, guint max_bytes, SsProblems *problems);
void ss_json_source_free (SsJsonSource *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsJsonSource, ss_json_source_free)

/* The line of a member of the object, 0 if there is none. */
gint ss_json_source_line (const SsJsonSource *self, const char *name);

G_END_DECLS
