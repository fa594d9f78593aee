/* SPDX-License-Identifier: MIT */
#include "output/tables/timeline-csv.h"

#include <string.h>

static const char *
action_name (SsMemoryAction action)
{
  switch (action)
    {
    case SS_EVENT_ALLOC: return "alloc";
    case SS_EVENT_FREE: return "free";
    case SS_EVENT_SEGMENT_ALLOC: return "segment_alloc";
    case SS_EVENT_SEGMENT_FREE: return "segment_free";
    case SS_EVENT_SEGMENT_MAP: return "segment_map";
    case SS_EVENT_SEGMENT_UNMAP: return "segment_unmap";
    case SS_EVENT_OOM: return "oom";
    }
  g_assert_not_reached ();
}

static void
put_header (GString *csv)
{
  g_string_append (csv,
                   "seq,time_ms,host_ms,step,micro_batch,phase,layer,op,module,action,category,"
                   "requested_bytes,block_bytes,allocated_bytes,reserved_bytes");
  for (guint i = 0; i < SS_N_CATEGORIES; i++)
    g_string_append_printf (csv, ",%s_bytes", ss_category_name ((SsCategory) i));
  g_string_append (csv, ",stream,stream_ms\n");
}

/* RFC 4180, section 2: fields with a comma or quote are quoted, quotes doubled. */
static void
put_field (GString *csv, const char *text)
{
  g_autofree char *clean = ss_clean_text (text);

  g_string_append_c (csv, ',');
  if (strpbrk (clean, ",\"") == NULL)
    {
      g_string_append (csv, clean);
      return;
    }
  g_string_append_c (csv, '"');
  for (const char *c = clean; *c != '\0'; c++)
    g_string_append_printf (csv, *c == '"' ? "\"%c" : "%c", *c);
  g_string_append_c (csv, '"');
}

static void
put_place (GString *csv, const SsRecording *recording, const SsMemoryEvent *event)
{
  const SsOpEvent *op = NULL;

  if (event->op < recording->ops->len)
    op = &g_array_index (recording->ops, SsOpEvent, event->op);
  if (event->phase < recording->phases->len)
    {
      const SsPhaseRecord *phase = &g_array_index (recording->phases, SsPhaseRecord, event->phase);

      g_string_append_printf (csv, ",%u,%u", phase->step, phase->micro_batch);
      put_field (csv, phase->name);
    }
  else
    g_string_append (csv, ",,,");
  if (op != NULL && op->layer >= 0)
    g_string_append_printf (csv, ",%d", op->layer);
  else
    g_string_append_c (csv, ',');
  put_field (csv, op != NULL ? op->name : NULL);
  put_field (csv, event->module_id < recording->modules->len
                    ? g_ptr_array_index (recording->modules, event->module_id)
                    : NULL);
}

/* Keeps the running sum of each category; segments and a failed request belong to none. */
static void
put_event (GString *csv, const SsRecording *recording, guint index, guint64 *by_category)
{
  const SsMemoryEvent *event = &g_array_index (recording->memory, SsMemoryEvent, index);
  gboolean of_tensor = event->action == SS_EVENT_ALLOC || event->action == SS_EVENT_FREE
                       || event->action == SS_EVENT_OOM;

  if (event->action == SS_EVENT_ALLOC)
    by_category[event->category] += event->block_bytes;
  else if (event->action == SS_EVENT_FREE)
    by_category[event->category] -= event->block_bytes;
  g_string_append_printf (csv, "%u,", index);
  ss_recording_append_ms (csv, event->device_ns);
  g_string_append_c (csv, ',');
  ss_recording_append_ms (csv, event->host_ns);
  put_place (csv, recording, event);
  g_string_append_printf (csv, ",%s,%s", action_name ((SsMemoryAction) event->action),
                          of_tensor ? ss_category_name ((SsCategory) event->category) : "");
  g_string_append_printf (csv, ",%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT, event->bytes,
                          event->block_bytes);
  g_string_append_printf (csv, ",%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT, event->allocated_bytes,
                          event->reserved_bytes);
  for (guint i = 0; i < SS_N_CATEGORIES; i++)
    g_string_append_printf (csv, ",%" G_GUINT64_FORMAT, by_category[i]);
  g_string_append_printf (csv, ",%s,", ss_stream_id_name (event->stream));
  ss_recording_append_ms (csv, event->stream_ns);
  g_string_append_c (csv, '\n');
}

static GBytes *
render (const SsRecording        *recording,
        const SsOutputSettings   *settings G_GNUC_UNUSED,
        GError                  **error G_GNUC_UNUSED)
{
  GString *csv = g_string_new (NULL);
  guint64 by_category[SS_N_CATEGORIES] = { 0 };

  put_header (csv);
  for (guint i = 0; i < recording->memory->len; i++)
    put_event (csv, recording, i, by_category);
  return g_string_free_to_bytes (csv);
}

const SsOutput ss_output_timeline_csv = {
  .name = "timeline.csv",
  .description = "every change of memory, one row each",
  .render = render,
};
