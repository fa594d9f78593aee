/* SPDX-License-Identifier: MIT */
#include "memory/allocator-caching-private.h"
#include "memory/tensor.h"

gboolean
ss_caching_driver_has (const CachingAllocator *self, guint64 bytes)
{
  guint64 used_bytes = ss_size_add (self->external_bytes, self->base.stats.reserved_bytes);

  return ss_size_add (used_bytes, bytes) <= self->capacity_bytes;
}

gboolean
ss_caching_place (CachingAllocator *self, guint64 bytes, SsBlock *place)
{
  guint64 next_address = ss_size_add (self->next_address, bytes);

  if (next_address == SS_SIZE_OVERFLOW)
    return FALSE;
  *place = (SsBlock) { .address = self->next_address, .bytes = bytes,
                       .segment = self->n_segments++ };
  self->next_address = next_address;
  return TRUE;
}

void
ss_caching_change_reserved (CachingAllocator *self,
                            SsSegmentAction   action,
                            const SsBlock    *range,
                            guint             stream)
{
  SsAllocatorStats *stats = &self->base.stats;

  if (action == SS_SEGMENT_ALLOC || action == SS_SEGMENT_MAP)
    stats->reserved_bytes += range->bytes;
  else
    stats->reserved_bytes -= range->bytes;
  if (self->base.observe)
    self->base.observe (action, range->address, range->bytes, stream, self->base.observe_data);
}

static CachingBlock *
allocate_segment (CachingAllocator *self, const CachingRequest *request)
{
  SsBlock place;

  if (!ss_caching_driver_has (self, request->segment_bytes)
      || !ss_caching_place (self, request->segment_bytes, &place))
    return NULL;
  ss_caching_change_reserved (self, SS_SEGMENT_ALLOC, &place, request->stream->stream);
  return ss_caching_block_new (self, request->pool, request->stream, &place);
}

CachingBlock *
ss_caching_grow (CachingAllocator     *self,
                 const CachingRequest *request,
                 gboolean             *is_rejected)
{
  guint64 wanted_bytes = self->base.stats.reserved_bytes + request->segment_bytes;

  *is_rejected = FALSE;
  if (self->has_limit && wanted_bytes > self->limit_bytes)
    return NULL;
  if (self->conf.throws_early && wanted_bytes > self->capacity_bytes)
    {
      *is_rejected = TRUE;
      return NULL;
    }
  return self->conf.is_expandable ? ss_caching_expand (self, request)
                                  : allocate_segment (self, request);
}

/* ---- giving back ---- */

static void
release_segment (CachingAllocator *self, CachingBlock *block)
{
  g_assert (!ss_caching_block_is_split (block));
  ss_caching_block_take (block);
  ss_caching_change_reserved (self, SS_SEGMENT_FREE, &block->block, block->stream->stream);
  ss_slab_give (&self->blocks, block);
}

/* With a largest split size M, blocks from M on are whole segments.  The first that would be
 * enough goes; where there is none, the largest ones go until they are enough together. */
gboolean
ss_caching_release_oversize (CachingAllocator *self, const CachingRequest *request)
{
  const SsTree *free = &request->stream->free;
  guint64 max_split_bytes = self->conf.max_split_bytes, released_bytes = 0;
  guint64 wanted_bytes = MAX (request->size_bytes, max_split_bytes);
  SsTreeNode *node;

  if (max_split_bytes == G_MAXUINT64 || self->conf.is_expandable)
    return FALSE;
  node = ss_tree_at_least (free, wanted_bytes, 0);
  if (node)
    {
      release_segment (self, CACHING_BLOCK (node));
      return TRUE;
    }
  while (released_bytes < wanted_bytes && (node = ss_tree_below (free, G_MAXUINT64, 0))
         && node->major >= max_split_bytes)
    {
      released_bytes += node->major;
      release_segment (self, CACHING_BLOCK (node));
    }
  return released_bytes >= wanted_bytes;
}

/* ---- garbage collection ---- */

static guint64
age_of (const CachingBlock *block)
{
  return block->pool->n_searches - block->born;
}

/* Releases what is at least `threshold` old; what is released leaves `candidates`. */
static guint64
collect_older (CachingAllocator *self, GPtrArray *candidates, double threshold, guint64 *sum_ages)
{
  guint64 released_bytes = 0;
  guint n_kept = 0;

  for (guint i = 0; i < candidates->len; i++)
    {
      CachingBlock *block = candidates->pdata[i];

      if ((double) age_of (block) < threshold)
        {
          candidates->pdata[n_kept++] = block;
          continue;
        }
      released_bytes += block->block.bytes;
      *sum_ages -= age_of (block);
      release_segment (self, block);
    }
  g_ptr_array_set_size (candidates, (gint) n_kept);
  return released_bytes;
}

/* Above the threshold, passes over the whole segments of the large pool: each releases all that
 * are older than the average at its start, even when fewer would do. */
void
ss_caching_collect_garbage (CachingAllocator *self)
{
  guint64 threshold_bytes = (guint64) (self->conf.gc_threshold * (double) self->limit_bytes);
  guint64 reserved_bytes = self->base.stats.reserved_bytes;
  guint64 target_bytes, released_bytes = 0, pass_bytes = 1, sum_ages = 0;
  g_autoptr (GPtrArray) candidates = NULL;

  if (!self->collects_garbage || self->conf.is_expandable || reserved_bytes <= threshold_bytes)
    return;
  target_bytes = reserved_bytes - threshold_bytes;
  candidates = ss_caching_whole_blocks (&self->large);
  for (guint i = 0; i < candidates->len; i++)
    sum_ages += age_of (candidates->pdata[i]);
  while (released_bytes < target_bytes && pass_bytes > 0 && candidates->len > 0)
    {
      pass_bytes = collect_older (self, candidates, (double) sum_ages / candidates->len, &sum_ages);
      released_bytes += pass_bytes;
    }
}

/* ---- flush ---- */

/* A block smaller than a page holds none. */
static void
flush_pool (CachingAllocator *self, const CachingPool *pool)
{
  g_autoptr (GPtrArray) blocks = self->conf.is_expandable
                                   ? ss_caching_free_blocks (pool, pool->page_bytes)
                                   : ss_caching_whole_blocks (pool);

  for (guint i = 0; i < blocks->len; i++)
    if (self->conf.is_expandable)
      ss_caching_shrink (self, blocks->pdata[i]);
    else
      release_segment (self, blocks->pdata[i]);
}

void
ss_caching_flush (CachingAllocator *self)
{
  ss_caching_finish_all (self);
  flush_pool (self, &self->large);
  flush_pool (self, &self->small);
}
