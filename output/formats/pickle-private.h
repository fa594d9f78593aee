/* SPDX-License-Identifier: MIT
 *
 * The parts of an SsPickle, for the file that reads it and the one that answers.
 */
#pragma once

#include "output/formats/pickle-reader.h"

G_BEGIN_DECLS

/* 24 bytes: a file of a byte for each object must not cost much more than its size. */
typedef struct
{
  union
  {
    gint64 integer;
    double real;
    struct
    {
      guint32 first;             /* of a container's items */
      guint32 n_items;           /* of a text: its bytes */
    };
  };
  guint32 text_offset;
  guint32 offset;
  guint8 type;                   /* SsPickleType */
  guint8 depth;                  /* of what it holds */
  guint8 is_taken;
} SsPickleNode;

/* Objects that every pickle has, and one of each. */
enum
{
  SS_PICKLE_ID_NONE,
  SS_PICKLE_ID_TRUE,
  SS_PICKLE_ID_FALSE
};

/* Objects that one container took at once. */
typedef struct
{
  SsPickleId container;
  guint32 n;
} SsPicklePiece;

struct _SsPickle
{
  GBytes *bytes;
  const guint8 *data;
  gsize size;
  GArray *nodes;                 /* SsPickleNode */
  GArray *items;                 /* SsPickleId, of all containers; of a dict key, value, ... */
  SsPickleId root;
};

static inline SsPickleNode *
ss_pickle_node (const SsPickle *self, SsPickleId id)
{
  return &g_array_index (self->nodes, SsPickleNode, id);
}

static inline const SsPickleId *
ss_pickle_items (const SsPickle *self, SsPickleId id)
{
  return &g_array_index (self->items, SsPickleId, ss_pickle_node (self, id)->first);
}

/* (transfer full) */
SsPickle *ss_pickle_new (GBytes *bytes);
/* Puts the pieces of each container beside one another: `filled` has what is in all of them, one
 * after another. */
void ss_pickle_place_items (SsPickle *self, const GArray *filled, const GArray *pieces);

G_END_DECLS
