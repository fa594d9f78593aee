/* SPDX-License-Identifier: MIT
 *
 * Replay of an event file on an allocator: requests, releases and flushes in, the state after each
 * out. It knows the file's form and the allocators' contract; it keeps nothing.
 *
 * The file: comment lines "# key=value" before the first event name the settings (conf,
 * capacity_total, external_used, memory_fraction; other comments do not count), then one event per
 * line, op,id,bytes,stream[,...]: alloc (id, bytes, stream), free (id), record_stream (id,
 * stream), sync, empty_cache.  An id is used once.  A line of column names is allowed; columns
 * after the fourth do not count.
 */
#pragma once

#include "memory/allocator.h"

G_BEGIN_DECLS

/* Appends to `out` the line of column names and, for each event, its first four columns with the
 * state after it, and after a failed request "# oom:" with the numbers of its report.
 * `conf_override` takes the place of the file's options; NULL: the file's.  On failure `out`
 * holds the rows so far, and the error is SS_ALLOCATOR_ERROR_EVENT or SS_ALLOCATOR_ERROR_CONF,
 * "file:line: ...", or one of G_FILE_ERROR. */
gboolean ss_allocator_replay_on (const SsAllocatorClass *klass,
                                 const char             *path,
                                 const char             *conf_override,
                                 GString                *out,
                                 GError                **error);
/* The same on the caching allocator. */
gboolean ss_allocator_replay (const char *path,
                              const char *conf_override,
                              GString    *out,
                              GError    **error);

G_END_DECLS
