/* SPDX-License-Identifier: MIT */
#include "output/formats/trace.h"

#include <string.h>

#include "output/formats/trace-private.h"

void
ss_trace_begin (SsTraceWriter *self,
                const char    *type,
                const char    *category,
                const char    *name,
                guint          row,
                gint64         ns)
{
  g_string_append (self->json, self->n_events++ > 0 ? ",\n" : "\n");
  g_string_append_printf (self->json, "{\"ph\":\"%s\"", type);
  if (category != NULL)
    g_string_append_printf (self->json, ",\"cat\":\"%s\"", category);
  g_string_append (self->json, ",\"name\":");
  ss_json_append_text (self->json, name);
  g_string_append_printf (self->json, ",\"pid\":%u,\"tid\":%u,\"ts\":", SS_TRACE_PID, row);
  ss_json_append_us (self->json, ns);
}

void
ss_trace_end (SsTraceWriter *self)
{
  g_string_append_c (self->json, '}');
}

void
ss_trace_open_args (SsTraceWriter *self, gint64 duration_ns)
{
  g_string_append (self->json, ",\"dur\":");
  ss_json_append_us (self->json, duration_ns);
  g_string_append (self->json, ",\"args\":{");
}

static void
begin_arg (SsTraceWriter *self, const char *key)
{
  if (self->json->str[self->json->len - 1] != '{')
    g_string_append_c (self->json, ',');
  g_string_append_printf (self->json, "\"%s\":", key);
}

void
ss_trace_arg_uint (SsTraceWriter *self, const char *key, guint64 value)
{
  begin_arg (self, key);
  g_string_append_printf (self->json, "%" G_GUINT64_FORMAT, value);
}

void
ss_trace_arg_text (SsTraceWriter *self, const char *key, const char *text)
{
  begin_arg (self, key);
  ss_json_append_text (self->json, text);
}

void
ss_trace_close_args (SsTraceWriter *self)
{
  g_string_append (self->json, "}}");
}

/* ---- names ---- */

static void
put_name (SsTraceWriter *self, const char *what, guint row, const char *name, guint order)
{
  g_autofree char *sort = g_strdup_printf ("%.*s_sort_index", (int) (strchr (what, '_') - what),
                                           what);

  ss_trace_begin (self, "M", NULL, what, row, 0);
  g_string_append (self->json, ",\"args\":{");
  ss_trace_arg_text (self, "name", name);
  ss_trace_close_args (self);
  ss_trace_begin (self, "M", NULL, sort, row, 0);
  g_string_append (self->json, ",\"args\":{");
  ss_trace_arg_uint (self, "sort_index", order);
  ss_trace_close_args (self);
}

static void
put_names (SsTraceWriter *self)
{
  const SsRecording *recording = self->recording;
  g_autofree char *device = ss_clean_text (recording->device_name);
  g_autofree char *process = g_strdup_printf ("stepsim: rank 0, %s (simulated)", device);
  gboolean is_used[SS_N_STREAMS] = { [SS_STREAM_COMPUTE] = TRUE };

  for (guint i = 0; i < recording->ops->len; i++)
    is_used[g_array_index (recording->ops, SsOpEvent, i).stream] = TRUE;
  put_name (self, "process_name", 0, process, 1);
  put_name (self, "thread_name", SS_TRACE_PHASES, "steps, phases and layers", 1);
  for (guint i = 0; i < SS_N_STREAMS; i++)
    {
      g_autofree char *name = g_strconcat ("stream: ", ss_stream_id_name (i), NULL);

      if (is_used[i])
        put_name (self, "thread_name", SS_TRACE_STREAM_ROW (i), name, SS_TRACE_STREAM_ROW (i));
    }
  put_name (self, "thread_name", SS_TRACE_ALLOCATOR, "allocator", SS_TRACE_ALLOCATOR);
  put_name (self, "thread_name", SS_TRACE_HOST, "host thread", SS_TRACE_HOST);
}

/* ---- the file ---- */

static GBytes *
render (const SsRecording        *recording,
        const SsOutputSettings   *settings G_GNUC_UNUSED,
        GError                  **error G_GNUC_UNUSED)
{
  SsTraceWriter writer = { .recording = recording, .json = g_string_new (NULL) };

  g_string_append (writer.json, "{\"displayTimeUnit\":\"ms\",\"baseTimeNanoseconds\":0,\n"
                                "\"stepsim\":{\"simulated\":true,\"scenario\":");
  ss_json_append_text (writer.json, recording->scenario_name);
  g_string_append (writer.json, ",\"model\":");
  ss_json_append_text (writer.json, recording->model_name);
  g_string_append (writer.json, ",\"device\":");
  ss_json_append_text (writer.json, recording->device_name);
  g_string_append (writer.json, "},\n\"traceEvents\":[");
  put_names (&writer);
  ss_trace_put_spans (&writer);
  ss_trace_put_ops (&writer);
  ss_trace_put_counters (&writer);
  g_string_append (writer.json, "\n]}\n");
  return g_string_free_to_bytes (writer.json);
}

const SsOutput ss_output_trace = {
  .name = "trace.json",
  .description = "the run as trace events, for Perfetto",
  .render = render,
};
