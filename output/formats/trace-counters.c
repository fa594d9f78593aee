/* SPDX-License-Identifier: MIT
 *
 * Curves: memory by category, what the allocator holds, the limit; how busy the device is.
 */
#include "output/formats/trace-private.h"

#include "output/figures/memory-timeline.h"

#define MEMORY "memory GiB"
#define GIB 1073741824.0

/* ---- memory ---- */

typedef struct
{
  guint64 by_category[SS_N_CATEGORIES];
  guint64 reserved_bytes;
  gboolean is_used[SS_N_CATEGORIES];   /* at any time: a row for it is worth having */
} State;

static void
put_series (SsTraceWriter *self, const char *key, double value, guint decimals)
{
  if (self->json->str[self->json->len - 1] != '{')
    g_string_append_c (self->json, ',');
  g_string_append_printf (self->json, "\"%s\":", key);
  ss_append_fixed (self->json, value, decimals);
}

static void
begin_counter (SsTraceWriter *self, const char *name, gint64 ns)
{
  ss_trace_begin (self, "C", NULL, name, SS_TRACE_ALLOCATOR, ns);
  g_string_append (self->json, ",\"args\":{");
}

static void
put_state (SsTraceWriter *self, const State *state, gint64 ns)
{
  begin_counter (self, MEMORY, ns);
  for (guint i = 0; i < SS_N_CATEGORIES; i++)
    if (state->is_used[i])
      put_series (self, ss_category_name ((SsCategory) i), (double) state->by_category[i] / GIB, 6);
  put_series (self, "reserved", (double) state->reserved_bytes / GIB, 6);
  ss_trace_close_args (self);
}

/* What never changes needs a point at each end. */
static void
put_limit (SsTraceWriter *self, gint64 ns)
{
  const SsRecording *recording = self->recording;

  begin_counter (self, MEMORY, ns);
  put_series (self, "context", (double) recording->context_bytes / GIB, 6);
  if (recording->capacity_bytes < G_MAXINT64)
    put_series (self, "capacity", (double) recording->capacity_bytes / GIB, 6);
  ss_trace_close_args (self);
}

static void
apply (State *state, const SsMemoryEvent *event)
{
  if (event->action == SS_EVENT_ALLOC)
    state->by_category[event->category] += event->block_bytes;
  else if (event->action == SS_EVENT_FREE)
    state->by_category[event->category] -= event->block_bytes;
  state->reserved_bytes = event->reserved_bytes;
}

/* Of the events of one moment the last has the state after all of them. */
static void
put_memory (SsTraceWriter *self, gint64 end_ns)
{
  GArray *memory = self->recording->memory;
  State state = { 0 };
  gint64 now_ns = 0;

  for (guint i = 0; i < memory->len; i++)
    {
      const SsMemoryEvent *event = &g_array_index (memory, SsMemoryEvent, i);

      state.is_used[event->category] |= event->action == SS_EVENT_ALLOC;
    }
  put_limit (self, 0);
  for (guint i = 0; i < memory->len; i++)
    {
      const SsMemoryEvent *event = &g_array_index (memory, SsMemoryEvent, i);

      if (event->device_ns > now_ns)
        {
          put_state (self, &state, now_ns);
          now_ns = event->device_ns;
        }
      apply (&state, event);
    }
  put_state (self, &state, now_ns);
  if (end_ns > now_ns)
    put_state (self, &state, end_ns);
  put_limit (self, end_ns);
}

/* ---- utilization ---- */

static void
put_busy (SsTraceWriter *self, gint64 ns, const SsOpEvent *op)
{
  begin_counter (self, "utilization %", ns);
  put_series (self, "matrix", op != NULL ? 100 * (double) op->matmul_utilization : 0, 1);
  put_series (self, "memory bandwidth", op != NULL ? 100 * (double) op->bandwidth_utilization : 0,
              1);
  ss_trace_close_args (self);
}

/* Of the compute stream: the others move data beside it. */
static void
put_utilization (SsTraceWriter *self, gint64 end_ns)
{
  gint64 busy_until_ns = 0;

  put_busy (self, 0, NULL);
  for (guint i = 0; i < self->recording->ops->len; i++)
    {
      const SsOpEvent *op = &g_array_index (self->recording->ops, SsOpEvent, i);

      if (op->stream != 0 || op->end_ns <= op->start_ns)
        continue;
      if (op->start_ns > busy_until_ns)
        put_busy (self, busy_until_ns, NULL);
      put_busy (self, op->start_ns, op);
      busy_until_ns = op->end_ns;
    }
  put_busy (self, busy_until_ns, NULL);
  if (end_ns > busy_until_ns)
    put_busy (self, end_ns, NULL);
}

void
ss_trace_put_counters (SsTraceWriter *self)
{
  gint64 end_ns = ss_recording_end_ns (self->recording);

  put_memory (self, end_ns);
  put_utilization (self, end_ns);
}
