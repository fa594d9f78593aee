/* SPDX-License-Identifier: MIT
 *
 * What happened when, in words: steps, in them phases, in those layers; and the two moments that
 * matter.
 */
#include "output/formats/trace-private.h"

static void
put_step (SsTraceWriter *self, const SsStepRecord *step)
{
  g_autofree char *name = g_strdup_printf ("ProfilerStep#%u", step->step);

  ss_trace_begin (self, "X", "user_annotation", name, SS_TRACE_PHASES, step->start_ns);
  ss_trace_open_args (self, step->end_ns - step->start_ns);
  ss_trace_arg_uint (self, "peak_allocated_bytes", step->peak_allocated_bytes);
  ss_trace_arg_uint (self, "peak_reserved_bytes", step->peak_reserved_bytes);
  ss_trace_close_args (self);
}

/* What takes no time of the device, as loading does, is a moment. */
static void
put_phase (SsTraceWriter *self, const SsPhaseRecord *phase)
{
  gboolean is_moment = phase->start_ns == phase->end_ns;

  ss_trace_begin (self, is_moment ? "i" : "X", "user_annotation", phase->name, SS_TRACE_PHASES,
                  phase->start_ns);
  if (is_moment)
    g_string_append (self->json, ",\"s\":\"t\",\"args\":{");
  else
    ss_trace_open_args (self, phase->end_ns - phase->start_ns);
  if (phase->micro_batch > 0)
    ss_trace_arg_uint (self, "micro_batch", phase->micro_batch);
  ss_trace_arg_uint (self, "start_allocated_bytes", phase->start_allocated_bytes);
  ss_trace_arg_uint (self, "peak_allocated_bytes", phase->peak_allocated_bytes);
  ss_trace_arg_uint (self, "end_allocated_bytes", phase->end_allocated_bytes);
  ss_trace_close_args (self);
}

static gboolean
is_same_layer (const SsOpEvent *a, const SsOpEvent *b)
{
  return a->layer == b->layer && a->phase == b->phase && a->is_recompute == b->is_recompute
         && a->is_backward == b->is_backward;
}

static void
put_layer (SsTraceWriter *self, const SsOpEvent *first, const SsOpEvent *last)
{
  g_autofree char *name = g_strdup_printf ("layer %d%s", first->layer,
                                           first->is_recompute ? ", recomputed"
                                           : first->is_backward ? ", backward" : "");

  ss_trace_begin (self, "X", "user_annotation", name, SS_TRACE_PHASES, first->start_ns);
  ss_trace_open_args (self, last->end_ns - first->start_ns);
  ss_trace_close_args (self);
}

/* A layer is a run of neighbours among the ops of the compute stream. */
static void
put_layers (SsTraceWriter *self)
{
  const SsOpEvent *first = NULL, *last = NULL;

  for (guint i = 0; i < self->recording->ops->len; i++)
    {
      const SsOpEvent *op = &g_array_index (self->recording->ops, SsOpEvent, i);

      if (op->stream != 0)
        continue;
      if (first != NULL && !is_same_layer (first, op))
        {
          put_layer (self, first, last);
          first = NULL;
        }
      if (first == NULL && op->layer >= 0)
        first = op;
      last = op;
    }
  if (first != NULL)
    put_layer (self, first, last);
}

static void
put_moment (SsTraceWriter *self, const char *scope, gint64 ns, const char *what, guint64 bytes,
            const char *after)
{
  g_autofree char *amount = ss_format_bytes (bytes, SS_MEMORY_GIB, 2);
  g_autofree char *name = g_strconcat (what, amount, after, NULL);

  ss_trace_begin (self, "i", "stepsim", name, SS_TRACE_ALLOCATOR, ns);
  g_string_append_printf (self->json, ",\"s\":\"%s\",\"args\":{", scope);
  ss_trace_arg_uint (self, "bytes", bytes);
}

void
ss_trace_put_spans (SsTraceWriter *self)
{
  const SsRecording *recording = self->recording;

  for (guint i = 0; i < recording->steps->len; i++)
    put_step (self, &g_array_index (recording->steps, SsStepRecord, i));
  for (guint i = 0; i < recording->phases->len; i++)
    put_phase (self, &g_array_index (recording->phases, SsPhaseRecord, i));
  put_layers (self);
  put_moment (self, "p", recording->peak.device_ns, "peak: ", recording->peak.allocated_bytes,
              " allocated");
  ss_trace_close_args (self);
  if (!recording->is_oom)
    return;
  put_moment (self, "g", recording->oom.at.device_ns, "OUT OF MEMORY: ",
              recording->oom.requested_bytes, " asked");
  ss_trace_arg_text (self, "message", recording->oom.message);
  ss_trace_arg_text (self, "op", recording->oom.op_name);
  ss_trace_arg_text (self, "tensor", recording->oom.tensor);
  ss_trace_close_args (self);
}
