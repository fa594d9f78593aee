/* SPDX-License-Identifier: MIT
 *
 * The allocators' benchmark: requests and releases per second, of a real run's sequence and of
 * random ones.
 * It reads the wall clock, so its figures differ from run to run.  It owns nothing afterwards.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Appends a table, on a device without limit: one row for each allocator on the shipped scenario
 * llama8b-h100, then the caching one on random requests, with options. FALSE with *error: the
 * scenario cannot be found or run. */
gboolean ss_bench_allocator (GString *out, GError **error);

G_END_DECLS
