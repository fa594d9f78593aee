/* SPDX-License-Identifier: MIT
 *
 * The allocators' benchmark: requests and releases per second, of a real run's sequence.
 * It reads the wall clock, so its figures differ from run to run.  It owns nothing afterwards.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Appends a table, one row for each allocator, for the shipped scenario llama8b-h100 on a device
 * without limit. FALSE with *error: it cannot be found or run. */
gboolean ss_bench_allocator (GString *out, GError **error);

G_END_DECLS
