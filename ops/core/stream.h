/* SPDX-License-Identifier: MIT
 *
 * Streams as torch.cuda has them: which one is current, events, and the use of a tensor on another
 * stream. All of it lands in the program in the order in which it is called. It knows no clock. A
 * stopped tape records none of it.
 */
#pragma once

#include "memory/stream-id.h"
#include "ops/core/tape.h"

G_BEGIN_DECLS

/* with torch.cuda.stream (...), until the end of the C scope: kernels run on it and what they make
 * is requested in its pool: SS_STREAM (t, SS_STREAM_COPIES). */
typedef struct
{
  SsTape *tape;
  SsStreamId outer;
} SsStreamScope;
SsStreamScope ss_stream_enter (SsTape *t, SsStreamId stream);
void ss_stream_leave (SsStreamScope *scope);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SsStreamScope, ss_stream_leave)
#define SS_STREAM(t, stream) \
  G_GNUC_UNUSED g_auto (SsStreamScope) G_PASTE (ss_stream_, __LINE__) = ss_stream_enter (t, stream)

SsStreamId ss_stream_current (const SsTape *t);

/* An event of that stream: it has happened when all that the stream was given so far is done. */
typedef struct
{
  guint32 id;
  SsStreamId stream;
} SsEvent;
SsEvent ss_event_record (SsTape *t, SsStreamId stream);
/* What `stream` is given from here on starts when the event has happened: Stream.wait_event. */
void ss_event_wait (SsTape *t, SsStreamId stream, SsEvent event);
/* The host issues nothing before the event has happened: Event.synchronize. */
void ss_event_synchronize (SsTape *t, SsEvent event);
/* `stream` waits for all that `other` was given so far: Stream.wait_stream. */
void ss_stream_wait_stream (SsTape *t, SsStreamId stream, SsStreamId other);
/* Once released, the value's storage is given to nobody before what `stream` has been given by then
 * is done: Tensor.record_stream. */
void ss_value_use_on_stream (SsValue *value, SsStreamId stream);

G_END_DECLS
