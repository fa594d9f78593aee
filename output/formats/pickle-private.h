/* SPDX-License-Identifier: MIT
 *
 * The parts of an SsPickle, for the file that reads it and the one that answers.
 */
#pragma once

#include "output/formats/pickle-reader.h"

G_BEGIN_DECLS

#define SS_PICKLE_NO_ITEMS G_MAXUINT32

typedef struct
{
  union
  {
    gint64 integer;
    double real;
    gsize text_offset;
  };
  guint32 extra;                 /* bytes of a text; index of a container's items, if it has any */
  guint8 type;                   /* SsPickleType */
  guint8 depth;                  /* of what it holds */
  gsize offset;
} SsPickleNode;

struct _SsPickle
{
  GBytes *bytes;
  const guint8 *data;
  gsize size;
  GArray *nodes;                 /* SsPickleNode */
  GPtrArray *items;              /* GArray of SsPickleId; of a dict key, value, key, value */
  SsPickleId root;
};

static inline SsPickleNode *
ss_pickle_node (const SsPickle *self, SsPickleId id)
{
  return &g_array_index (self->nodes, SsPickleNode, id);
}

/* NULL: it is empty. */
static inline GArray *
ss_pickle_items (const SsPickle *self, SsPickleId id)
{
  guint32 index = ss_pickle_node (self, id)->extra;

  return index != SS_PICKLE_NO_ITEMS ? g_ptr_array_index (self->items, index) : NULL;
}

G_END_DECLS
