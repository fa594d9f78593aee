/* SPDX-License-Identifier: MIT
 *
 * SsSlab: equal records, taken and given back in any order, all freed at once with their owner.
 * It knows the size of a record and nothing else; records do not move.  The address sanitizer is
 * told which are free, so that a use after giving back is as clear as one after free ().
 */
#pragma once

#include <glib.h>
#include <sanitizer/asan_interface.h>

G_BEGIN_DECLS

typedef struct
{
  gsize record_bytes;
  gpointer free;                 /* each free record begins with a pointer to the next */
  GPtrArray *chunks;
} SsSlab;

void ss_slab_init (SsSlab *self, gsize record_bytes);
void ss_slab_clear (SsSlab *self);
/* Makes more free records. */
void ss_slab_grow (SsSlab *self);

/* An uninitialised record. (transfer none) */
static inline gpointer
ss_slab_take (SsSlab *self)
{
  gpointer record;

  if (self->free == NULL)
    ss_slab_grow (self);
  record = self->free;
  ASAN_UNPOISON_MEMORY_REGION (record, self->record_bytes);
  self->free = *(gpointer *) record;
  return record;
}

static inline void
ss_slab_give (SsSlab *self, gpointer record)
{
  *(gpointer *) record = self->free;
  self->free = record;
  ASAN_POISON_MEMORY_REGION (record, self->record_bytes);
}

G_END_DECLS
