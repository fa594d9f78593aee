/* SPDX-License-Identifier: MIT
 *
 * Every op twice: as the kernel on its stream and as the call on the host thread, with the arrow
 * from call to kernel; and the arrows from a module's forward to its backward.
 */
#include "output/formats/trace-private.h"

#define NO_OP G_MAXUINT32

static const SsOpEvent *
op_at (const SsTraceWriter *self, guint i)
{
  return &g_array_index (self->recording->ops, SsOpEvent, i);
}

static void
put_arrow (SsTraceWriter *self, const char *kind, guint64 id, guint from_row, gint64 from_ns,
           guint to_row, gint64 to_ns)
{
  ss_trace_begin (self, "s", kind, kind, from_row, from_ns);
  g_string_append_printf (self->json, ",\"id\":%" G_GUINT64_FORMAT, id);
  ss_trace_end (self);
  ss_trace_begin (self, "f", kind, kind, to_row, to_ns);
  g_string_append_printf (self->json, ",\"id\":%" G_GUINT64_FORMAT ",\"bp\":\"e\"", id);
  ss_trace_end (self);
}

static void
put_kernel (SsTraceWriter *self, guint i)
{
  const SsOpEvent *op = op_at (self, i);

  ss_trace_begin (self, "X", "kernel", op->name, SS_TRACE_STREAM_ROW (op->stream), op->start_ns);
  ss_trace_open_args (self, op->end_ns - op->start_ns);
  if (op->module_id < self->recording->modules->len)
    ss_trace_arg_text (self, "module",
                       g_ptr_array_index (self->recording->modules, op->module_id));
  ss_trace_arg_uint (self, "flops", op->flops);
  ss_trace_arg_uint (self, "bytes", op->bytes);
  ss_trace_arg_uint (self, "correlation", i + 1);
  ss_trace_close_args (self);
}

/* The host is with a call until it makes the next one: that it waits for the device is in it. */
static void
put_call (SsTraceWriter *self, guint i)
{
  const SsOpEvent *op = op_at (self, i);
  gint64 until_ns = i + 1 < self->recording->ops->len ? op_at (self, i + 1)->issue_ns
                                                      : op->issue_ns;

  ss_trace_begin (self, "X", "cpu_op", op->name, SS_TRACE_HOST, op->issue_ns);
  ss_trace_open_args (self, MAX (until_ns - op->issue_ns, 0));
  ss_trace_arg_uint (self, "correlation", i + 1);
  ss_trace_close_args (self);
}

static gboolean
is_same_micro_batch (const SsTraceWriter *self, const SsOpEvent *a, const SsOpEvent *b)
{
  GArray *phases = self->recording->phases;
  const SsPhaseRecord *p, *q;

  if (a->phase >= phases->len || b->phase >= phases->len)
    return FALSE;
  p = &g_array_index (phases, SsPhaseRecord, a->phase);
  q = &g_array_index (phases, SsPhaseRecord, b->phase);
  return p->step == q->step && p->micro_batch == q->micro_batch && p->micro_batch > 0;
}

/* One arrow for each module and micro-batch: from its last forward op to its first backward op. */
static void
put_forward_backward (SsTraceWriter *self)
{
  guint n_modules = self->recording->modules->len;
  g_autofree guint32 *forward = g_new (guint32, MAX (n_modules, 1));
  guint64 id = self->recording->ops->len;

  for (guint i = 0; i < n_modules; i++)
    forward[i] = NO_OP;
  for (guint i = 0; i < self->recording->ops->len; i++)
    {
      const SsOpEvent *op = op_at (self, i), *from;

      if (op->module_id >= n_modules || op->is_recompute)
        continue;
      if (!op->is_backward)
        {
          forward[op->module_id] = i;
          continue;
        }
      if (forward[op->module_id] == NO_OP)
        continue;
      from = op_at (self, forward[op->module_id]);
      forward[op->module_id] = NO_OP;
      if (is_same_micro_batch (self, from, op))
        put_arrow (self, "fwdbwd", ++id, SS_TRACE_STREAM_ROW (from->stream), from->start_ns,
                   SS_TRACE_STREAM_ROW (op->stream), op->start_ns);
    }
}

void
ss_trace_put_ops (SsTraceWriter *self)
{
  for (guint i = 0; i < self->recording->ops->len; i++)
    {
      const SsOpEvent *op = op_at (self, i);

      put_kernel (self, i);
      put_call (self, i);
      put_arrow (self, "ac2g", i + 1, SS_TRACE_HOST, op->issue_ns, SS_TRACE_STREAM_ROW (op->stream),
                 op->start_ns);
    }
  put_forward_backward (self);
}
