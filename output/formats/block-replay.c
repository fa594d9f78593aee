/* SPDX-License-Identifier: MIT */
#include "output/formats/block-replay.h"

#include "output/formats/address-map.h"

/* c10/cuda/CUDACachingAllocator: kMinBlockSize, kSmallSize, kSmallBuffer; should_split. */
#define ROUNDING_BYTES 512
#define SMALL_BYTES 1048576
#define SMALL_SEGMENT_BYTES 2097152

/* Free space is joined within its group: a segment, or the pages of one pool.  The lowest bit says
 * that any rest worth a block is split off, as in the small pool and in pages. */
#define SPLITS_ALWAYS G_GUINT64_CONSTANT (1)
#define GROUP(n) ((guint64) (n) << 1)
enum { SMALL_PAGES, LARGE_PAGES, FIRST_SEGMENT };

/* Tags of blocks in use: what a free makes of them. */
enum { TAG_COUNTS, TAG_PENDING };

struct _SsBlockReplay
{
  SsAddressMap *free;
  SsAddressMap *blocks;          /* in the group of the space they came from */
  guint64 max_split_bytes;
  guint64 n_segments;
  guint64 allocated_bytes, reserved_bytes;
};

SsBlockReplay *
ss_block_replay_new (guint64 max_split_bytes)
{
  SsBlockReplay *self = g_new0 (SsBlockReplay, 1);

  self->free = ss_address_map_new ();
  self->blocks = ss_address_map_new ();
  self->max_split_bytes = max_split_bytes;
  return self;
}

void
ss_block_replay_free (SsBlockReplay *self)
{
  if (self == NULL)
    return;
  ss_address_map_free (self->free);
  ss_address_map_free (self->blocks);
  g_free (self);
}

void
ss_block_replay_add_segment (SsBlockReplay *self,
                             guint64        address,
                             guint64        bytes,
                             gboolean       is_expandable)
{
  gboolean is_small = bytes <= SMALL_SEGMENT_BYTES;
  SsAddressRange range = { .address = address, .bytes = bytes };

  if (is_expandable)
    range.group = GROUP (is_small ? SMALL_PAGES : LARGE_PAGES) | SPLITS_ALWAYS;
  else
    range.group = GROUP (FIRST_SEGMENT + self->n_segments++) | (is_small ? SPLITS_ALWAYS : 0);
  ss_address_map_join (self->free, &range);
  self->reserved_bytes += bytes;
}

void
ss_block_replay_drop_segment (SsBlockReplay *self, guint64 address, guint64 bytes)
{
  ss_address_map_cut (self->free, address, bytes);
  self->reserved_bytes -= MIN (bytes, self->reserved_bytes);
}

/* What is free from the address on; FALSE if nothing is. */
static gboolean
space_at (const SsBlockReplay *self, guint64 address, SsAddressRange *space, guint64 *bytes)
{
  if (!ss_address_map_find (self->free, address, space))
    return FALSE;
  *bytes = space->bytes - (address - space->address);
  return TRUE;
}

void
ss_block_replay_add_block (SsBlockReplay *self, guint64 address, guint64 bytes)
{
  SsAddressRange space = { .group = GROUP (FIRST_SEGMENT + self->n_segments) };
  guint64 room;

  if (space_at (self, address, &space, &room))
    ss_address_map_cut (self->free, address, MIN (bytes, room));
  else
    self->n_segments++;
  if (ss_address_map_insert (self->blocks,
                             &(SsAddressRange) { address, bytes, TAG_COUNTS, space.group }))
    self->allocated_bytes += bytes;
}

static gboolean
is_split (const SsBlockReplay *self, const SsAddressRange *space, guint64 bytes, guint64 rest)
{
  if ((space->group & SPLITS_ALWAYS) != 0)
    return rest >= ROUNDING_BYTES;
  return rest > SMALL_BYTES && bytes < self->max_split_bytes;
}

void
ss_block_replay_alloc (SsBlockReplay *self, guint64 address, guint64 requested_bytes)
{
  guint64 rounded, room;
  SsAddressRange space;

  if (requested_bytes > G_MAXINT64)
    return;
  rounded = MAX ((requested_bytes + ROUNDING_BYTES - 1) / ROUNDING_BYTES, 1) * ROUNDING_BYTES;
  if (space_at (self, address, &space, &room) && room > rounded
      && !is_split (self, &space, rounded, room - rounded))
    rounded = room;
  ss_block_replay_add_block (self, address, rounded);
}

gboolean
ss_block_replay_request_free (SsBlockReplay *self, guint64 address)
{
  SsAddressRange block;

  if (!ss_address_map_remove (self->blocks, address, &block))
    return FALSE;
  if (block.tag == TAG_COUNTS)
    self->allocated_bytes -= block.bytes;
  block.tag = TAG_PENDING;
  ss_address_map_insert (self->blocks, &block);
  return TRUE;
}

void
ss_block_replay_complete_free (SsBlockReplay *self, guint64 address)
{
  SsAddressRange block;

  if (!ss_block_replay_request_free (self, address))
    return;
  ss_address_map_remove (self->blocks, address, &block);
  ss_address_map_join (self->free, &block);
}

guint64
ss_block_replay_allocated_bytes (const SsBlockReplay *self)
{
  return self->allocated_bytes;
}

guint64
ss_block_replay_reserved_bytes (const SsBlockReplay *self)
{
  return self->reserved_bytes;
}
