/* SPDX-License-Identifier: MIT
 *
 * SsRequestTable: every request for memory of a scenario's run, past its own out-of-memory to the
 * end, what is one thing in the run being one row, with what the caching allocator makes of it:
 * served by a free block, or asked of the driver.  It knows no message.  The caller owns it.
 */
#pragma once

#include "scenarios/scenario.h"
#include "study/explanation.h"

G_BEGIN_DECLS

typedef struct
{
  GPtrArray *requests;           /* SsRequest, in the order in which they are first met */
  guint64 peak_allocated_bytes;  /* without limit */
  gboolean fits;                 /* in the scenario's capacity */
  /* if it does not fit: what it dies of asking for, what is allocated then, and in which step */
  guint64 fatal_segment_bytes, fatal_allocated_bytes;
  guint fatal_step;
} SsRequestTable;

/* Traces and replays; messages are PyTorch's, so the caching allocator answers whatever the
 * scenario has.  SS_OPS_ERROR_*, SS_ALLOCATOR_ERROR_CONF. (transfer full) */
SsRequestTable *ss_request_table_new (SsScenario *scenario, GError **error);
void ss_request_table_free (SsRequestTable *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsRequestTable, ss_request_table_free)

G_END_DECLS
