/* SPDX-License-Identifier: MIT */
#include "memory/slab.h"

#define CHUNK_BYTES 32768

void
ss_slab_init (SsSlab *self, gsize record_bytes)
{
  g_assert (record_bytes >= sizeof (gpointer));
  *self = (SsSlab) { .record_bytes = record_bytes,
                     .chunks = g_ptr_array_new_with_free_func (g_free) };
}

void
ss_slab_clear (SsSlab *self)
{
  g_ptr_array_unref (self->chunks);
  *self = (SsSlab) { 0 };
}

/* The lowest record is taken first: neighbours in time are neighbours in the cache. */
void
ss_slab_grow (SsSlab *self)
{
  gsize n = MAX (CHUNK_BYTES / self->record_bytes, 1);
  char *chunk = g_malloc_n (n, self->record_bytes);

  g_ptr_array_add (self->chunks, chunk);
  for (gsize i = n; i-- > 0;)
    ss_slab_give (self, chunk + i * self->record_bytes);
}
