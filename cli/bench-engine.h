/* SPDX-License-Identifier: MIT
 *
 * The engine's benchmark: events per second of SsEngine beside a bare heap, same work, same run.
 * It reads the wall clock, so its figures differ from run to run.  It owns nothing afterwards.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Appends a table: the hold model (take the next event, schedule another at its time + a random
 * increment) at several numbers of pending events; medians of several repeats. */
void ss_bench_engine (GString *out);

G_END_DECLS
