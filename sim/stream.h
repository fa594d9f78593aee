/* SPDX-License-Identifier: MIT
 *
 * SsStream: a serial queue of work on a device, as a CUDA stream is; SsHost: the thread that issues
 * work ahead of the device up to a queue depth.  They know durations and callbacks, no kernels.
 * The creator owns them; the engine must outlive them; streams that wait for one another are freed
 * together.
 */
#pragma once

#include "sim/engine.h"

G_BEGIN_DECLS

/* Order of what happens at one time: work ends, then work starts, then the host issues. */
#define SS_PRIORITY_WORK_END 0
#define SS_PRIORITY_WORK_START 1
#define SS_PRIORITY_HOST 2

typedef struct _SsStream SsStream;

SsStream *ss_stream_new (SsEngine *engine, const char *name);
/* What is queued is dropped without its callbacks. Not from within a callback. */
void ss_stream_free (SsStream *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsStream, ss_stream_free)

const char *ss_stream_name (const SsStream *self);
/* Queues work of that duration; it starts when all earlier work has ended and not before
 * `not_before_ns`. Callbacks run at its start and its end (NULL: none), never from this call. */
void ss_stream_submit (SsStream *self, gint64 not_before_ns, gint64 duration_ns,
                       SsEventFunc on_start, SsEventFunc on_end, gpointer user_data);
/* An event recorded after all work queued so far; it is a number valid for this stream. It has
 * happened when the work before it has ended and the waits before it are over: if none, at once. */
guint64 ss_stream_record (SsStream *self);
/* Work queued after this on `self` starts only when that event of `other` has happened: then those
 * that waited start in the order they began to wait, and after them the work behind the event. */
void ss_stream_wait (SsStream *self, SsStream *other, guint64 event);
gboolean ss_stream_has_happened (const SsStream *self, guint64 event);
gboolean ss_stream_is_idle (const SsStream *self);   /* nothing queued, waits neither */
guint ss_stream_n_queued (const SsStream *self);     /* work submitted and not ended */
gint64 ss_stream_busy_ns (const SsStream *self);     /* time it has worked so far */

typedef struct _SsHost SsHost;
/* Issues the next item: returns its cost on the host in ns, or -1 when there is nothing left.  It
 * may submit to streams with not_before = now + cost + latency. */
typedef gint64 (*SsIssueFunc) (SsHost *host, gpointer user_data);

/* A thread that calls `issue` again and again, each call after the cost of the one before, and
 * pauses while `queue_depth` (at least 1) launches have not ended. */
SsHost *ss_host_new (SsEngine *engine, guint queue_depth, SsIssueFunc issue, gpointer user_data);
/* Not from within a callback. */
void ss_host_free (SsHost *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsHost, ss_host_free)
/* The first call comes at the engine's present time, from its run. Once. */
void ss_host_start (SsHost *self);
/* Queue accounting: said by the issuer for each launch, and by the work's end. */
void ss_host_launched (SsHost *self);
void ss_host_ended (SsHost *self);
/* The next call of `issue` comes when all that was launched so far has ended. */
void ss_host_synchronize (SsHost *self);
/* No call of `issue` comes before that event of the stream has happened. */
void ss_host_wait (SsHost *self, SsStream *stream, guint64 event);
gint64 ss_host_waiting_ns (const SsHost *self);      /* time it was held up by the device */

G_END_DECLS
