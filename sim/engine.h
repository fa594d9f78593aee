/* SPDX-License-Identifier: MIT
 *
 * SsEngine: a discrete-event clock: callbacks at integer nanoseconds in the order of (time, priority,
 * sequence).  It knows nothing of what the callbacks do.  The creator owns it.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _SsEngine SsEngine;
typedef void (*SsEventFunc) (SsEngine *engine, gpointer user_data);
/* Names a scheduled event; 0 is none. A name is never used again. */
typedef guint64 SsEventId;

SsEngine *ss_engine_new (void);
void ss_engine_free (SsEngine *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsEngine, ss_engine_free)

gint64 ss_engine_now_ns (const SsEngine *self);
/* At an absolute time, not before now; of events at one time the lower priority runs first, of equal
 * priority the one scheduled first. */
SsEventId ss_engine_schedule (SsEngine *self, gint64 time_ns, gint priority, SsEventFunc func, gpointer user_data);
/* FALSE if it has run, was cancelled, or never was. */
gboolean ss_engine_cancel (SsEngine *self, SsEventId id);
guint ss_engine_n_pending (const SsEngine *self);
/* Runs until nothing is pending. */
void ss_engine_run (SsEngine *self);
/* Runs every event up to and including time_ns, then sets the clock to it. */
void ss_engine_run_until (SsEngine *self, gint64 time_ns);
/* From within a callback: run returns after it, what is pending stays. */
void ss_engine_stop (SsEngine *self);
/* Whole nanoseconds of a duration in seconds, rounded to nearest; durations beyond 292 years are clamped. */
gint64 ss_ns_from_seconds (double seconds);

G_END_DECLS
