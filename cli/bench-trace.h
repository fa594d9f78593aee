/* SPDX-License-Identifier: MIT
 *
 * The benchmark of a whole run: scenario, trace, replay and JSON, timed one by one in this process.
 * It reads the wall clock, so its figures differ from run to run.  It owns nothing afterwards.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Appends a table for the shipped scenario llama8b-h100. FALSE with *error: it cannot be found
 * or run. */
gboolean ss_bench_trace (GString *out, GError **error);

G_END_DECLS
