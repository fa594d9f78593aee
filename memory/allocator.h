/* SPDX-License-Identifier: MIT
 *
 * SsAllocator: the contract of everything that answers requests for device memory.
 * It knows bytes, streams and a capacity; nothing of tensors, ops, time or XML.
 * The creator owns it and frees it with ss_allocator_free; blocks belong to the allocator.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define SS_ALLOCATOR_ERROR (ss_allocator_error_quark ())
GQuark ss_allocator_error_quark (void);

typedef enum
{
  SS_ALLOCATOR_ERROR_CONF,       /* a malformed or unknown option, an impossible memory fraction */
  SS_ALLOCATOR_ERROR_UNKNOWN,    /* no allocator of that name */
  SS_ALLOCATOR_ERROR_EVENT       /* a line of an event file that cannot be or cannot be read */
} SsAllocatorError;

typedef struct
{
  guint64 capacity_bytes;        /* what the framework calls total; G_MAXINT64: without limit */
  guint64 external_bytes;        /* gone before the first allocation: context, other processes */
  const char *conf;              /* PYTORCH_CUDA_ALLOC_CONF's syntax; NULL or "" for none */
  double memory_fraction;        /* set_per_process_memory_fraction, above conf's; 0: not set */
} SsAllocatorSettings;

/* A served request.  Implementations embed it as their first member. */
typedef struct
{
  guint64 address;               /* simulated device address, unique among live blocks */
  guint64 bytes;                 /* the block's whole size, unsplit rest included */
  guint64 requested_bytes;
  guint64 offset_bytes;          /* of address in its segment */
  guint segment;                 /* from 0 in order of creation; G_MAXUINT: a block of 0 bytes */
} SsBlock;

/* All in bytes but the counts; allocated <= active <= reserved. */
typedef struct
{
  guint64 allocated_bytes, reserved_bytes, active_bytes, requested_bytes, inactive_split_bytes;
  guint64 n_retries;             /* flushes of the cache before a second try */
  guint64 n_ooms;
  guint64 n_rejections;          /* throw_on_cudamalloc_oom: refused without asking the driver */
} SsAllocatorStats;

/* The state at a failed request, after the flush. */
typedef struct
{
  guint64 tensor_bytes;          /* what the op wanted */
  guint64 requested_bytes;       /* what the message names: the segment asked of the driver */
  guint64 free_bytes;            /* capacity - external - reserved */
  guint64 allocated_bytes, reserved_bytes;
  guint64 largest_free_block_bytes;   /* cached, on the stream that asked; 0: none */
  gboolean is_rejected;          /* throw_on_cudamalloc_oom: no flush, no retry */
} SsOomReport;

typedef enum
{
  SS_SEGMENT_ALLOC,
  SS_SEGMENT_FREE,
  SS_SEGMENT_MAP,
  SS_SEGMENT_UNMAP
} SsSegmentAction;

/* Called for each change of reserved memory, in order, while allocate, release or empty_cache runs;
 * reserved_bytes of the statistics is already that after the change. */
typedef void (*SsSegmentFunc) (SsSegmentAction action,
                               guint64         address,
                               guint64         bytes,
                               guint           stream,
                               gpointer        user_data);

/* When other streams are done with a released block. Events of a stream happen in order. */
typedef struct
{
  /* an event of that stream: all that it has been given by now */
  guint64 (*record) (guint stream, gpointer user_data);
  gboolean (*has_happened) (guint stream, guint64 event, gpointer user_data);
} SsAllocatorClock;

typedef struct _SsAllocator SsAllocator;

/* All members required. */
typedef struct
{
  const char *name;              /* the word of the scenario file */
  const char *description;       /* one line for `stepsim list allocators` */
  gboolean calls_driver;         /* its segments are asked of a driver, which takes time */
  SsAllocator *(*create) (const SsAllocatorSettings *settings, GError **error);
  void (*destroy) (SsAllocator *self);
  /* NULL: out of memory, `report` is filled and nothing but a flush has happened. bytes may be
   * 0. */
  SsBlock *(*allocate) (SsAllocator *self, guint64 bytes, guint stream, SsOomReport *report);
  void (*release) (SsAllocator *self, SsBlock *block);
  void (*record_stream) (SsAllocator *self, SsBlock *block, guint stream);
  void (*synchronize) (SsAllocator *self);   /* every event so far has happened; without a clock */
  void (*empty_cache) (SsAllocator *self);
} SsAllocatorClass;

/* Implementations embed it as their first member and keep `stats` current. */
struct _SsAllocator
{
  const SsAllocatorClass *klass;
  SsAllocatorStats stats;
  SsSegmentFunc observe;         /* NULL: nobody listens */
  gpointer observe_data;
  const SsAllocatorClock *clock; /* NULL: events happen at ss_allocator_synchronize */
  gpointer clock_data;
};

/* NULL-terminated list of every allocator, in the order of `stepsim list allocators`. */
const SsAllocatorClass *const *ss_allocator_classes (void);
/* SS_ALLOCATOR_ERROR_UNKNOWN names the known ones. (transfer none) */
const SsAllocatorClass *ss_allocator_class_find (const char *name, GError **error);

/* SS_ALLOCATOR_ERROR_CONF. (transfer full) */
SsAllocator *ss_allocator_new (const SsAllocatorClass    *klass,
                               const SsAllocatorSettings *settings,
                               GError                   **error);
void ss_allocator_free (SsAllocator *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsAllocator, ss_allocator_free)

/* The block stays the allocator's until ss_allocator_release. (transfer none) */
SsBlock *ss_allocator_allocate (SsAllocator *self,
                                guint64      bytes,
                                guint        stream,
                                SsOomReport *report);
void ss_allocator_release (SsAllocator *self, SsBlock *block);
void ss_allocator_record_stream (SsAllocator *self, SsBlock *block, guint stream);
void ss_allocator_synchronize (SsAllocator *self);
void ss_allocator_empty_cache (SsAllocator *self);
const SsAllocatorStats *ss_allocator_stats (const SsAllocator *self);
/* Before the first request; without one, events happen when ss_allocator_synchronize says so. */
void ss_allocator_set_clock (SsAllocator *self, const SsAllocatorClock *clock, gpointer user_data);
void ss_allocator_observe (SsAllocator *self, SsSegmentFunc func, gpointer user_data);

/* PyTorch 2.14.1's sentence for this report, as it reads where no NVML library tells of
 * processes. The settings say the capacity, whether a fraction below 1 is set and whether
 * segments are expandable. (transfer full) */
char *ss_oom_message (const SsOomReport *report, const SsAllocatorSettings *settings);

G_END_DECLS
