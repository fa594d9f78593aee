/* SPDX-License-Identifier: MIT */
#include "sim/stream-count.h"

#include "memory/stream-id.h"

static const SsOpEvent *
op_at (const SsRecording *recording, guint i)
{
  return &g_array_index (recording->ops, SsOpEvent, i);
}

/* From i on, the first op of that stream; the number of ops if there is none. */
static guint
next_of (const SsRecording *recording, guint i, guint stream)
{
  while (i < recording->ops->len && op_at (recording, i)->stream != stream)
    i++;
  return i;
}

/* Ops of a stream run one after the other in the order of issue, so two fingers are enough. */
static gint64
beside_compute_ns (const SsRecording *recording, guint stream)
{
  guint n = recording->ops->len;
  guint own = next_of (recording, 0, stream), compute = next_of (recording, 0, SS_STREAM_COMPUTE);
  gint64 sum_ns = 0;

  while (own < n && compute < n)
    {
      const SsOpEvent *a = op_at (recording, own), *b = op_at (recording, compute);

      sum_ns += MAX (MIN (a->end_ns, b->end_ns) - MAX (a->start_ns, b->start_ns), 0);
      if (a->end_ns < b->end_ns)
        own = next_of (recording, own + 1, stream);
      else
        compute = next_of (recording, compute + 1, SS_STREAM_COMPUTE);
    }
  return sum_ns;
}

void
ss_count_streams (SsRecording *recording)
{
  SsStreamRecord streams[SS_N_STREAMS] = { 0 };

  for (guint i = 0; i < recording->ops->len; i++)
    {
      const SsOpEvent *op = op_at (recording, i);

      streams[op->stream].n_ops++;
      streams[op->stream].busy_ns += MAX (op->end_ns - op->start_ns, 0);
    }
  for (guint i = 0; i < SS_N_STREAMS; i++)
    {
      if (i != SS_STREAM_COMPUTE && streams[i].n_ops == 0)
        continue;
      streams[i].name = ss_stream_id_name (i);
      if (i != SS_STREAM_COMPUTE)
        streams[i].beside_compute_ns = beside_compute_ns (recording, i);
      g_array_append_val (recording->streams, streams[i]);
    }
}
