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
  g_ptr_array_unref (self->items);
  g_free (self);
}

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
  GArray *items = NULL;

  if (type == SS_PICKLE_LIST || type == SS_PICKLE_TUPLE)
    items = ss_pickle_items (self, id);
  return items != NULL ? items->len : 0;
}

SsPickleId
ss_pickle_item (const SsPickle *self, SsPickleId id, guint i)
{
  g_return_val_if_fail (i < ss_pickle_length (self, id), SS_PICKLE_ABSENT);
  return g_array_index (ss_pickle_items (self, id), SsPickleId, i);
}

/* Of two equal keys the later one counts, as in Python. */
SsPickleId
ss_pickle_get (const SsPickle *self, SsPickleId id, const char *key)
{
  GArray *items;

  if (ss_pickle_type (self, id) != SS_PICKLE_DICT)
    return SS_PICKLE_ABSENT;
  items = ss_pickle_items (self, id);
  for (guint i = items != NULL ? items->len : 0; i >= 2; i -= 2)
    if (ss_pickle_text_is (self, g_array_index (items, SsPickleId, i - 2), key))
      return g_array_index (items, SsPickleId, i - 1);
  return SS_PICKLE_ABSENT;
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
  return node->extra == length && memcmp (self->data + node->text_offset, text, length) == 0;
}

char *
ss_pickle_text (const SsPickle *self, SsPickleId id)
{
  const SsPickleNode *node;

  if (ss_pickle_type (self, id) != SS_PICKLE_TEXT)
    return NULL;
  node = ss_pickle_node (self, id);
  return g_utf8_make_valid ((const char *) self->data + node->text_offset, node->extra);
}
