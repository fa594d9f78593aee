/* SPDX-License-Identifier: MIT
 *
 * SsEngine: a discrete-event clock: callbacks at integer nanoseconds in the order of (time,
 * priority, sequence).  It knows nothing of what the callbacks do.  The creator owns it.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _SsEngine SsEngine;
/* May schedule, cancel and stop; may neither run nor free the engine. */
typedef void (*SsEventFunc) (SsEngine *engine, gpointer user_data);
/* Names a scheduled event; 0 is none. A name is never used again. */
typedef guint64 SsEventId;

SsEngine *ss_engine_new (void);
void ss_engine_free (SsEngine *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsEngine, ss_engine_free)

gint64 ss_engine_now_ns (const SsEngine *self);
/* At an absolute time, not before now; of events at one time the lower priority (-32768 .. 32767)
 * runs first, of equal priority the one scheduled first. What a callback schedules for the current
 * time takes its place among the pending by the same order. */
SsEventId ss_engine_schedule (SsEngine *self, gint64 time_ns, gint priority, SsEventFunc func,
                              gpointer user_data);
/* FALSE if it has run (or is running), was cancelled, or never was. */
gboolean ss_engine_cancel (SsEngine *self, SsEventId id);
guint ss_engine_n_pending (const SsEngine *self);
/* Runs until nothing is pending; the clock stays at the last event. */
void ss_engine_run (SsEngine *self);
/* Runs every event up to and including time_ns (not before now), then sets the clock to it; when
 * stopped, the clock stays at the event that stopped it. */
void ss_engine_run_until (SsEngine *self, gint64 time_ns);
/* From within a callback: run returns after it, what is pending stays. Outside a run: nothing. */
void ss_engine_stop (SsEngine *self);

/* Whole nanoseconds of a duration in seconds, rounded to nearest, half away from 0; durations
 * beyond 292 years are clamped to G_MAXINT64, those below 0 and what is not a number to 0. */
gint64 ss_ns_from_seconds (double seconds);
/* time + duration (at least 0), clamped to G_MAXINT64. */
gint64 ss_ns_add (gint64 time_ns, gint64 duration_ns);

G_END_DECLS
