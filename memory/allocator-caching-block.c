/* SPDX-License-Identifier: MIT */
#include "memory/allocator-caching-private.h"

static CachingStream *
find_or_add_stream (CachingPool *pool, guint stream)
{
  guint low = 0, high = pool->streams->len;
  CachingStream *found;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;

      found = pool->streams->pdata[middle];
      if (found->stream == stream)
        return found;
      if (found->stream < stream)
        low = middle + 1;
      else
        high = middle;
    }
  found = g_new0 (CachingStream, 1);
  found->stream = stream;
  g_ptr_array_insert (pool->streams, (gint) low, found);
  return found;
}

CachingStream *
ss_caching_stream (CachingPool *pool, guint stream)
{
  if (pool->last == NULL || pool->last->stream != stream)
    pool->last = find_or_add_stream (pool, stream);
  return pool->last;
}

CachingBlock *
ss_caching_block_new (CachingAllocator *self,
                      CachingPool      *pool,
                      CachingStream    *stream,
                      const SsBlock    *block)
{
  CachingBlock *new = ss_slab_take (&self->blocks);

  *new = (CachingBlock) { .block = *block, .pool = pool, .stream = stream, .is_mapped = TRUE };
  return new;
}

void
ss_caching_block_link (CachingBlock *part, CachingBlock *prev, CachingBlock *next)
{
  part->prev = prev;
  part->next = next;
  if (prev)
    prev->next = part;
  if (next)
    next->prev = part;
}

gboolean
ss_caching_block_is_split (const CachingBlock *block)
{
  return block->prev != NULL || block->next != NULL;
}

/* Whether a free block is whole does not change as long as it is free: it has a neighbour in
 * use, or none. */
static void
put_whole (CachingBlock *block)
{
  block->prev_whole = NULL;
  block->next_whole = block->pool->whole;
  if (block->next_whole)
    block->next_whole->prev_whole = block;
  block->pool->whole = block;
}

static void
take_whole (CachingBlock *block)
{
  if (block->next_whole)
    block->next_whole->prev_whole = block->prev_whole;
  if (block->prev_whole)
    block->prev_whole->next_whole = block->next_whole;
  else
    block->pool->whole = block->next_whole;
}

void
ss_caching_block_put (CachingBlock *block)
{
  block->born = block->pool->n_searches;
  if (!block->is_mapped)
    {
      ss_tree_insert (&block->stream->unmapped, &block->node, 0, block->block.address);
      return;
    }
  ss_tree_insert (&block->stream->free, &block->node, block->block.bytes, block->block.address);
  if (!ss_caching_block_is_split (block))
    put_whole (block);
}

void
ss_caching_block_take (CachingBlock *block)
{
  ss_tree_remove (block->is_mapped ? &block->stream->free : &block->stream->unmapped, &block->node);
  if (block->is_mapped && !ss_caching_block_is_split (block))
    take_whole (block);
}

gboolean
ss_caching_block_is_free (const CachingBlock *block)
{
  return !block->is_allocated && block->n_events == 0;
}

/* Free blocks that a flush could not return; of expandable ranges it can. */
static void
count_inactive (CachingAllocator *self, guint64 more_bytes, guint64 less_bytes)
{
  if (!self->conf.is_expandable)
    self->base.stats.inactive_split_bytes += more_bytes - less_bytes;
}

static gboolean
can_merge (const CachingBlock *block, const CachingBlock *neighbour)
{
  return neighbour != NULL && ss_caching_block_is_free (neighbour)
         && neighbour->is_mapped == block->is_mapped;
}

static void
swallow (CachingAllocator *self, CachingBlock *block, CachingBlock *neighbour)
{
  ss_caching_block_take (neighbour);
  count_inactive (self, 0, neighbour->block.bytes);
  if (neighbour == block->prev)
    {
      block->block.address = neighbour->block.address;
      block->block.offset_bytes = neighbour->block.offset_bytes;
      ss_caching_block_link (block, neighbour->prev, block->next);
    }
  else
    ss_caching_block_link (block, block->prev, neighbour->next);
  block->block.bytes += neighbour->block.bytes;
  ss_slab_give (&self->blocks, neighbour);
}

void
ss_caching_block_merge (CachingAllocator *self, CachingBlock *block)
{
  if (can_merge (block, block->prev))
    swallow (self, block, block->prev);
  if (can_merge (block, block->next))
    swallow (self, block, block->next);
}

static gboolean
should_split (const CachingAllocator *self, const CachingBlock *block, guint64 size_bytes)
{
  guint64 rest_bytes = block->block.bytes - size_bytes;

  if (block->pool->is_small || self->conf.is_expandable)
    return rest_bytes >= MIN_BLOCK_BYTES;
  return size_bytes < self->conf.max_split_bytes && rest_bytes > SMALL_MAX_BYTES;
}

/* The block keeps the front, so that its address stays; the rest is a new block behind it. */
static void
split (CachingAllocator *self, CachingBlock *block, guint64 size_bytes)
{
  SsBlock behind = { .address = block->block.address + size_bytes,
                     .bytes = block->block.bytes - size_bytes,
                     .offset_bytes = block->block.offset_bytes + size_bytes,
                     .segment = block->block.segment };
  CachingBlock *rest = ss_caching_block_new (self, block->pool, block->stream, &behind);

  block->block.bytes = size_bytes;
  ss_caching_block_link (rest, block, block->next);
  ss_caching_block_put (rest);
  count_inactive (self, behind.bytes, 0);
}

CachingBlock *
ss_caching_block_hand_out (CachingAllocator     *self,
                           CachingBlock         *block,
                           const CachingRequest *request)
{
  SsAllocatorStats *stats = &self->base.stats;

  if (ss_caching_block_is_split (block))
    count_inactive (self, 0, block->block.bytes);
  if (should_split (self, block, request->size_bytes))
    split (self, block, request->size_bytes);
  block->is_allocated = TRUE;
  block->block.requested_bytes = request->bytes;
  stats->allocated_bytes += block->block.bytes;
  stats->active_bytes += block->block.bytes;
  stats->requested_bytes += request->bytes;
  return block;
}

void
ss_caching_block_complete (CachingAllocator *self, CachingBlock *block)
{
  SsAllocatorStats *stats = &self->base.stats;

  stats->active_bytes -= block->block.bytes;
  stats->requested_bytes -= block->block.requested_bytes;
  ss_caching_block_merge (self, block);
  ss_caching_block_put (block);
  if (ss_caching_block_is_split (block))
    count_inactive (self, block->block.bytes, 0);
}

GPtrArray *
ss_caching_free_blocks (const CachingPool *pool, guint64 min_bytes)
{
  GPtrArray *blocks = g_ptr_array_new ();

  for (guint i = 0; i < pool->streams->len; i++)
    {
      const CachingStream *stream = pool->streams->pdata[i];

      for (SsTreeNode *node = ss_tree_at_least (&stream->free, min_bytes, 0); node;
           node = ss_tree_after (&stream->free, node))
        g_ptr_array_add (blocks, CACHING_BLOCK (node));
    }
  return blocks;
}

static gint
compare_blocks (gconstpointer a, gconstpointer b)
{
  const CachingBlock *x = *(CachingBlock *const *) a, *y = *(CachingBlock *const *) b;

  if (x->stream != y->stream)
    return x->stream->stream < y->stream->stream ? -1 : 1;
  if (x->block.bytes != y->block.bytes)
    return x->block.bytes < y->block.bytes ? -1 : 1;
  return x->block.address < y->block.address ? -1 : 1;
}

GPtrArray *
ss_caching_whole_blocks (const CachingPool *pool)
{
  GPtrArray *blocks = g_ptr_array_new ();

  for (CachingBlock *block = pool->whole; block; block = block->next_whole)
    g_ptr_array_add (blocks, block);
  g_ptr_array_sort (blocks, compare_blocks);
  return blocks;
}
