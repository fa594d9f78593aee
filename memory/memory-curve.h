/* SPDX-License-Identifier: MIT
 *
 * SsMemoryCurve: a fold over allocations and releases: what is held now, by category, and the peak
 * with what was in it.  SsMemorySpan: the peaks of a stretch of the same curve (a phase, a step).
 * They know no tensors, ops or time: whoever feeds them notes those.  Both are plain values; copy
 * them.
 */
#pragma once

#include "memory/category.h"

G_BEGIN_DECLS

/* One moment.  The categories add up to allocated_bytes. */
typedef struct
{
  guint64 allocated_bytes;
  guint64 reserved_bytes;
  guint64 by_category[SS_N_CATEGORIES];
} SsMemoryPoint;

typedef struct
{
  SsMemoryPoint now;
  SsMemoryPoint peak;            /* at the first moment of the largest allocated_bytes */
  guint64 peak_reserved_bytes;   /* at whatever moment */
} SsMemoryCurve;

typedef struct
{
  guint64 start_allocated_bytes;
  guint64 peak_allocated_bytes;
  guint64 peak_reserved_bytes;
} SsMemorySpan;

void ss_memory_curve_init (SsMemoryCurve *self);
/* A block of `bytes` (unsplit rest included) was given out or taken back; `reserved_bytes` is the
 * allocator's after it.  TRUE when this is the new peak of allocated_bytes. */
gboolean ss_memory_curve_allocate (SsMemoryCurve *self,
                                   SsCategory     category,
                                   guint64        bytes,
                                   guint64        reserved_bytes);
void ss_memory_curve_release (SsMemoryCurve *self,
                              SsCategory     category,
                              guint64        bytes,
                              guint64        reserved_bytes);
/* Reserved memory changed within a request or a flush. */
void ss_memory_curve_reserve (SsMemoryCurve *self, guint64 reserved_bytes);

/* Begins anew at the curve's present state. */
void ss_memory_span_begin (SsMemorySpan *self, const SsMemoryCurve *curve);
/* To be called after each event of the curve.  TRUE when this is the span's new peak of
 * allocated_bytes. */
gboolean ss_memory_span_update (SsMemorySpan *self, const SsMemoryCurve *curve);

G_END_DECLS
