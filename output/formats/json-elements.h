/* SPDX-License-Identifier: MIT
 *
 * The elements of one long array in a JSON text, one at a time, so that a file of hundreds of
 * megabytes costs no more than its own size: json-glib, which takes some ten times that, sees one
 * element after another.  It knows nothing of what is in them.
 */
#pragma once

#include <json-glib/json-glib.h>

#include "output/output.h"

G_BEGIN_DECLS

/* One element, or one member of the outermost object, is at most this long. */
#define SS_JSON_MAX_ELEMENT_BYTES (4U << 20)
#define SS_JSON_MAX_ELEMENTS 4000000U
#define SS_JSON_MAX_DEPTH_OF_TRACE 64U

typedef void (*SsJsonElementFunc) (JsonNode *element, gpointer user_data);

/* Calls `each` for every element of the outermost array, or of the outermost object's array `name`,
 * in order; each is an object.  *is_there (out): there is such an array.  All of the text must be
 * JSON. SS_OUTPUT_ERROR_INPUT: "line N: no JSON: ...", "byte N: nested ...". */
gboolean ss_json_elements (const char *data, gsize size, const char *name, SsJsonElementFunc each,
                           gpointer user_data, gboolean *is_there, GError **error);

G_END_DECLS
