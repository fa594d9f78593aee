/* SPDX-License-Identifier: MIT
 *
 * SsByteAxis: how high bytes stand on an axis that begins at 0 and has room for the limit.  A limit
 * many times above what is ever used would flatten the curve: it stands above a break of the axis.
 * It knows no pixels.
 */
#pragma once

#include "output/format.h"
#include "output/figures/memory-timeline.h"

G_BEGIN_DECLS

typedef struct
{
  double top_bytes;              /* at height 1 */
  double limit_height;           /* 0 to 1; negative: without limit */
  gboolean is_broken;            /* the limit is not to scale */
  SsByteScale scale;
  double tick_bytes;
  guint n_ticks;                 /* from 0 on */
  guint decimals;                /* of a tick's number */
} SsByteAxis;

/* For courses that use at most `used_bytes` below a limit (G_MAXINT64: none), of which one asks for
 * `short_bytes` more than the limit. */
SsByteAxis ss_byte_axis (guint64 used_bytes, guint64 limit_bytes, guint64 short_bytes,
                         SsMemoryUnits units);
/* The most a course uses, the context and what is cached included. */
guint64 ss_memory_timeline_used_bytes (const SsMemoryTimeline *timeline);

double ss_byte_axis_height (const SsByteAxis *self, double bytes);
/* "20", "0.5". (transfer full) */
char *ss_byte_axis_tick (const SsByteAxis *self, guint i);

G_END_DECLS
