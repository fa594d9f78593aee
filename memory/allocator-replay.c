/* SPDX-License-Identifier: MIT */
#include "memory/allocator-replay.h"

#include <string.h>

#include "memory/allocator-caching.h"
#include "memory/oom-text-private.h"

#define COLUMNS                                                                                    \
  "op,id,bytes,stream,result,segment,offset,block_bytes,allocated_bytes,reserved_bytes,"           \
  "active_bytes,inactive_split_bytes,num_alloc_retries\n"

/* fields of a row that are read; a row of a fixture has 13 */
enum
{
  OP,
  ID,
  BYTES,
  STREAM,
  N_INPUTS
};

typedef struct
{
  const SsAllocatorClass *klass;
  SsAllocatorSettings settings;
  const char *conf_override;
  char *conf;
  SsAllocator *allocator;        /* NULL: no event so far */
  GHashTable *blocks;            /* guint64 id -> SsBlock, NULL when it was freed or failed */
  GString *out;
} Replay;

typedef struct
{
  const char *text[N_INPUTS];
  guint64 id, bytes;
  guint stream;
} Row;

/* What was met is shown with its control characters escaped: the file may be anybody's. */
static gboolean
fail (GError **error, const char *reason, const char *met)
{
  g_autofree char *start = g_strndup (met, 60);
  g_autofree char *shown = g_strescape (start, NULL);

  g_set_error (error, SS_ALLOCATOR_ERROR, SS_ALLOCATOR_ERROR_EVENT, "%s, met '%s'", reason, shown);
  return FALSE;
}

static gboolean
read_count (const char *text, guint64 max, guint64 *value)
{
  return g_ascii_string_to_unsigned (text, 10, 0, max, value, NULL);
}

/* ---- settings ---- */

static gboolean
read_fraction (const char *text, double *fraction)
{
  char *end;

  if (g_str_equal (text, "unset"))
    return TRUE;
  *fraction = g_ascii_strtod (text, &end);
  return end != text && *end == '\0' && *fraction > 0 && *fraction <= 1;
}

static const char *
value_of (const char *comment, const char *key)
{
  size_t length = strlen (key);

  return strncmp (comment, key, length) == 0 && comment[length] == '=' ? comment + length + 1
                                                                       : NULL;
}

static gboolean
take_comment (Replay *self, const char *line, GError **error)
{
  const char *comment = line + 1 + strspn (line + 1, " "), *value;

  if (self->allocator)
    return TRUE;
  if ((value = value_of (comment, "conf")))
    {
      g_free (self->conf);
      self->conf = g_strdup (g_str_equal (value, "default") ? "" : value);
    }
  if ((value = value_of (comment, "capacity_total"))
      && !read_count (value, G_MAXINT64, &self->settings.capacity_bytes))
    return fail (error, "capacity_total is a number of bytes", value);
  if ((value = value_of (comment, "external_used"))
      && !read_count (value, G_MAXINT64, &self->settings.external_bytes))
    return fail (error, "external_used is a number of bytes", value);
  if ((value = value_of (comment, "memory_fraction"))
      && !read_fraction (value, &self->settings.memory_fraction))
    return fail (error, "memory_fraction is 'unset' or a number above 0, at most 1", value);
  return TRUE;
}

/* ---- rows ---- */

/* Cuts the line at its commas; a column that is not there is empty. */
static void
cut (char *line, Row *row)
{
  for (guint i = 0; i < N_INPUTS; i++)
    {
      char *comma = strchr (line, ',');

      row->text[i] = line;
      line = comma ? comma + 1 : line + strlen (line);
      if (comma)
        *comma = '\0';
    }
}

static void
print_row (Replay *self, const Row *row, const char *result, const SsBlock *block)
{
  const SsAllocatorStats *stats = ss_allocator_stats (self->allocator);

  g_string_append_printf (self->out, "%s,%s,%s,%s,%s,", row->text[OP], row->text[ID],
                          row->text[BYTES], row->text[STREAM], result);
  if (block && block->segment != G_MAXUINT)
    g_string_append_printf (self->out, "%u,%" G_GUINT64_FORMAT ",", block->segment,
                            block->offset_bytes);
  else
    g_string_append (self->out, ",,");
  if (*row->text[BYTES])
    g_string_append_printf (self->out, "%" G_GUINT64_FORMAT, block ? block->bytes : 0);
  g_string_append_printf (self->out,
                          ",%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT
                          ",%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT "\n",
                          stats->allocated_bytes, stats->reserved_bytes, stats->active_bytes,
                          stats->inactive_split_bytes, stats->n_retries);
}

static void
print_oom (Replay *self, const SsOomReport *report)
{
  g_autofree char *tried = ss_oom_size_text (report->requested_bytes);
  g_autofree char *total = ss_oom_size_text (self->settings.capacity_bytes);
  g_autofree char *free_bytes = ss_oom_size_text (report->free_bytes);
  g_autofree char *allocated = ss_oom_size_text (report->allocated_bytes);
  g_autofree char *rest = ss_oom_size_text (report->reserved_bytes - report->allocated_bytes);

  g_string_append_printf (self->out,
                          "# oom: tried=%s total=%s free=%s allocated=%s reserved_unallocated=%s\n",
                          tried, total, free_bytes, allocated, rest);
}

/* ---- events ---- */

static gboolean
do_alloc (Replay *self, const Row *row, GError **error)
{
  SsOomReport report;
  SsBlock *block;

  if (g_hash_table_contains (self->blocks, &row->id))
    return fail (error, "an id is used once", row->text[ID]);
  block = ss_allocator_allocate (self->allocator, row->bytes, row->stream, &report);
  g_hash_table_insert (self->blocks, g_memdup2 (&row->id, sizeof row->id), block);
  print_row (self, row, block ? "ok" : "oom", block);
  if (block == NULL)
    print_oom (self, &report);
  return TRUE;
}

static gboolean
do_free (Replay *self, const Row *row, GError **error)
{
  SsBlock *block = g_hash_table_lookup (self->blocks, &row->id);

  if (block == NULL)
    return fail (error, "an id that is freed must be in use", row->text[ID]);
  g_hash_table_insert (self->blocks, g_memdup2 (&row->id, sizeof row->id), NULL);
  ss_allocator_release (self->allocator, block);
  print_row (self, row, "ok", NULL);
  return TRUE;
}

static gboolean
do_record_stream (Replay *self, const Row *row, GError **error)
{
  SsBlock *block = g_hash_table_lookup (self->blocks, &row->id);

  if (block == NULL)
    return fail (error, "an id that a stream uses must be in use", row->text[ID]);
  ss_allocator_record_stream (self->allocator, block, row->stream);
  print_row (self, row, "ok", NULL);
  return TRUE;
}

static gboolean
do_sync (Replay *self, const Row *row, G_GNUC_UNUSED GError **error)
{
  ss_allocator_synchronize (self->allocator);
  print_row (self, row, "ok", NULL);
  return TRUE;
}

static gboolean
do_empty_cache (Replay *self, const Row *row, G_GNUC_UNUSED GError **error)
{
  ss_allocator_empty_cache (self->allocator);
  print_row (self, row, "ok", NULL);
  return TRUE;
}

static const struct
{
  const char *op;
  gboolean (*run) (Replay *self, const Row *row, GError **error);
  gboolean takes[N_INPUTS];
} events[] = {
  { "alloc", do_alloc, { [ID] = TRUE, [BYTES] = TRUE, [STREAM] = TRUE } },
  { "free", do_free, { [ID] = TRUE } },
  { "record_stream", do_record_stream, { [ID] = TRUE, [STREAM] = TRUE } },
  { "sync", do_sync, { FALSE } },
  { "empty_cache", do_empty_cache, { FALSE } },
};

/* Each column an event takes is a number, each other is empty. */
static gboolean
read_inputs (Row *row, const gboolean *takes, GError **error)
{
  static const char *const names[N_INPUTS] = { "op", "id", "bytes", "stream" };
  static const guint64 max[N_INPUTS] = { 0, G_MAXUINT64, G_MAXINT64, G_MAXUINT };
  guint64 value[N_INPUTS] = { 0 };

  for (guint i = ID; i < N_INPUTS; i++)
    if (takes[i] ? !read_count (row->text[i], max[i], &value[i]) : *row->text[i] != '\0')
      {
        g_autofree char *reason = g_strdup_printf (takes[i] ? "%s of %s is a whole number in range"
                                                            : "%s of %s stays empty",
                                                   names[i], row->text[OP]);

        return fail (error, reason, row->text[i]);
      }
  row->id = value[ID];
  row->bytes = value[BYTES];
  row->stream = (guint) value[STREAM];
  return TRUE;
}

static gboolean
take_event (Replay *self, char *line, GError **error)
{
  Row row;

  cut (line, &row);
  if (self->allocator == NULL)
    {
      self->settings.conf = self->conf_override ? self->conf_override : self->conf;
      self->allocator = ss_allocator_new (self->klass, &self->settings, error);
      if (self->allocator == NULL)
        return FALSE;
    }
  for (guint i = 0; i < G_N_ELEMENTS (events); i++)
    if (g_str_equal (row.text[OP], events[i].op))
      return read_inputs (&row, events[i].takes, error) && events[i].run (self, &row, error);
  return fail (error, "an event is one of alloc, free, record_stream, sync, empty_cache",
               row.text[OP]);
}

static gboolean
take_line (Replay *self, char *line, GError **error)
{
  size_t length = strlen (line);

  if (length > 0 && line[length - 1] == '\r')
    line[length - 1] = '\0';
  if (*line == '\0' || g_str_has_prefix (line, "op,"))
    return TRUE;
  return *line == '#' ? take_comment (self, line, error) : take_event (self, line, error);
}

static gboolean
take_lines (Replay *self, const char *path, char *text, gsize length, GError **error)
{
  char *end = text + length;

  for (guint line = 1; text < end; line++)
    {
      char *newline = memchr (text, '\n', (gsize) (end - text));
      char *stop = newline ? newline : end;
      gboolean ok;

      *stop = '\0';
      ok = strlen (text) == (gsize) (stop - text)
             ? take_line (self, text, error)
             : fail (error, "a line has no zero bytes", text);
      if (!ok)
        {
          g_prefix_error (error, "%s:%u: ", path, line);
          return FALSE;
        }
      text = stop + 1;
    }
  return TRUE;
}

gboolean
ss_allocator_replay_on (const SsAllocatorClass *klass,
                        const char             *path,
                        const char             *conf_override,
                        GString                *out,
                        GError                **error)
{
  Replay self = { .klass = klass, .conf_override = conf_override, .out = out,
                  .settings = { .capacity_bytes = G_MAXINT64 } };
  g_autofree char *text = NULL;
  gsize length;
  gboolean ok;

  if (!g_file_get_contents (path, &text, &length, error))
    return FALSE;
  g_string_append (out, COLUMNS);
  self.blocks = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  ok = take_lines (&self, path, text, length, error);
  g_hash_table_unref (self.blocks);
  ss_allocator_free (self.allocator);
  g_free (self.conf);
  return ok;
}

gboolean
ss_allocator_replay (const char *path, const char *conf_override, GString *out, GError **error)
{
  return ss_allocator_replay_on (&ss_allocator_caching, path, conf_override, out, error);
}
