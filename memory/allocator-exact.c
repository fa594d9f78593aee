/* SPDX-License-Identifier: MIT */
#include "memory/allocator-exact.h"

#include "memory/alloc-conf.h"
#include "memory/slab.h"
#include "memory/tensor.h"

/* Where the first address lies matters to nobody; that none is 0 does. */
#define BASE_ADDRESS (G_GUINT64_CONSTANT (1) << 41)

typedef struct
{
  SsBlock block;
  guint stream;
} ExactBlock;

typedef struct
{
  SsAllocator base;
  SsBlock empty;                 /* what every request of 0 bytes gets */
  SsSlab blocks;                 /* ExactBlock */
  guint64 capacity_bytes, external_bytes, limit_bytes;
  guint64 next_address;          /* never used again, so the order of addresses is that of birth */
  guint n_segments;
} ExactAllocator;

static SsAllocator *
exact_create (const SsAllocatorSettings *settings, GError **error)
{
  ExactAllocator *self;
  SsAllocConf conf;

  if (!ss_alloc_conf_parse (settings->conf, &conf, error))
    return NULL;
  self = g_new0 (ExactAllocator, 1);
  self->capacity_bytes = settings->capacity_bytes;
  self->external_bytes = settings->external_bytes;
  if (!ss_alloc_conf_limit (&conf, settings, &self->limit_bytes))
    self->limit_bytes = G_MAXINT64;
  self->empty.segment = G_MAXUINT;
  self->next_address = BASE_ADDRESS;
  ss_slab_init (&self->blocks, sizeof (ExactBlock));
  return &self->base;
}

static void
exact_destroy (SsAllocator *base)
{
  ExactAllocator *self = (ExactAllocator *) base;

  ss_slab_clear (&self->blocks);
  g_free (self);
}

static void
change_reserved (ExactAllocator *self, const ExactBlock *block, SsSegmentAction action)
{
  SsAllocatorStats *stats = &self->base.stats;
  guint64 bytes = action == SS_SEGMENT_ALLOC ? stats->allocated_bytes + block->block.bytes
                                             : stats->allocated_bytes - block->block.bytes;

  stats->allocated_bytes = stats->active_bytes = stats->requested_bytes = bytes;
  stats->reserved_bytes = bytes;
  if (self->base.observe)
    self->base.observe (action, block->block.address, block->block.bytes, block->stream,
                        self->base.observe_data);
}

static void
report_oom (ExactAllocator *self, guint64 bytes, SsOomReport *report)
{
  SsAllocatorStats *stats = &self->base.stats;
  guint64 used_bytes = ss_size_add (self->external_bytes, stats->reserved_bytes);

  stats->n_ooms++;
  *report = (SsOomReport) {
    .tensor_bytes = bytes,
    .requested_bytes = bytes,
    .free_bytes = used_bytes < self->capacity_bytes ? self->capacity_bytes - used_bytes : 0,
    .allocated_bytes = stats->allocated_bytes,
    .reserved_bytes = stats->reserved_bytes,
  };
}

static SsBlock *
exact_allocate (SsAllocator *base, guint64 bytes, guint stream, SsOomReport *report)
{
  ExactAllocator *self = (ExactAllocator *) base;
  guint64 reserved_bytes = ss_size_add (base->stats.reserved_bytes, bytes);
  ExactBlock *block;

  if (bytes == 0)
    return &self->empty;
  /* an overflow is above every capacity, the unlimited one too */
  if (ss_size_add (self->external_bytes, reserved_bytes) > self->capacity_bytes
      || reserved_bytes > self->limit_bytes)
    {
      report_oom (self, bytes, report);
      return NULL;
    }
  block = ss_slab_take (&self->blocks);
  *block = (ExactBlock) { .block = { .address = self->next_address, .bytes = bytes,
                                     .requested_bytes = bytes, .segment = self->n_segments++ },
                          .stream = stream };
  self->next_address += bytes;
  change_reserved (self, block, SS_SEGMENT_ALLOC);
  return &block->block;
}

static void
exact_release (SsAllocator *base, SsBlock *block)
{
  ExactAllocator *self = (ExactAllocator *) base;

  if (block == &self->empty)
    return;
  change_reserved (self, (const ExactBlock *) block, SS_SEGMENT_FREE);
  ss_slab_give (&self->blocks, block);
}

/* A release is complete at once, whoever else reads the block: a lower bound waits for nobody. */
static void
exact_record_stream (G_GNUC_UNUSED SsAllocator *base,
                     G_GNUC_UNUSED SsBlock     *block,
                     G_GNUC_UNUSED guint        stream)
{
}

static void
exact_synchronize (G_GNUC_UNUSED SsAllocator *base)
{
}

static void
exact_empty_cache (G_GNUC_UNUSED SsAllocator *base)
{
}

const SsAllocatorClass ss_allocator_exact = {
  .name = "exact",
  .description = "every tensor costs its bytes: no rounding, no cache, a lower bound",
  .create = exact_create,
  .destroy = exact_destroy,
  .allocate = exact_allocate,
  .release = exact_release,
  .record_stream = exact_record_stream,
  .synchronize = exact_synchronize,
  .empty_cache = exact_empty_cache,
};
