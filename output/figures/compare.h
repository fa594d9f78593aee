/* SPDX-License-Identifier: MIT
 *
 * Two courses of memory beside each other: two runs, or two steps of one, what differs between them
 * as a table and as one picture on one scale.  It knows no scenario file and no option.
 */
#pragma once

#include "output/figures/canvas.h"
#include "output/figures/memory-timeline.h"
#include "output/output.h"

G_BEGIN_DECLS

/* What is compared, and what it came to. */
typedef struct
{
  const SsRecording *recording;
  char *name;                    /* "step 2", "checkpointing/policy=full" */
  guint step;                    /* 0: the whole run */
  /* found by ss_compare_side_new */
  gint64 start_ns, end_ns;       /* of what is compared, device time */
  guint64 peak_bytes;            /* allocated and the context */
  guint64 peak_reserved_bytes;   /* and the context */
  SsTimelineState at_peak;
  char *peak_words;              /* "backward of step 1" */
  char *verdict;                 /* "fits", "out of memory in step 2, ..." */
  gint64 step_ns;                /* of the step, or of the run's last complete one; 0: none */
  gboolean is_oom;
} SsCompareSide;

/* NULL: the recording has no such step. (transfer full) */
SsCompareSide *ss_compare_side_new (const SsRecording *recording, guint step, const char *name);
void ss_compare_side_free (SsCompareSide *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsCompareSide, ss_compare_side_free)

/* "peak 14.4 GiB lower, step 205 ms slower (+23 %)": from the first to the second. (transfer
 * full) */
char *ss_compare_headline (const SsCompareSide *a, const SsCompareSide *b, SsMemoryUnits units);
/* The table, final newline. (transfer full) */
char *ss_compare_table (const SsCompareSide *a, const SsCompareSide *b, SsMemoryUnits units);
/* (transfer full) */
SsCanvas *ss_compare_figure (const SsCompareSide *a, const SsCompareSide *b, SsMemoryUnits units);

G_END_DECLS
