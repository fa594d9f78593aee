/* SPDX-License-Identifier: MIT
 *
 * The parts of the caching allocator: blocks, segments, expandable ranges, events. Rules and names
 * are those of c10/cuda/CUDACachingAllocator.cpp; what 2.14.1 changed was seen in the program
 * itself, run over a driver of fixed capacity.
 */
#pragma once

#include "memory/alloc-conf.h"
#include "memory/slab.h"
#include "memory/tree-private.h"

G_BEGIN_DECLS

/* kMinBlockSize, kSmallSize and kSmallBuffer of c10/core/AllocatorConfig.h */
#define MIB G_GUINT64_CONSTANT (1048576)
#define MIN_BLOCK_BYTES G_GUINT64_CONSTANT (512)
#define SMALL_MAX_BYTES MIB
#define SMALL_SEGMENT_BYTES (2 * MIB)

/* What one stream has in one pool. */
typedef struct
{
  guint stream;
  SsTree free;                   /* CachingBlock, by (bytes, address): free and mapped */
  SsTree unmapped;               /* CachingBlock, by (0, address) */
} CachingStream;

typedef struct _CachingBlock CachingBlock;

typedef struct
{
  gboolean is_small;
  guint64 page_bytes;            /* of expandable ranges */
  CachingBlock *whole;           /* free blocks that are all of their segment, in any order */
  guint64 n_searches;            /* counted only where garbage collection can act */
  GPtrArray *streams;            /* CachingStream, by rising number */
  CachingStream *last;           /* the one asked for last */
} CachingPool;

/* A stream that uses a block of another. */
typedef struct _CachingUse CachingUse;

struct _CachingUse
{
  CachingUse *next;
  guint stream;
};

struct _CachingBlock
{
  SsBlock block;                 /* requested_bytes only while it is given out or waits */
  SsTreeNode node;               /* in free or unmapped of `stream` */
  CachingBlock *prev, *next;     /* neighbours in its segment, by address */
  CachingBlock *prev_whole, *next_whole;
  CachingPool *pool;
  CachingStream *stream;
  guint64 born;                  /* n_searches when it last became free */
  CachingUse *uses;              /* other streams that use it */
  guint n_events;                /* other streams a release still waits for */
  gboolean is_allocated;
  gboolean is_mapped;            /* FALSE: address space of an expandable range without memory */
};

#define CACHING_BLOCK(tree_node)                                                                   \
  ((CachingBlock *) ((char *) (tree_node) -G_STRUCT_OFFSET (CachingBlock, node)))

/* A released block waits for an event of a stream that used it. */
typedef struct
{
  CachingBlock *block;
  guint stream;
  guint64 event;
} CachingWait;

typedef struct
{
  SsAllocator base;
  SsBlock empty;                 /* what every request of 0 bytes gets */
  SsAllocConf conf;
  guint64 capacity_bytes, external_bytes;
  gboolean has_limit;
  guint64 limit_bytes;
  gboolean collects_garbage;
  CachingPool large, small;
  SsSlab blocks;                 /* CachingBlock */
  SsSlab uses;                   /* CachingUse */
  GArray *waits;                 /* CachingWait, in the order of their events */
  guint64 n_synchronized;        /* without a clock: events before this one have happened */
  guint64 n_recorded;            /* without a clock: events so far */
  guint64 next_address;          /* rises for ever, so segments lie in the order of their birth */
  guint n_segments;
} CachingAllocator;

typedef struct
{
  guint64 bytes;                 /* as asked */
  guint64 size_bytes;            /* rounded */
  guint64 segment_bytes;         /* what the driver would be asked for */
  CachingPool *pool;
  CachingStream *stream;
} CachingRequest;

/* ---- allocator-caching-block.c ---- */

/* (transfer none) */
CachingStream *ss_caching_stream (CachingPool *pool, guint stream);
/* A block that is in no tree and has no neighbours yet; of `block` address, bytes, segment and
 * offset count. */
CachingBlock *ss_caching_block_new (CachingAllocator *self,
                                    CachingPool      *pool,
                                    CachingStream    *stream,
                                    const SsBlock    *block);
/* Puts `part` between `prev` and `next`, either of which may be NULL. */
void ss_caching_block_link (CachingBlock *part, CachingBlock *prev, CachingBlock *next);
void ss_caching_block_put (CachingBlock *block);
void ss_caching_block_take (CachingBlock *block);
gboolean ss_caching_block_is_free (const CachingBlock *block);
gboolean ss_caching_block_is_split (const CachingBlock *block);
/* `block` (in no tree) swallows its free neighbours of the same mapping. */
void ss_caching_block_merge (CachingAllocator *self, CachingBlock *block);
/* Gives out the front of `block` (in no tree) and keeps the rest, if the rules allow. */
CachingBlock *ss_caching_block_hand_out (CachingAllocator     *self,
                                         CachingBlock         *block,
                                         const CachingRequest *request);
/* The release of a block is complete: it is free and one with its neighbours. */
void ss_caching_block_complete (CachingAllocator *self, CachingBlock *block);
/* The free blocks of a pool of at least `min_bytes`, or those that are whole segments, by
 * (stream, bytes, address). (transfer full) (element-type CachingBlock) */
GPtrArray *ss_caching_free_blocks (const CachingPool *pool, guint64 min_bytes);
GPtrArray *ss_caching_whole_blocks (const CachingPool *pool);

/* ---- allocator-caching-segment.c ---- */

/* FALSE: the driver has not so many bytes left. */
gboolean ss_caching_driver_has (const CachingAllocator *self, guint64 bytes);
/* Address space for a new segment or range: FALSE when there is none left. */
gboolean ss_caching_place (CachingAllocator *self, guint64 bytes, SsBlock *place);
void ss_caching_change_reserved (CachingAllocator *self,
                                 SsSegmentAction   action,
                                 const SsBlock    *range,
                                 guint             stream);
/* A block in no tree that is large enough, from new memory; NULL: none to be had, `is_rejected`
 * says whether a flush is out of the question. */
CachingBlock *ss_caching_grow (CachingAllocator     *self,
                               const CachingRequest *request,
                               gboolean             *is_rejected);
gboolean ss_caching_release_oversize (CachingAllocator *self, const CachingRequest *request);
void ss_caching_collect_garbage (CachingAllocator *self);
/* Waits for every event and returns whole segments or pages to the driver. */
void ss_caching_flush (CachingAllocator *self);

/* ---- allocator-caching-expandable.c ---- */

CachingBlock *ss_caching_expand (CachingAllocator *self, const CachingRequest *request);
/* Unmaps the whole pages of a free block, and drops the range if nothing of it stays mapped. */
void ss_caching_shrink (CachingAllocator *self, CachingBlock *block);

/* ---- allocator-caching-event.c ---- */

void ss_caching_use (CachingAllocator *self, CachingBlock *block, guint stream);
/* Begins the waiting of a released block that other streams use. */
void ss_caching_wait (CachingAllocator *self, CachingBlock *block);
/* Completes the releases whose events have happened. */
void ss_caching_finish_events (CachingAllocator *self);
/* Waits for all events, and completes every release. */
void ss_caching_finish_all (CachingAllocator *self);

G_END_DECLS
