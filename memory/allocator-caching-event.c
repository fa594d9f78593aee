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

void
ss_caching_wait (CachingAllocator *self, CachingBlock *block)
{
  while (block->uses)
    {
      CachingUse *use = block->uses;

      block->uses = use->next;
      ss_slab_give (&self->uses, use);
      block->n_events++;
      g_ptr_array_add (self->events, block);
    }
}

/* All streams' events happen at once here, so the queues of the streams are one. */
void
ss_caching_finish_events (CachingAllocator *self)
{
  if (self->n_events_done == 0)
    return;
  for (guint i = 0; i < self->n_events_done; i++)
    {
      CachingBlock *block = self->events->pdata[i];

      if (--block->n_events == 0)
        ss_caching_block_complete (self, block);
    }
  g_ptr_array_remove_range (self->events, 0, self->n_events_done);
  self->n_events_done = 0;
}
