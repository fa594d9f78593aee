/* SPDX-License-Identifier: MIT */
#include "ops/kinds/host-copy.h"

#include "ops/core/function.h"
#include "ops/core/stream.h"

/* Attribute 0: is the host's memory pinned? */
static void
cost_of_copy (const SsCall *c, SsCost *cost)
{
  cost->op_class = SS_OP_HOST_COPY;
  cost->shape[0] = c->attribute[0];
}

static const SsOpKind copy_from_host = {
  .name = "aten::copy_", .cost = cost_of_copy, .in_place = TRUE,
  .returned = 1,
};

void
ss_copy_from_host (SsTape *t, SsValue *value, gboolean is_pinned)
{
  SsStreamId stream = ss_stream_current (t);

  ss_record (t, &copy_from_host, SS_ATTRIBUTES (is_pinned != FALSE), 1, &value);
  if (!is_pinned)
    ss_event_synchronize (t, ss_event_record (t, stream));
}
