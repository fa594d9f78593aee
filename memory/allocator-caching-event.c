/* SPDX-License-Identifier: MIT */
#include "memory/allocator-caching-private.h"

void
ss_caching_use (CachingAllocator *self, CachingBlock *block, guint stream)
{
  CachingUse *use;

  if (stream == block->stream->stream)
    return;
  for (use = block->uses; use; use = use->next)
    if (use->stream == stream)
      return;
  use = ss_slab_take (&self->uses);
  *use = (CachingUse) { .next = block->uses, .stream = stream };
  block->uses = use;
}

static guint64
record (CachingAllocator *self, guint stream)
{
  const SsAllocatorClock *clock = self->base.clock;

  return clock ? clock->record (stream, self->base.clock_data) : self->n_recorded++;
}

static gboolean
has_happened (const CachingAllocator *self, const CachingWait *wait)
{
  const SsAllocatorClock *clock = self->base.clock;

  return clock ? clock->has_happened (wait->stream, wait->event, self->base.clock_data)
               : wait->event < self->n_synchronized;
}

void
ss_caching_wait (CachingAllocator *self, CachingBlock *block)
{
  while (block->uses)
    {
      CachingUse *use = block->uses;
      CachingWait wait = { block, use->stream, record (self, use->stream) };

      block->uses = use->next;
      ss_slab_give (&self->uses, use);
      block->n_events++;
      g_array_append_val (self->waits, wait);
    }
}

static void
finish (CachingAllocator *self, gboolean all)
{
  guint n_kept = 0;

  for (guint i = 0; i < self->waits->len; i++)
    {
      CachingWait wait = g_array_index (self->waits, CachingWait, i);

      if (!all && !has_happened (self, &wait))
        g_array_index (self->waits, CachingWait, n_kept++) = wait;
      else if (--wait.block->n_events == 0)
        ss_caching_block_complete (self, wait.block);
    }
  g_array_set_size (self->waits, n_kept);
}

void
ss_caching_finish_events (CachingAllocator *self)
{
  if (self->waits->len > 0)
    finish (self, FALSE);
}

void
ss_caching_finish_all (CachingAllocator *self)
{
  finish (self, TRUE);
}
