/* SPDX-License-Identifier: MIT
 *
 * SsRealRun: memory of a run that really happened, as one device's allocator saw it: requests and
 * releases in order, the state after each, and the spans that the file names.  It knows no file
 * format and no simulation.  The reader that makes it gives it away; the owner frees it.
 */
#pragma once

#include "output/output.h"

G_BEGIN_DECLS

/* A file larger than this is not read. */
#define SS_REAL_MAX_BYTES (G_GUINT64_CONSTANT (1) << 30)
/* The device with the most events. */
#define SS_REAL_ANY_DEVICE (-1)

typedef enum
{
  SS_REAL_ALLOC,
  SS_REAL_FREE,
  SS_REAL_OOM
} SsRealAction;

typedef struct
{
  gint64 time_us;                /* on the file's clock */
  guint64 bytes;                 /* see counts_blocks; of an OOM the segment asked for */
  guint64 allocated_bytes, reserved_bytes;   /* after it */
  guint8 action;                 /* SsRealAction */
} SsRealEvent;

typedef struct
{
  char *name;                    /* "Optimizer.step#AdamW.step" */
  gint64 start_us, end_us;       /* G_MAXINT64: not ended */
  guint first_event, end_event;  /* events inside: from first_event up to before end_event */
} SsRealSpan;

typedef struct
{
  const char *format;            /* "memory snapshot"; static */
  guint device;
  gboolean counts_blocks;        /* bytes of events are of whole blocks, not what was asked for */
  guint64 start_allocated_bytes, start_reserved_bytes;   /* before the first event */
  GArray *events;                /* SsRealEvent */
  GArray *spans;                 /* SsRealSpan, by start */
} SsRealRun;

SsRealRun *ss_real_run_new (const char *format);
void ss_real_run_free (SsRealRun *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsRealRun, ss_real_run_free)

void ss_real_run_add_span (SsRealRun *self, const char *name, gint64 start_us, gint64 end_us);
/* Finds the events of the spans, and orders those, once all of both are there. */
void ss_real_run_place_spans (SsRealRun *self);

/* What is in a file: a pickle, JSON, or either gzipped, told by its first bytes.
 * SS_OUTPUT_ERROR_INPUT: "path: ...". (transfer full) */
SsRealRun *ss_real_run_load (const char *path, gint device, GError **error);

/* The two formats. SS_OUTPUT_ERROR_INPUT. (transfer full) */
SsRealRun *ss_snapshot_read (GBytes *bytes, gint device, GError **error);
SsRealRun *ss_kineto_read (GBytes *bytes, gint device, GError **error);

G_END_DECLS
