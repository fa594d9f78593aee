/* SPDX-License-Identifier: MIT
 *
 * PyTorch's memory snapshots (torch.cuda.memory._dump_snapshot, 2.4 to 2.14) as real runs.
 */
#include "output/formats/address-map.h"
#include "output/formats/block-replay.h"
#include "output/formats/pickle-reader.h"
#include "output/formats/real-run.h"

typedef enum
{
  ALLOC,
  FREE_REQUESTED,
  FREE_COMPLETED,
  SEGMENT_ALLOC,
  SEGMENT_FREE,
  SEGMENT_MAP,
  SEGMENT_UNMAP,
  OOM,
  OTHER
} Action;

typedef struct
{
  Action action;
  guint64 address, bytes;
  gint64 time_us;
} Entry;

typedef struct
{
  SsPickle *pickle;
  SsPickleId root;
  gint device;
  GArray *entries;               /* Entry, oldest first */
  GError **error;
} Reader;

static gboolean G_GNUC_PRINTF (3, 4)
refuse (const Reader *self, SsPickleId id, const char *format, ...)
{
  g_autofree char *why = NULL;
  va_list arguments;

  va_start (arguments, format);
  why = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (self->error, SS_OUTPUT_ERROR, SS_OUTPUT_ERROR_INPUT,
               "byte %" G_GSIZE_FORMAT ": %s", ss_pickle_offset (self->pickle, id), why);
  return FALSE;
}

/* A file with one dict in many places would cost far more than its size. */
static gboolean
take (const Reader *self, SsPickleId dict, const char *what)
{
  if (ss_pickle_take (self->pickle, dict))
    return TRUE;
  return refuse (self, dict, "%s that stands in several places; each is one of its own", what);
}

/* A size, an address or a time: none is negative. */
static gboolean
number (const Reader *self, SsPickleId dict, const char *key, guint64 *value)
{
  gint64 integer;

  if (!ss_pickle_int (self->pickle, ss_pickle_get (self->pickle, dict, key), &integer)
      || integer < 0)
    return refuse (self, dict, "\"%s\" is missing or no whole number from 0 on", key);
  *value = (guint64) integer;
  return TRUE;
}

static gint64
number_or (const Reader *self, SsPickleId dict, const char *key, gint64 otherwise)
{
  gint64 integer;

  return ss_pickle_int (self->pickle, ss_pickle_get (self->pickle, dict, key), &integer)
           ? integer : otherwise;
}

/* ---- the history ---- */

static Action
action_of (const Reader *self, SsPickleId id)
{
  static const char *const names[] = { "alloc", "free_requested", "free_completed",
                                       "segment_alloc", "segment_free", "segment_map",
                                       "segment_unmap", "oom" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (ss_pickle_text_is (self->pickle, id, names[i]))
      return (Action) i;
  return OTHER;
}

static gboolean
read_entry (Reader *self, SsPickleId dict)
{
  SsPickleId action = ss_pickle_get (self->pickle, dict, "action");
  Entry entry = { .action = action_of (self, action) };

  if (!take (self, dict, "an entry of the history"))
    return FALSE;
  if (ss_pickle_type (self->pickle, action) != SS_PICKLE_TEXT || action == SS_PICKLE_ABSENT)
    return refuse (self, dict, "an entry of the history without an action");
  if (entry.action == OTHER)
    return TRUE;
  if (!number (self, dict, "size", &entry.bytes))
    return FALSE;
  if (entry.action != OOM && !number (self, dict, "addr", &entry.address))
    return FALSE;
  entry.time_us = number_or (self, dict, "time_us", 0);
  g_array_append_val (self->entries, entry);
  return TRUE;
}

/* -1: nothing was recorded. */
static gint
busiest_device (const Reader *self, SsPickleId traces)
{
  guint most = 0;
  gint busiest = -1;

  for (guint i = 0; i < ss_pickle_length (self->pickle, traces); i++)
    {
      guint n = ss_pickle_length (self->pickle, ss_pickle_item (self->pickle, traces, i));

      if (n > most)
        {
          most = n;
          busiest = (gint) i;
        }
    }
  return busiest;
}

static gboolean
read_history (Reader *self)
{
  SsPickleId traces = ss_pickle_get (self->pickle, self->root, "device_traces"), trace;
  guint n_devices = ss_pickle_length (self->pickle, traces);

  if (ss_pickle_type (self->pickle, self->root) != SS_PICKLE_DICT || traces == SS_PICKLE_ABSENT)
    return refuse (self, self->root, "no memory snapshot: there is no \"device_traces\"");
  if (self->device == SS_REAL_ANY_DEVICE)
    self->device = busiest_device (self, traces);
  if (self->device < 0 || (guint) self->device >= n_devices
      || ss_pickle_length (self->pickle, ss_pickle_item (self->pickle, traces,
                                                         (guint) self->device)) == 0)
    return refuse (self, traces, "no history of that device; torch.cuda.memory."
                                 "_record_memory_history() begins one");
  trace = ss_pickle_item (self->pickle, traces, (guint) self->device);
  for (guint i = 0; i < ss_pickle_length (self->pickle, trace); i++)
    if (!read_entry (self, ss_pickle_item (self->pickle, trace, i)))
      return FALSE;
  return TRUE;
}

/* ---- what was there before the history: the state at its end, undone ---- */

typedef struct
{
  SsAddressMap *segments;        /* group: expandable */
  SsAddressMap *blocks;
} State;

static gboolean
read_block (const Reader *self, const State *state, SsPickleId dict, guint64 address,
            guint64 *bytes)
{
  SsPickleId what = ss_pickle_get (self->pickle, dict, "state");

  if (!take (self, dict, "a block") || !number (self, dict, "size", bytes))
    return FALSE;
  if (ss_pickle_text_is (self->pickle, what, "inactive"))
    return TRUE;
  ss_address_map_insert (state->blocks, &(SsAddressRange) { address, *bytes, 0, 0 });
  return TRUE;
}

static gboolean
read_segment (const Reader *self, const State *state, SsPickleId dict)
{
  SsPickleId blocks = ss_pickle_get (self->pickle, dict, "blocks");
  SsAddressRange segment = { .group = ss_pickle_is_true (
                               self->pickle,
                               ss_pickle_get (self->pickle, dict, "is_expandable")) };
  guint64 at, bytes;

  if (!take (self, dict, "a segment"))
    return FALSE;
  if (number_or (self, dict, "device", 0) != self->device)
    return TRUE;
  if (!number (self, dict, "address", &segment.address)
      || !number (self, dict, "total_size", &segment.bytes))
    return FALSE;
  ss_address_map_insert (state->segments, &segment);
  at = segment.address;
  for (guint i = 0; i < ss_pickle_length (self->pickle, blocks); i++)
    {
      if (!read_block (self, state, ss_pickle_item (self->pickle, blocks, i), at, &bytes))
        return FALSE;
      at += bytes;
    }
  return TRUE;
}

static void
undo (const State *state, const Entry *entry)
{
  SsAddressRange range = { entry->address, entry->bytes, 0, entry->action == SEGMENT_UNMAP };

  switch (entry->action)
    {
    case ALLOC:
      ss_address_map_remove (state->blocks, entry->address, &range);
      break;
    case FREE_COMPLETED:
      ss_address_map_insert (state->blocks, &range);
      break;
    case SEGMENT_ALLOC:
    case SEGMENT_MAP:
      ss_address_map_cut (state->segments, entry->address, entry->bytes);
      break;
    case SEGMENT_FREE:
    case SEGMENT_UNMAP:
      ss_address_map_insert (state->segments, &range);
      break;
    case FREE_REQUESTED:
    case OOM:
    case OTHER:
      break;
    }
}

static gboolean
read_state_before (const Reader *self, const State *state)
{
  SsPickleId segments = ss_pickle_get (self->pickle, self->root, "segments");

  for (guint i = 0; i < ss_pickle_length (self->pickle, segments); i++)
    if (!read_segment (self, state, ss_pickle_item (self->pickle, segments, i)))
      return FALSE;
  for (guint i = self->entries->len; i-- > 0;)
    undo (state, &g_array_index (self->entries, Entry, i));
  return TRUE;
}

/* ---- forward again, with the sizes of blocks ---- */

static void
start (const State *state, SsBlockReplay *replay)
{
  g_autoptr (GArray) segments = ss_address_map_list (state->segments);
  g_autoptr (GArray) blocks = ss_address_map_list (state->blocks);

  for (guint i = 0; i < segments->len; i++)
    {
      const SsAddressRange *segment = &g_array_index (segments, SsAddressRange, i);

      ss_block_replay_add_segment (replay, segment->address, segment->bytes, segment->group != 0);
    }
  for (guint i = 0; i < blocks->len; i++)
    {
      const SsAddressRange *block = &g_array_index (blocks, SsAddressRange, i);

      ss_block_replay_add_block (replay, block->address, block->bytes);
    }
}

/* TRUE: it is an event of the run. */
static gboolean
redo (SsBlockReplay *replay, const Entry *entry, SsRealAction *action)
{
  switch (entry->action)
    {
    case ALLOC:
      ss_block_replay_alloc (replay, entry->address, entry->bytes);
      *action = SS_REAL_ALLOC;
      return TRUE;
    case FREE_REQUESTED:
      ss_block_replay_request_free (replay, entry->address);
      *action = SS_REAL_FREE;
      return TRUE;
    case OOM:
      *action = SS_REAL_OOM;
      return TRUE;
    case FREE_COMPLETED:
      ss_block_replay_complete_free (replay, entry->address);
      return FALSE;
    case SEGMENT_ALLOC:
    case SEGMENT_MAP:
      ss_block_replay_add_segment (replay, entry->address, entry->bytes,
                                   entry->action == SEGMENT_MAP);
      return FALSE;
    case SEGMENT_FREE:
    case SEGMENT_UNMAP:
      ss_block_replay_drop_segment (replay, entry->address, entry->bytes);
      return FALSE;
    case OTHER:
      return FALSE;
    }
  return FALSE;
}

static void
replay_history (const Reader *self, const State *state, SsRealRun *run)
{
  SsPickleId settings = ss_pickle_get (self->pickle, self->root, "allocator_settings");
  gint64 max_split = number_or (self, settings, "max_split_size", -1);
  g_autoptr (SsBlockReplay) replay
    = ss_block_replay_new (max_split < 0 ? G_MAXUINT64 : (guint64) max_split);

  start (state, replay);
  run->start_allocated_bytes = ss_block_replay_allocated_bytes (replay);
  run->start_reserved_bytes = ss_block_replay_reserved_bytes (replay);
  for (guint i = 0; i < self->entries->len; i++)
    {
      const Entry *entry = &g_array_index (self->entries, Entry, i);
      SsRealAction action;

      if (redo (replay, entry, &action))
        {
          SsRealEvent event = { entry->time_us, entry->bytes,
                                ss_block_replay_allocated_bytes (replay),
                                ss_block_replay_reserved_bytes (replay), (guint8) action };

          g_array_append_val (run->events, event);
        }
    }
}

/* ---- annotations ---- */

/* An end belongs to the last beginning of its name that has none. */
static void
end_span (SsRealRun *run, const char *name, gint64 time_us)
{
  guint least = run->spans->len > SS_PICKLE_MAX_DEPTH ? run->spans->len - SS_PICKLE_MAX_DEPTH : 0;

  for (guint i = run->spans->len; i-- > least;)
    {
      SsRealSpan *span = &g_array_index (run->spans, SsRealSpan, i);

      if (span->end_us != G_MAXINT64 || g_strcmp0 (span->name, name) != 0)
        continue;
      span->end_us = time_us;
      return;
    }
}

/* Longer ones are no name of an annotation; one text may stand in many of them. */
#define MAX_NAME_BYTES 1024

/* NULL: there is none. (transfer full) */
static char *
name_of (const Reader *self, SsPickleId dict)
{
  SsPickleId name = ss_pickle_get (self->pickle, dict, "name");

  return ss_pickle_text_bytes (self->pickle, name) <= MAX_NAME_BYTES
           ? ss_pickle_text (self->pickle, name) : NULL;
}

static gboolean
read_spans (const Reader *self, SsRealRun *run)
{
  SsPickleId all = ss_pickle_get (self->pickle, self->root, "external_annotations");

  for (guint i = 0; i < ss_pickle_length (self->pickle, all); i++)
    {
      SsPickleId dict = ss_pickle_item (self->pickle, all, i);
      SsPickleId stage = ss_pickle_get (self->pickle, dict, "stage");
      gint64 time_us = number_or (self, dict, "time_us", 0);
      g_autofree char *name = name_of (self, dict);

      if (!take (self, dict, "an annotation"))
        return FALSE;
      if (name == NULL || number_or (self, dict, "device", 0) != self->device)
        continue;
      if (ss_pickle_text_is (self->pickle, stage, "START"))
        ss_real_run_add_span (run, name, time_us, G_MAXINT64);
      else
        end_span (run, name, time_us);
    }
  ss_real_run_place_spans (run);
  return TRUE;
}

SsRealRun *
ss_snapshot_read (GBytes *bytes, gint device, GError **error)
{
  g_autoptr (SsPickle) pickle = ss_pickle_read (bytes, error);
  g_autoptr (SsRealRun) run = ss_real_run_new ("memory snapshot");
  g_autoptr (SsAddressMap) segments = ss_address_map_new (), blocks = ss_address_map_new ();
  g_autoptr (GArray) entries = g_array_new (FALSE, FALSE, sizeof (Entry));
  State state = { segments, blocks };
  Reader reader = { .pickle = pickle, .device = device, .entries = entries, .error = error };

  if (pickle == NULL)
    return NULL;
  reader.root = ss_pickle_root (pickle);
  if (!read_history (&reader) || !read_state_before (&reader, &state))
    return NULL;
  run->device = (guint) reader.device;
  replay_history (&reader, &state, run);
  if (run->events->len == 0)
    {
      refuse (&reader, reader.root, "the history holds no allocation");
      return NULL;
    }
  return read_spans (&reader, run) ? g_steal_pointer (&run) : NULL;
}
