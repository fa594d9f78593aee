/* SPDX-License-Identifier: MIT
 *
 * SsStream: a serial queue of work on a device, as a CUDA stream is; SsMarker: an event recorded on one and
 * waited for by another; SsHost: the thread that issues work ahead of the device up to a queue depth.
 * They know durations and callbacks, no kernels.  The creator owns them; the engine must outlive them.
 */
#pragma once

#include "sim/engine.h"

G_BEGIN_DECLS

typedef struct _SsStream SsStream;

SsStream *ss_stream_new (SsEngine *engine, const char *name);
void ss_stream_free (SsStream *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsStream, ss_stream_free)

/* Queues work of that duration; it starts when all earlier work has ended and not before `not_before_ns`.
 * Callbacks run at its start and its end (NULL: none). */
void ss_stream_submit (SsStream *self, gint64 not_before_ns, gint64 duration_ns,
                       SsEventFunc on_start, SsEventFunc on_end, gpointer user_data);
/* An event recorded after all work queued so far; it is a number valid for this stream. */
guint64 ss_stream_record (SsStream *self);
/* Work queued after this on `self` starts only when that event of `other` has happened. */
void ss_stream_wait (SsStream *self, SsStream *other, guint64 event);
gboolean ss_stream_is_idle (const SsStream *self);
guint ss_stream_n_queued (const SsStream *self);     /* submitted and not ended */
gint64 ss_stream_busy_ns (const SsStream *self);     /* time it has worked so far */

typedef struct _SsHost SsHost;
/* Issues the next item: returns its cost on the host in ns, or -1 when there is nothing left.  It may submit
 * to streams with not_before = now + cost + latency. */
typedef gint64 (*SsIssueFunc) (SsHost *host, gpointer user_data);

/* A thread that calls `issue` again and again, each call after the cost of the one before, and pauses while
 * `queue_depth` launches have not ended. */
SsHost *ss_host_new (SsEngine *engine, guint queue_depth, SsIssueFunc issue, gpointer user_data);
void ss_host_free (SsHost *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsHost, ss_host_free)
void ss_host_start (SsHost *self);
/* Queue accounting: said by the issuer for each launch, and by the work's end. */
void ss_host_launched (SsHost *self);
void ss_host_ended (SsHost *self);
gint64 ss_host_waiting_ns (const SsHost *self);      /* time it was held up by the queue depth */

G_END_DECLS
