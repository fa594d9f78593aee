/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "output/formats/pickle-private.h"

void
ss_pickle_free (SsPickle *self)
{
  if (self == NULL)
    return;
  g_bytes_unref (self->bytes);
  g_array_unref (self->nodes);
  g_array_unref (self->items);
  g_free (self);
}

/* ---- made by the reader ---- */

SsPickle *
ss_pickle_new (GBytes *bytes)
{
  static const SsPickleNode constants[] = {
    [SS_PICKLE_ID_NONE] = { .type = SS_PICKLE_NONE },
    [SS_PICKLE_ID_TRUE] = { .type = SS_PICKLE_BOOL, .integer = 1 },
    [SS_PICKLE_ID_FALSE] = { .type = SS_PICKLE_BOOL, .integer = 0 },
  };
  SsPickle *self = g_new0 (SsPickle, 1);

  self->bytes = g_bytes_ref (bytes);
  self->data = g_bytes_get_data (bytes, &self->size);
  self->nodes = g_array_new (FALSE, FALSE, sizeof (SsPickleNode));
  self->items = g_array_new (FALSE, FALSE, sizeof (SsPickleId));
  g_array_append_vals (self->nodes, constants, G_N_ELEMENTS (constants));
  return self;
}

static gboolean
is_container (const SsPickleNode *node)
{
  return node->type == SS_PICKLE_LIST || node->type == SS_PICKLE_TUPLE
         || node->type == SS_PICKLE_DICT;
}

void
ss_pickle_place_items (SsPickle *self, const GArray *filled, const GArray *pieces)
{
  const SsPickleId *from = (const SsPickleId *) (gconstpointer) filled->data;
  guint32 first = 0;

  for (SsPickleId id = 0; id < self->nodes->len; id++)
    {
      SsPickleNode *node = ss_pickle_node (self, id);

      if (!is_container (node))
        continue;
      node->first = first;
      first += node->n_items;
      node->n_items = 0;
    }
  g_array_set_size (self->items, first);
  for (guint i = 0; i < pieces->len; i++)
    {
      const SsPicklePiece *piece = &g_array_index (pieces, SsPicklePiece, i);
      SsPickleNode *node = ss_pickle_node (self, piece->container);

      memcpy (&g_array_index (self->items, SsPickleId, node->first + node->n_items), from,
              piece->n * sizeof *from);
      node->n_items += piece->n;
      from += piece->n;
    }
}

/* ---- asked by who reads ---- */

SsPickleId
ss_pickle_root (const SsPickle *self)
{
  return self->root;
}

SsPickleType
ss_pickle_type (const SsPickle *self, SsPickleId id)
{
  return id < self->nodes->len ? (SsPickleType) ss_pickle_node (self, id)->type : SS_PICKLE_NONE;
}

gsize
ss_pickle_offset (const SsPickle *self, SsPickleId id)
{
  return id < self->nodes->len ? ss_pickle_node (self, id)->offset : 0;
}

guint
ss_pickle_length (const SsPickle *self, SsPickleId id)
{
  SsPickleType type = ss_pickle_type (self, id);

  return type == SS_PICKLE_LIST || type == SS_PICKLE_TUPLE ? ss_pickle_node (self, id)->n_items : 0;
}

SsPickleId
ss_pickle_item (const SsPickle *self, SsPickleId id, guint i)
{
  g_return_val_if_fail (i < ss_pickle_length (self, id), SS_PICKLE_ABSENT);
  return ss_pickle_items (self, id)[i];
}

/* Of two equal keys the later one counts, as in Python. */
SsPickleId
ss_pickle_get (const SsPickle *self, SsPickleId id, const char *key)
{
  const SsPickleId *items;

  if (ss_pickle_type (self, id) != SS_PICKLE_DICT)
    return SS_PICKLE_ABSENT;
  items = ss_pickle_items (self, id);
  for (guint i = ss_pickle_node (self, id)->n_items; i >= 2; i -= 2)
    if (ss_pickle_text_is (self, items[i - 2], key))
      return items[i - 1];
  return SS_PICKLE_ABSENT;
}

gboolean
ss_pickle_take (SsPickle *self, SsPickleId id)
{
  SsPickleNode *node;

  if (id >= self->nodes->len)
    return TRUE;
  node = ss_pickle_node (self, id);
  if (node->is_taken)
    return FALSE;
  node->is_taken = TRUE;
  return TRUE;
}

gboolean
ss_pickle_int (const SsPickle *self, SsPickleId id, gint64 *value)
{
  if (ss_pickle_type (self, id) != SS_PICKLE_INT)
    return FALSE;
  *value = ss_pickle_node (self, id)->integer;
  return TRUE;
}

gboolean
ss_pickle_is_true (const SsPickle *self, SsPickleId id)
{
  return ss_pickle_type (self, id) == SS_PICKLE_BOOL && ss_pickle_node (self, id)->integer != 0;
}

gboolean
ss_pickle_text_is (const SsPickle *self, SsPickleId id, const char *text)
{
  const SsPickleNode *node;
  gsize length = strlen (text);

  if (ss_pickle_type (self, id) != SS_PICKLE_TEXT)
    return FALSE;
  node = ss_pickle_node (self, id);
  return node->n_items == length && memcmp (self->data + node->text_offset, text, length) == 0;
}

guint
ss_pickle_text_bytes (const SsPickle *self, SsPickleId id)
{
  return ss_pickle_type (self, id) == SS_PICKLE_TEXT ? ss_pickle_node (self, id)->n_items : 0;
}

char *
ss_pickle_text (const SsPickle *self, SsPickleId id)
{
  const SsPickleNode *node;

  if (ss_pickle_type (self, id) != SS_PICKLE_TEXT)
    return NULL;
  node = ss_pickle_node (self, id);
  return g_utf8_make_valid ((const char *) self->data + node->text_offset, node->n_items);
}
