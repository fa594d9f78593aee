/* SPDX-License-Identifier: MIT */
#include "output/formats/real-run.h"

#include <gio/gio.h>

SsRealRun *
ss_real_run_new (const char *format)
{
  SsRealRun *self = g_new0 (SsRealRun, 1);

  self->format = format;
  self->events = g_array_new (FALSE, FALSE, sizeof (SsRealEvent));
  self->spans = g_array_new (FALSE, FALSE, sizeof (SsRealSpan));
  return self;
}

void
ss_real_run_free (SsRealRun *self)
{
  if (self == NULL)
    return;
  for (guint i = 0; i < self->spans->len; i++)
    g_free (g_array_index (self->spans, SsRealSpan, i).name);
  g_array_unref (self->events);
  g_array_unref (self->spans);
  g_free (self);
}

void
ss_real_run_add_span (SsRealRun *self, const char *name, gint64 start_us, gint64 end_us)
{
  SsRealSpan span = { .name = g_strdup (name), .start_us = start_us, .end_us = end_us };

  g_array_append_val (self->spans, span);
}

/* The first event at that time or later. */
static guint
event_from (const SsRealRun *self, gint64 time_us)
{
  guint low = 0, high = self->events->len;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;

      if (g_array_index (self->events, SsRealEvent, middle).time_us < time_us)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

static gint
compare_spans (gconstpointer a, gconstpointer b)
{
  const SsRealSpan *p = a, *q = b;

  return p->start_us < q->start_us ? -1 : p->start_us > q->start_us;
}

void
ss_real_run_place_spans (SsRealRun *self)
{
  for (guint i = 0; i < self->spans->len; i++)
    {
      SsRealSpan *span = &g_array_index (self->spans, SsRealSpan, i);

      span->first_event = event_from (self, span->start_us);
      span->end_event = event_from (self, span->end_us);
    }
  g_array_sort (self->spans, compare_spans);
}

/* ---- files ---- */

static GBytes *
read_stream (GInputStream *stream, GError **error)
{
  g_autoptr (GByteArray) all = g_byte_array_new ();
  guint8 chunk[65536];

  for (;;)
    {
      gssize n = g_input_stream_read (stream, chunk, sizeof chunk, NULL, error);

      if (n < 0)
        return NULL;
      if (n == 0)
        return g_byte_array_free_to_bytes (g_steal_pointer (&all));
      if (all->len + (guint64) n > SS_REAL_MAX_BYTES)
        {
          g_set_error (error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_INPUT, "larger than 1 GiB");
          return NULL;
        }
      g_byte_array_append (all, chunk, (guint) n);
    }
}

static GBytes *
unpack (GBytes *packed, GError **error)
{
  g_autoptr (GInputStream) source = g_memory_input_stream_new_from_bytes (packed), stream = NULL;
  g_autoptr (GConverter) gzip
    = G_CONVERTER (g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP));

  stream = g_converter_input_stream_new (source, gzip);
  return read_stream (stream, error);
}

static gboolean
begins_with (GBytes *bytes, const char *what, gsize length)
{
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);

  if (size < length)
    return FALSE;
  for (gsize i = 0; i < length; i++)
    if (data[i] != what[i])
      return FALSE;
  return TRUE;
}

static GBytes *
read_file (const char *path, GError **error)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GFileInputStream) stream = g_file_read (file, NULL, error);
  g_autoptr (GBytes) bytes = NULL;

  if (stream == NULL)
    return NULL;
  bytes = read_stream (G_INPUT_STREAM (stream), error);
  if (bytes != NULL && begins_with (bytes, "\x1f\x8b", 2))
    return unpack (bytes, error);
  return g_steal_pointer (&bytes);
}

static SsRealRun *
read_any (GBytes *bytes, gint device, GError **error)
{
  if (begins_with (bytes, "\x80", 1))
    return ss_snapshot_read (bytes, device, error);
  if (begins_with (bytes, "{", 1) || begins_with (bytes, "[", 1) || begins_with (bytes, " ", 1)
      || begins_with (bytes, "\n", 1))
    return ss_kineto_read (bytes, device, error);
  if (begins_with (bytes, "PK\x03\x04", 4))
    g_set_error (error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_INPUT,
                 "byte 0: a zip archive, as torch.save makes them; a snapshot is written by "
                 "torch.cuda.memory._dump_snapshot");
  else
    g_set_error (error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_INPUT,
                 "byte 0: neither a pickle of protocol 2 to 5 nor JSON");
  return NULL;
}

SsRealRun *
ss_real_run_load (const char *path, gint device, GError **error)
{
  g_autofree char *shown = g_filename_display_name (path);
  g_autoptr (GError) cause = NULL;
  g_autoptr (GBytes) bytes = read_file (path, &cause);
  SsRealRun *run = bytes != NULL ? read_any (bytes, device, &cause) : NULL;

  if (run == NULL)
    g_set_error (error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_INPUT, "%s: %s", shown, cause->message);
  return run;
}
