/* SPDX-License-Identifier: MIT
 *
 * SsStreamId: the streams of a device, by what a training run uses each for. Each has a pool of its
 * own in the caching allocator: a block freed in one serves no request of another. It knows no
 * clock and no kernels.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define SS_STREAM_ID_LIST(X)                                      \
  X (COMPUTE, "compute")               /* the default stream */   \
  X (GATHER, "gather")                 /* all-gathers */          \
  X (REDUCE_SCATTER, "reduce-scatter")                            \
  X (ALL_REDUCE, "all-reduce")                                    \
  X (COPIES, "copies")                 /* host and device */      \
  X (PIPELINE, "pipeline")             /* send and receive */

typedef enum
{
#define X(NAME, name) SS_STREAM_##NAME,
  SS_STREAM_ID_LIST (X)
#undef X
  SS_N_STREAMS
} SsStreamId;

/* "compute"; NULL for what is none. (transfer none) */
const char *ss_stream_id_name (guint stream);

G_END_DECLS
