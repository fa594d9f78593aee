/* SPDX-License-Identifier: MIT */
#include "output/formats/pickle-writer.h"

#include <string.h>

/* MemoryViz.js spreads a chunk into the arguments of a call. */
#define CHUNK 1000

struct _SsPickleWriter
{
  GByteArray *bytes;
  GArray *counts;                /* guint: items so far of each open list */
  GHashTable *texts;             /* char * -> its number + 1 */
  guint32 n_remembered;
};

static void
put_byte (SsPickleWriter *self, guint8 byte)
{
  g_byte_array_append (self->bytes, &byte, 1);
}

static void
put_little_endian (SsPickleWriter *self, guint64 value, guint n_bytes)
{
  for (guint i = 0; i < n_bytes; i++)
    put_byte (self, (guint8) (value >> (8 * i)));
}

SsPickleWriter *
ss_pickle_writer_new (void)
{
  SsPickleWriter *self = g_new0 (SsPickleWriter, 1);

  self->bytes = g_byte_array_new ();
  self->counts = g_array_new (FALSE, FALSE, sizeof (guint));
  self->texts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  put_byte (self, 0x80);
  put_byte (self, 4);
  return self;
}

void
ss_pickle_writer_free (SsPickleWriter *self)
{
  if (self == NULL)
    return;
  if (self->bytes != NULL)
    g_byte_array_unref (self->bytes);
  g_array_unref (self->counts);
  g_hash_table_unref (self->texts);
  g_free (self);
}

void
ss_pickle_writer_begin_list (SsPickleWriter *self)
{
  guint count = 0;

  put_byte (self, ']');
  g_array_append_val (self->counts, count);
}

void
ss_pickle_writer_item (SsPickleWriter *self)
{
  guint *count = &g_array_index (self->counts, guint, self->counts->len - 1);

  if (*count > 0 && *count % CHUNK == 0)
    put_byte (self, 'e');
  if (*count % CHUNK == 0)
    put_byte (self, '(');
  *count += 1;
}

void
ss_pickle_writer_end_list (SsPickleWriter *self)
{
  if (g_array_index (self->counts, guint, self->counts->len - 1) > 0)
    put_byte (self, 'e');
  g_array_set_size (self->counts, self->counts->len - 1);
}

void
ss_pickle_writer_begin_dict (SsPickleWriter *self)
{
  put_byte (self, '}');
  put_byte (self, '(');
}

void
ss_pickle_writer_key (SsPickleWriter *self, const char *key)
{
  ss_pickle_writer_text (self, key);
}

void
ss_pickle_writer_end_dict (SsPickleWriter *self)
{
  put_byte (self, 'u');
}

/* Two's complement in as few bytes as keep the sign. */
static void
put_long (SsPickleWriter *self, gint64 value)
{
  guint n_bytes = 1;

  while (n_bytes < 8 && (value >> (8 * n_bytes - 1)) != 0 && (value >> (8 * n_bytes - 1)) != -1)
    n_bytes++;
  put_byte (self, 0x8a);
  put_byte (self, (guint8) n_bytes);
  put_little_endian (self, (guint64) value, n_bytes);
}

void
ss_pickle_writer_int (SsPickleWriter *self, gint64 value)
{
  if (value >= 0 && value <= G_MAXUINT8)
    {
      put_byte (self, 'K');
      put_little_endian (self, (guint64) value, 1);
    }
  else if (value >= 0 && value <= G_MAXUINT16)
    {
      put_byte (self, 'M');
      put_little_endian (self, (guint64) value, 2);
    }
  else if (value >= G_MININT32 && value <= G_MAXINT32)
    {
      put_byte (self, 'J');
      put_little_endian (self, (guint64) value, 4);
    }
  else
    put_long (self, value);
}

void
ss_pickle_writer_bool (SsPickleWriter *self, gboolean value)
{
  put_byte (self, value ? 0x88 : 0x89);
}

void
ss_pickle_writer_pair (SsPickleWriter *self, gint64 first, gint64 second)
{
  ss_pickle_writer_int (self, first);
  ss_pickle_writer_int (self, second);
  put_byte (self, 0x86);
}

void
ss_pickle_writer_text (SsPickleWriter *self, const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text != NULL ? text : "", -1);
  gpointer number = g_hash_table_lookup (self->texts, valid);
  gsize length = strlen (valid);

  if (number != NULL)
    {
      ss_pickle_writer_again (self, GPOINTER_TO_UINT (number) - 1);
      return;
    }
  if (length <= G_MAXUINT8)
    {
      put_byte (self, 0x8c);
      put_little_endian (self, length, 1);
    }
  else
    {
      length = MIN (length, G_MAXINT32);
      put_byte (self, 'X');
      put_little_endian (self, length, 4);
    }
  g_byte_array_append (self->bytes, (const guint8 *) valid, (guint) length);
  g_hash_table_insert (self->texts, g_steal_pointer (&valid),
                       GUINT_TO_POINTER (ss_pickle_writer_remember (self) + 1));
}

guint32
ss_pickle_writer_remember (SsPickleWriter *self)
{
  put_byte (self, 0x94);
  return self->n_remembered++;
}

void
ss_pickle_writer_again (SsPickleWriter *self, guint32 number)
{
  g_return_if_fail (number < self->n_remembered);
  if (number <= G_MAXUINT8)
    {
      put_byte (self, 'h');
      put_little_endian (self, number, 1);
    }
  else
    {
      put_byte (self, 'j');
      put_little_endian (self, number, 4);
    }
}

GBytes *
ss_pickle_writer_finish (SsPickleWriter *self)
{
  put_byte (self, '.');
  return g_byte_array_free_to_bytes (g_steal_pointer (&self->bytes));
}
