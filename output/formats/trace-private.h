/* SPDX-License-Identifier: MIT
 *
 * SsTraceWriter: a trace under way: its events one by one, each on a line of its own.
 */
#pragma once

#include "output/formats/json-text.h"
#include "output/formats/trace.h"

G_BEGIN_DECLS

/* Kineto gives a GPU its index as process; far from those, two files can be joined by hand. */
#define SS_TRACE_PID 1000000

/* Rows of the process. */
typedef enum
{
  SS_TRACE_PHASES = 1,
  SS_TRACE_STREAMS = 2,          /* one for each SsStreamId */
  SS_TRACE_ALLOCATOR = SS_TRACE_STREAMS + SS_N_STREAMS,
  SS_TRACE_HOST
} SsTraceRow;

#define SS_TRACE_STREAM_ROW(stream) (SS_TRACE_STREAMS + (guint) (stream))

typedef struct
{
  const SsRecording *recording;
  GString *json;
  guint n_events;
} SsTraceWriter;

/* Opens an event up to its time; the caller adds to it and closes it with ss_trace_end. */
void ss_trace_begin (SsTraceWriter *self, const char *type, const char *category,
                     const char *name, guint row, gint64 ns);
void ss_trace_end (SsTraceWriter *self);
/* Adds "dur" and opens "args". */
void ss_trace_open_args (SsTraceWriter *self, gint64 duration_ns);
void ss_trace_arg_uint (SsTraceWriter *self, const char *key, guint64 value);
void ss_trace_arg_text (SsTraceWriter *self, const char *key, const char *text);
void ss_trace_close_args (SsTraceWriter *self);

/* The three kinds of content. */
void ss_trace_put_spans (SsTraceWriter *self);
void ss_trace_put_ops (SsTraceWriter *self);
void ss_trace_put_counters (SsTraceWriter *self);

G_END_DECLS
