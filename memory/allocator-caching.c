/* SPDX-License-Identifier: MIT */
#include "memory/allocator-caching.h"

#include "memory/allocator-caching-private.h"
#include "memory/oom-text-private.h"
#include "memory/tensor.h"

/* The first address; none is 0, and a reader of dumps sees at once that it is a device's. */
#define BASE_ADDRESS (G_GUINT64_CONSTANT (1) << 41)

/* ---- life ---- */

static void
init_pool (CachingPool *pool, gboolean is_small, guint64 page_bytes)
{
  *pool = (CachingPool) { .is_small = is_small, .page_bytes = page_bytes,
                          .streams = g_ptr_array_new_with_free_func (g_free) };
}

static SsAllocator *
caching_create (const SsAllocatorSettings *settings, GError **error)
{
  CachingAllocator *self;
  SsAllocConf conf;

  if (!ss_alloc_conf_parse (settings->conf, &conf, error))
    return NULL;
  self = g_new0 (CachingAllocator, 1);
  self->conf = conf;
  self->capacity_bytes = settings->capacity_bytes;
  self->external_bytes = settings->external_bytes;
  self->has_limit = ss_alloc_conf_limit (&conf, settings, &self->limit_bytes);
  self->collects_garbage = self->has_limit && conf.gc_threshold > 0;
  self->empty.segment = G_MAXUINT;
  self->next_address = BASE_ADDRESS;
  self->waits = g_array_new (FALSE, FALSE, sizeof (CachingWait));
  init_pool (&self->large, FALSE, conf.large_segment_bytes);
  init_pool (&self->small, TRUE, SMALL_SEGMENT_BYTES);
  ss_slab_init (&self->blocks, sizeof (CachingBlock));
  ss_slab_init (&self->uses, sizeof (CachingUse));
  return &self->base;
}

static void
caching_destroy (SsAllocator *base)
{
  CachingAllocator *self = (CachingAllocator *) base;

  g_array_unref (self->waits);
  g_ptr_array_unref (self->large.streams);
  g_ptr_array_unref (self->small.streams);
  ss_slab_clear (&self->blocks);
  ss_slab_clear (&self->uses);
  g_free (self);
}

/* ---- a request ---- */

/* What a free block could grow by: it counts as its size when expandable ones are compared. */
static guint64
room_behind (const CachingBlock *block)
{
  return block->next && !block->next->is_mapped ? block->next->block.bytes : 0;
}

/* Spares blocks that could grow.  One that could not is itself not above any that follow. */
static SsTreeNode *
prefer_fixed (const SsTree *free, SsTreeNode *node)
{
  guint64 room_bytes;
  SsTreeNode *next;

  while ((room_bytes = room_behind (CACHING_BLOCK (node))) > 0
         && (next = ss_tree_after (free, node))
         && next->major + room_behind (CACHING_BLOCK (next)) < node->major + room_bytes)
    node = next;
  return node;
}

/* Best fit: the smallest block that is large enough, the lowest of equal ones; then what the
 * largest split size forbids. */
static CachingBlock *
search (CachingAllocator *self, const CachingRequest *request)
{
  const SsTree *free = &request->stream->free;
  guint64 max_split_bytes = self->conf.max_split_bytes;
  guint64 rounding_bytes = self->conf.max_non_split_rounding_bytes;
  SsTreeNode *node;

  if (self->collects_garbage)
    request->pool->n_searches++;
  node = ss_tree_at_least (free, request->size_bytes, 0);
  if (node == NULL)
    return NULL;
  if (self->conf.is_expandable)
    node = prefer_fixed (free, node);
  if (request->size_bytes < max_split_bytes)
    {
      if (node->major >= max_split_bytes)
        return NULL;
    }
  else if (node->major >= ss_size_add (request->size_bytes, rounding_bytes))
    return NULL;
  ss_caching_block_take (CACHING_BLOCK (node));
  return CACHING_BLOCK (node);
}

/* New memory: asked for, then asked for after giving back blocks too large to be split, then
 * after giving back all that is whole. */
static CachingBlock *
obtain (CachingAllocator *self, const CachingRequest *request, gboolean *is_rejected)
{
  CachingBlock *block;

  ss_caching_collect_garbage (self);
  block = ss_caching_grow (self, request, is_rejected);
  if (block || *is_rejected)
    return block;
  if (ss_caching_release_oversize (self, request))
    block = ss_caching_grow (self, request, is_rejected);
  if (block)
    return block;
  ss_caching_flush (self);
  self->base.stats.n_retries++;
  return ss_caching_grow (self, request, is_rejected);
}

static void
report_oom (CachingAllocator *self, const CachingRequest *request, SsOomReport *report)
{
  const SsAllocatorStats *stats = &self->base.stats;
  guint64 used_bytes = ss_size_add (self->external_bytes, stats->reserved_bytes);
  SsTreeNode *largest = request->stream ? ss_tree_below (&request->stream->free, G_MAXUINT64, 0)
                                        : NULL;

  *report = (SsOomReport) {
    .tensor_bytes = request->bytes,
    .requested_bytes = request->segment_bytes,
    .free_bytes = used_bytes < self->capacity_bytes ? self->capacity_bytes - used_bytes : 0,
    .allocated_bytes = stats->allocated_bytes,
    .reserved_bytes = stats->reserved_bytes,
    .largest_free_block_bytes = largest ? largest->major : 0,
  };
}

static SsBlock *
caching_allocate (SsAllocator *base, guint64 bytes, guint stream, SsOomReport *report)
{
  CachingAllocator *self = (CachingAllocator *) base;
  CachingRequest request = { .bytes = bytes, .segment_bytes = bytes };
  CachingBlock *block;
  gboolean is_rejected = FALSE;

  if (bytes == 0)
    return &self->empty;
  /* refused before the allocator proper is asked: no counter moves */
  if (bytes >= SS_OOM_MONSTROUS_BYTES)
    {
      report_oom (self, &request, report);
      return NULL;
    }
  ss_caching_finish_events (self);
  request.size_bytes = ss_alloc_conf_round (&self->conf, bytes);
  request.segment_bytes = ss_alloc_conf_segment (&self->conf, request.size_bytes);
  request.pool = request.size_bytes <= SMALL_MAX_BYTES ? &self->small : &self->large;
  request.stream = ss_caching_stream (request.pool, stream);
  block = search (self, &request);
  if (block == NULL)
    block = obtain (self, &request, &is_rejected);
  if (block)
    return &ss_caching_block_hand_out (self, block, &request)->block;
  report_oom (self, &request, report);
  report->is_rejected = is_rejected;
  if (is_rejected)
    base->stats.n_rejections++;
  else
    base->stats.n_ooms++;
  return NULL;
}

/* ---- the rest of the contract ---- */

static void
caching_release (SsAllocator *base, SsBlock *public_block)
{
  CachingAllocator *self = (CachingAllocator *) base;
  CachingBlock *block = (CachingBlock *) public_block;

  if (public_block == &self->empty)
    return;
  g_return_if_fail (block->is_allocated);
  block->is_allocated = FALSE;
  base->stats.allocated_bytes -= block->block.bytes;
  if (block->uses)
    ss_caching_wait (self, block);
  else
    ss_caching_block_complete (self, block);
}

static void
caching_record_stream (SsAllocator *base, SsBlock *block, guint stream)
{
  CachingAllocator *self = (CachingAllocator *) base;

  if (block != &self->empty)
    ss_caching_use (self, (CachingBlock *) block, stream);
}

static void
caching_synchronize (SsAllocator *base)
{
  CachingAllocator *self = (CachingAllocator *) base;

  self->n_synchronized = self->n_recorded;
}

static void
caching_empty_cache (SsAllocator *base)
{
  ss_caching_flush ((CachingAllocator *) base);
}

const SsAllocatorClass ss_allocator_caching = {
  .name = "caching",
  .calls_driver = TRUE,
  .description = "PyTorch's caching allocator: pools, best fit, split blocks, flush and retry",
  .create = caching_create,
  .destroy = caching_destroy,
  .allocate = caching_allocate,
  .release = caching_release,
  .record_stream = caching_record_stream,
  .synchronize = caching_synchronize,
  .empty_cache = caching_empty_cache,
};
