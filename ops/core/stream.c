/* SPDX-License-Identifier: MIT */
#include "ops/core/stream.h"

#include "ops/core/tape-private.h"

static gboolean
is_recording (const SsTape *t)
{
  return t->is_recording && !t->is_stopped;
}

SsStreamScope
ss_stream_enter (SsTape *t, SsStreamId stream)
{
  SsStreamScope scope = { t, (SsStreamId) t->context.stream };

  t->context.stream = (guint8) stream;
  return scope;
}

void
ss_stream_leave (SsStreamScope *scope)
{
  scope->tape->context.stream = (guint8) scope->outer;
}

SsStreamId
ss_stream_current (const SsTape *t)
{
  return (SsStreamId) t->context.stream;
}

SsEvent
ss_event_record (SsTape *t, SsStreamId stream)
{
  SsEvent event = { t->next_event, stream };

  if (!is_recording (t))
    return event;
  t->next_event++;
  ss_tape_emit (t, SS_RECORD_EVENT, (guint8) stream, event.id);
  return event;
}

void
ss_event_wait (SsTape *t, SsStreamId stream, SsEvent event)
{
  if (is_recording (t) && stream != event.stream)
    ss_tape_emit (t, SS_WAIT_EVENT, (guint8) stream, event.id);
}

void
ss_event_synchronize (SsTape *t, SsEvent event)
{
  if (is_recording (t))
    ss_tape_emit (t, SS_HOST_WAIT, (guint8) event.stream, event.id);
}

void
ss_stream_wait_stream (SsTape *t, SsStreamId stream, SsStreamId other)
{
  if (stream != other)
    ss_event_wait (t, stream, ss_event_record (t, other));
}

void
ss_value_use_on_stream (SsValue *value, SsStreamId stream)
{
  SsStorage *storage = value->storage;

  if (!storage || storage->stream == stream || !is_recording (value->tape))
    return;
  value->tape->program->n_uses++;
  ss_tape_emit (value->tape, SS_USE_ON_STREAM, (guint8) stream, storage->id);
}
