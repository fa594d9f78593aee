/* SPDX-License-Identifier: MIT */
#include "memory/allocator-caching-private.h"
#include "memory/tensor.h"

/* PyTorch reserves 9/8 of the device's capacity for a range.  Where the capacity is beyond any
 * device, a range is kept small enough for many of them to fit into 63 bits. */
#define MAX_RANGE_BYTES (G_GUINT64_CONSTANT (1) << 46)

static guint64
round_up (guint64 bytes, guint64 page_bytes)
{
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

static guint64
range_bytes (const CachingAllocator *self, const CachingRequest *request)
{
  guint64 capacity_bytes = self->capacity_bytes;
  guint64 bytes = capacity_bytes < MAX_RANGE_BYTES ? capacity_bytes + capacity_bytes / 8
                                                   : MAX (MAX_RANGE_BYTES, request->size_bytes);

  return round_up (MAX (bytes, 1), request->pool->page_bytes);
}

static CachingBlock *
new_range (CachingAllocator *self, const CachingRequest *request)
{
  SsBlock place;
  CachingBlock *range;

  if (!ss_caching_place (self, range_bytes (self, request), &place))
    return NULL;
  range = ss_caching_block_new (self, request->pool, request->stream, &place);
  range->is_mapped = FALSE;
  ss_caching_block_put (range);
  return range;
}

static gboolean
has_room (const CachingBlock *block, guint64 size_bytes)
{
  guint64 run_bytes = 0;

  for (; run_bytes < size_bytes && block && ss_caching_block_is_free (block); block = block->next)
    run_bytes += block->block.bytes;
  return run_bytes >= size_bytes;
}

/* The lowest unmapped block, or the free one just before it, from which enough can be had in one
 * run. */
static CachingBlock *
find_room (CachingAllocator *self, const CachingRequest *request)
{
  const SsTree *unmapped = &request->stream->unmapped;

  for (SsTreeNode *node = ss_tree_at_least (unmapped, 0, 0); node;
       node = ss_tree_after (unmapped, node))
    {
      CachingBlock *block = CACHING_BLOCK (node);

      if (block->prev && ss_caching_block_is_free (block->prev))
        block = block->prev;
      if (has_room (block, request->size_bytes))
        return block;
    }
  return new_range (self, request);
}

/* Cuts the block after `bytes`; both parts are unmapped, and the first is in no tree. */
static void
cut_unmapped (CachingAllocator *self, CachingBlock *block, guint64 bytes)
{
  SsBlock behind = { .address = block->block.address + bytes,
                     .bytes = block->block.bytes - bytes,
                     .offset_bytes = block->block.offset_bytes + bytes,
                     .segment = block->block.segment };
  CachingBlock *rest = ss_caching_block_new (self, block->pool, block->stream, &behind);

  rest->is_mapped = FALSE;
  block->block.bytes = bytes;
  ss_caching_block_link (rest, block, block->next);
  ss_caching_block_put (rest);
}

/* Maps the first `bytes` of an unmapped block, in whole pages, and joins them with what is free
 * beside. */
static gboolean
map (CachingAllocator *self, CachingBlock *block, guint64 bytes)
{
  guint64 mapped_bytes = round_up (bytes, block->pool->page_bytes);
  SsBlock mapped = block->block;

  if (!ss_caching_driver_has (self, mapped_bytes))
    return FALSE;
  ss_caching_block_take (block);
  if (mapped_bytes < block->block.bytes)
    cut_unmapped (self, block, mapped_bytes);
  block->is_mapped = TRUE;
  ss_caching_block_merge (self, block);
  ss_caching_block_put (block);
  mapped.bytes = mapped_bytes;
  ss_caching_change_reserved (self, SS_SEGMENT_MAP, &mapped, block->stream->stream);
  return TRUE;
}

/* What an earlier turn has mapped stays mapped when a later one fails. */
CachingBlock *
ss_caching_expand (CachingAllocator *self, const CachingRequest *request)
{
  CachingBlock *block = find_room (self, request);

  if (block == NULL
      || (!block->is_mapped
          && !map (self, block, MIN (block->block.bytes, request->size_bytes))))
    return NULL;
  while (block->block.bytes < request->size_bytes)
    {
      CachingBlock *next = block->next;
      guint64 rest_bytes = request->size_bytes - block->block.bytes;

      if (!map (self, next, MIN (rest_bytes, next->block.bytes)))
        return NULL;
      block = next;
    }
  ss_caching_block_take (block);
  return block;
}

/* A free part of a block that is being taken apart. */
static void
put_part (CachingAllocator *self,
          CachingBlock     *block,
          guint64           offset_bytes,
          guint64           bytes,
          CachingBlock     *prev,
          CachingBlock     *next)
{
  SsBlock part = { .address = block->block.address + (offset_bytes - block->block.offset_bytes),
                   .bytes = bytes,
                   .offset_bytes = offset_bytes,
                   .segment = block->block.segment };
  CachingBlock *new = ss_caching_block_new (self, block->pool, block->stream, &part);

  ss_caching_block_link (new, prev, next);
  ss_caching_block_put (new);
}

void
ss_caching_shrink (CachingAllocator *self, CachingBlock *block)
{
  guint64 page_bytes = block->pool->page_bytes;
  guint64 start_bytes = block->block.offset_bytes, end_bytes = start_bytes + block->block.bytes;
  guint64 first_bytes = round_up (start_bytes, page_bytes);
  guint64 last_bytes = end_bytes / page_bytes * page_bytes;

  if (first_bytes >= last_bytes)
    return;
  ss_caching_block_take (block);
  if (first_bytes > start_bytes)
    put_part (self, block, start_bytes, first_bytes - start_bytes, block->prev, block);
  if (end_bytes > last_bytes)
    put_part (self, block, last_bytes, end_bytes - last_bytes, block, block->next);
  block->block.address += first_bytes - start_bytes;
  block->block.offset_bytes = first_bytes;
  block->block.bytes = last_bytes - first_bytes;
  block->is_mapped = FALSE;
  ss_caching_change_reserved (self, SS_SEGMENT_UNMAP, &block->block, block->stream->stream);
  ss_caching_block_merge (self, block);
  if (ss_caching_block_is_split (block))
    ss_caching_block_put (block);
  else
    ss_slab_give (&self->blocks, block);
}
