/* SPDX-License-Identifier: MIT */
#include "output/formats/snapshot.h"

#include "output/formats/address-map.h"
#include "output/verdict.h"
#include "output/formats/pickle-writer.h"

/* PyTorch serves its pool of small blocks in segments and pages of this size
 * (c10/cuda/CUDACachingAllocator.cpp, kSmallBuffer). */
#define SMALL_SEGMENT_BYTES 2097152

typedef struct
{
  const SsRecording *recording;
  SsPickleWriter *pickle;
  SsAddressMap *segments;        /* tag: bytes of the first event that made it */
  SsAddressMap *blocks;          /* in use; tag: index of the event that made it */
  GHashTable *frames;            /* text of both frames -> number + 1 */
  gint64 time_us;
  guint32 phase;
  gboolean is_expandable;
} Snapshot;

/* Segments stand alone; pages that touch are one segment if they serve the same pool. */
enum { GROUP_SEGMENT, GROUP_SMALL_PAGES, GROUP_LARGE_PAGES };

static const SsMemoryEvent *
event_at (const Snapshot *self, guint64 i)
{
  return &g_array_index (self->recording->memory, SsMemoryEvent, (guint) i);
}

static void
put_int (Snapshot *self, const char *key, guint64 value)
{
  ss_pickle_writer_key (self->pickle, key);
  ss_pickle_writer_int (self->pickle, (gint64) value);
}

static void
put_text (Snapshot *self, const char *key, const char *text)
{
  ss_pickle_writer_key (self->pickle, key);
  ss_pickle_writer_text (self->pickle, text);
}

/* ---- frames: what a block is ---- */

static void
put_frame (Snapshot *self, const char *name)
{
  ss_pickle_writer_item (self->pickle);
  ss_pickle_writer_begin_dict (self->pickle);
  put_text (self, "name", name);
  put_text (self, "filename", self->recording->scenario_name);
  put_int (self, "line", 0);
  ss_pickle_writer_end_dict (self->pickle);
}

/* "model.layers.3.mlp.up_proj: activations" */
static char *
tensor_name (const Snapshot *self, const SsMemoryEvent *event)
{
  const char *module = "";

  if (event->module_id < self->recording->modules->len)
    module = g_ptr_array_index (self->recording->modules, event->module_id);
  return g_strdup_printf ("%s: %s", *module != '\0' ? module : "model",
                          ss_category_name ((SsCategory) event->category));
}

/* "aten::mm, step 1, forward, micro-batch 1, layer 3" */
static char *
place_name (const Snapshot *self, const SsMemoryEvent *event)
{
  GString *text = g_string_new (NULL);
  const SsOpEvent *op = ss_verdict_maker (self->recording, event);

  if (op != NULL)
    g_string_append (text, op->name);
  if (event->phase < self->recording->phases->len)
    {
      const SsPhaseRecord *phase
        = &g_array_index (self->recording->phases, SsPhaseRecord, event->phase);

      if (text->len > 0)
        g_string_append (text, ", ");
      if (phase->step > 0)
        g_string_append_printf (text, "step %u, ", phase->step);
      g_string_append (text, phase->name);
      if (phase->micro_batch > 0)
        g_string_append_printf (text, ", micro-batch %u", phase->micro_batch);
    }
  if (op != NULL && op->layer >= 0)
    g_string_append_printf (text, ", layer %d", op->layer);
  return g_string_free (text, FALSE);
}

/* Blocks of one op and kind share their frames in the file. */
static void
put_frames (Snapshot *self, const SsMemoryEvent *event)
{
  g_autofree char *tensor = tensor_name (self, event), *place = place_name (self, event);
  g_autofree char *key = g_strconcat (tensor, "\n", place, NULL);
  gpointer number = g_hash_table_lookup (self->frames, key);

  ss_pickle_writer_key (self->pickle, "frames");
  if (number != NULL)
    {
      ss_pickle_writer_again (self->pickle, GPOINTER_TO_UINT (number) - 1);
      return;
    }
  ss_pickle_writer_begin_list (self->pickle);
  put_frame (self, tensor);
  put_frame (self, place);
  ss_pickle_writer_end_list (self->pickle);
  g_hash_table_insert (self->frames, g_steal_pointer (&key),
                       GUINT_TO_POINTER (ss_pickle_writer_remember (self->pickle) + 1));
}

static void
put_no_frames (Snapshot *self)
{
  ss_pickle_writer_key (self->pickle, "frames");
  ss_pickle_writer_begin_list (self->pickle);
  ss_pickle_writer_end_list (self->pickle);
}

/* ---- the history ---- */

static void
begin_entry (Snapshot *self, const char *action, const SsMemoryEvent *event, guint64 bytes)
{
  ss_pickle_writer_item (self->pickle);
  ss_pickle_writer_begin_dict (self->pickle);
  put_text (self, "action", action);
  put_int (self, "size", bytes);
  put_int (self, "stream", event->stream);
  put_int (self, "time_us", (guint64) self->time_us);
  put_text (self, "compile_context", "N/A");
  ss_pickle_writer_key (self->pickle, "pool_id");
  ss_pickle_writer_pair (self->pickle, 0, 0);
}

static void
put_entry (Snapshot *self, const char *action, const SsMemoryEvent *event,
           const SsMemoryEvent *origin)
{
  begin_entry (self, action, event, event->bytes);
  put_int (self, "addr", event->address);
  put_text (self, "user_metadata",
            origin != NULL ? ss_category_name ((SsCategory) origin->category) : "");
  if (origin != NULL)
    put_frames (self, origin);
  else
    put_no_frames (self);
  ss_pickle_writer_end_dict (self->pickle);
}

static void
put_oom (Snapshot *self, const SsMemoryEvent *event)
{
  begin_entry (self, "oom", event, self->recording->oom.requested_bytes);
  put_int (self, "device_free", self->recording->oom.free_bytes);
  put_text (self, "user_metadata", ss_category_name ((SsCategory) event->category));
  put_frames (self, event);
  ss_pickle_writer_end_dict (self->pickle);
}

/* A free carries the frames of its allocation, as with PyTorch's context='alloc'. */
static void
put_block_event (Snapshot *self, guint i)
{
  const SsMemoryEvent *event = event_at (self, i), *origin = event;
  SsAddressRange range = { event->address, event->block_bytes, i, 0 };

  if (event->bytes == 0 || event->block_bytes == 0)
    return;
  if (event->action == SS_EVENT_ALLOC)
    {
      ss_address_map_insert (self->blocks, &range);
      put_entry (self, "alloc", event, event);
      return;
    }
  if (ss_address_map_remove (self->blocks, event->address, &range))
    origin = event_at (self, range.tag);
  put_entry (self, "free_requested", event, origin);
  put_entry (self, "free_completed", event, origin);
}

static void
put_segment_event (Snapshot *self, const SsMemoryEvent *event)
{
  SsAddressRange range = { event->address, event->bytes, event->bytes, GROUP_SEGMENT };

  switch ((SsMemoryAction) event->action)
    {
    case SS_EVENT_SEGMENT_ALLOC:
      ss_address_map_insert (self->segments, &range);
      put_entry (self, "segment_alloc", event, NULL);
      break;
    case SS_EVENT_SEGMENT_MAP:
      range.group = event->bytes <= SMALL_SEGMENT_BYTES ? GROUP_SMALL_PAGES : GROUP_LARGE_PAGES;
      self->is_expandable = TRUE;
      ss_address_map_join (self->segments, &range);
      put_entry (self, "segment_map", event, NULL);
      break;
    case SS_EVENT_SEGMENT_FREE:
      ss_address_map_cut (self->segments, event->address, event->bytes);
      put_entry (self, "segment_free", event, NULL);
      break;
    case SS_EVENT_SEGMENT_UNMAP:
      ss_address_map_cut (self->segments, event->address, event->bytes);
      put_entry (self, "segment_unmap", event, NULL);
      break;
    case SS_EVENT_ALLOC:
    case SS_EVENT_FREE:
    case SS_EVENT_OOM:
      g_assert_not_reached ();
    }
}

/* Microseconds of the host; one more where a phase begins, so that times tell phases apart. */
static void
set_time (Snapshot *self, const SsMemoryEvent *event)
{
  gint64 least_us = event->phase != self->phase ? self->time_us + 1 : self->time_us;

  self->time_us = MAX (event->host_ns / 1000, least_us);
  self->phase = event->phase;
}

/* Without a cache the segment goes within the release of its block and is noted before it.
 * PyTorch releases first, and so must the file: its viewer undoes it from the end, and looks for
 * the segment of each block. */
static gboolean
goes_with_its_block (const Snapshot *self, guint i)
{
  return i + 1 < self->recording->memory->len && event_at (self, i)->action == SS_EVENT_SEGMENT_FREE
         && event_at (self, i + 1)->action == SS_EVENT_FREE
         && event_at (self, i + 1)->address == event_at (self, i)->address;
}

/* The event that comes at place i of the file. */
static guint
place (const Snapshot *self, guint i)
{
  if (goes_with_its_block (self, i))
    return i + 1;
  return i > 0 && goes_with_its_block (self, i - 1) ? i - 1 : i;
}

static void
put_history (Snapshot *self, GArray *phase_us)
{
  ss_pickle_writer_key (self->pickle, "device_traces");
  ss_pickle_writer_begin_list (self->pickle);
  ss_pickle_writer_item (self->pickle);
  ss_pickle_writer_begin_list (self->pickle);
  for (guint i = 0; i < self->recording->memory->len; i++)
    {
      guint index = place (self, i);
      const SsMemoryEvent *event = event_at (self, index);

      set_time (self, event);
      while (phase_us->len <= event->phase && event->phase < self->recording->phases->len)
        g_array_append_val (phase_us, self->time_us);
      if (event->action == SS_EVENT_ALLOC || event->action == SS_EVENT_FREE)
        put_block_event (self, index);
      else if (event->action == SS_EVENT_OOM)
        put_oom (self, event);
      else
        put_segment_event (self, event);
    }
  ss_pickle_writer_end_list (self->pickle);
  ss_pickle_writer_end_list (self->pickle);
}

/* ---- the state at the end ---- */

static void
put_block (Snapshot *self, guint64 address, guint64 bytes, const SsMemoryEvent *origin)
{
  if (bytes == 0)
    return;
  ss_pickle_writer_item (self->pickle);
  ss_pickle_writer_begin_dict (self->pickle);
  put_int (self, "address", address);
  put_int (self, "size", bytes);
  put_int (self, "requested_size", origin != NULL ? origin->bytes : 0);
  put_text (self, "state", origin != NULL ? "active_allocated" : "inactive");
  if (origin != NULL)
    put_frames (self, origin);
  else
    put_no_frames (self);
  ss_pickle_writer_end_dict (self->pickle);
}

/* What no block in use covers is a block that is not in use. */
static void
put_blocks (Snapshot *self, const SsAddressRange *segment, const SsAddressRange *blocks,
            guint n_blocks)
{
  guint64 at = segment->address;

  ss_pickle_writer_key (self->pickle, "blocks");
  ss_pickle_writer_begin_list (self->pickle);
  for (guint i = 0; i < n_blocks; i++)
    {
      put_block (self, at, blocks[i].address - at, NULL);
      put_block (self, blocks[i].address, blocks[i].bytes, event_at (self, blocks[i].tag));
      at = blocks[i].address + blocks[i].bytes;
    }
  put_block (self, at, segment->address + segment->bytes - at, NULL);
  ss_pickle_writer_end_list (self->pickle);
}

static void
put_segment (Snapshot *self, const SsAddressRange *segment, const SsAddressRange *blocks,
             guint n_blocks)
{
  guint64 in_use = 0, requested = 0;

  for (guint i = 0; i < n_blocks; i++)
    {
      in_use += blocks[i].bytes;
      requested += event_at (self, blocks[i].tag)->bytes;
    }
  ss_pickle_writer_item (self->pickle);
  ss_pickle_writer_begin_dict (self->pickle);
  put_int (self, "device", 0);
  put_int (self, "address", segment->address);
  put_int (self, "total_size", segment->bytes);
  put_int (self, "allocated_size", in_use);
  put_int (self, "active_size", in_use);
  put_int (self, "requested_size", requested);
  put_int (self, "stream", n_blocks > 0 ? event_at (self, blocks[0].tag)->stream : 0);
  put_text (self, "segment_type", segment->tag <= SMALL_SEGMENT_BYTES ? "small" : "large");
  ss_pickle_writer_key (self->pickle, "segment_pool_id");
  ss_pickle_writer_pair (self->pickle, 0, 0);
  ss_pickle_writer_key (self->pickle, "is_expandable");
  ss_pickle_writer_bool (self->pickle, segment->group != GROUP_SEGMENT);
  put_no_frames (self);
  put_blocks (self, segment, blocks, n_blocks);
  ss_pickle_writer_end_dict (self->pickle);
}

static void
put_segments (Snapshot *self)
{
  g_autoptr (GArray) segments = ss_address_map_list (self->segments);
  g_autoptr (GArray) blocks = ss_address_map_list (self->blocks);
  const SsAddressRange *block = (const SsAddressRange *) (void *) blocks->data;
  guint next = 0;

  ss_pickle_writer_key (self->pickle, "segments");
  ss_pickle_writer_begin_list (self->pickle);
  for (guint i = 0; i < segments->len; i++)
    {
      const SsAddressRange *segment = &g_array_index (segments, SsAddressRange, i);
      guint first = next;

      while (next < blocks->len && block[next].address < segment->address + segment->bytes)
        next++;
      put_segment (self, segment, block + first, next - first);
    }
  ss_pickle_writer_end_list (self->pickle);
}

/* ---- phases, and the file ---- */

static void
put_annotation (Snapshot *self, const char *stage, const char *name, gint64 time_us)
{
  ss_pickle_writer_item (self->pickle);
  ss_pickle_writer_begin_dict (self->pickle);
  put_text (self, "stage", stage);
  put_text (self, "name", name);
  put_int (self, "device", 0);
  put_int (self, "time_us", (guint64) time_us);
  ss_pickle_writer_end_dict (self->pickle);
}

/* Optimizer and zero_grad under the beginnings of PyTorch's own names, by which readers find
 * them. */
static char *
annotation_name (const SsPhaseRecord *phase)
{
  if (g_str_equal (phase->name, "optimizer"))
    return g_strdup ("Optimizer.step#stepsim");
  if (g_str_equal (phase->name, "zero_grad"))
    return g_strdup ("Optimizer.zero_grad#stepsim");
  return g_strdup_printf ("stepsim.%s", phase->name);
}

static void
put_annotations (Snapshot *self, GArray *phase_us)
{
  ss_pickle_writer_key (self->pickle, "external_annotations");
  ss_pickle_writer_begin_list (self->pickle);
  for (guint i = 0; i < phase_us->len; i++)
    {
      const SsPhaseRecord *phase = &g_array_index (self->recording->phases, SsPhaseRecord, i);
      g_autofree char *name = annotation_name (phase);

      put_annotation (self, "START", name, g_array_index (phase_us, gint64, i));
      if (phase->is_complete)
        put_annotation (self, "END", name,
                        i + 1 < phase_us->len ? g_array_index (phase_us, gint64, i + 1)
                                              : self->time_us + 1);
    }
  ss_pickle_writer_end_list (self->pickle);
}

static GBytes *
render (const SsRecording        *recording,
        const SsOutputSettings   *settings G_GNUC_UNUSED,
        GError                  **error G_GNUC_UNUSED)
{
  g_autoptr (SsPickleWriter) pickle = ss_pickle_writer_new ();
  g_autoptr (SsAddressMap) segments = ss_address_map_new (), blocks = ss_address_map_new ();
  g_autoptr (GHashTable) frames = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GArray) phase_us = g_array_new (FALSE, FALSE, sizeof (gint64));
  Snapshot self = { .recording = recording, .pickle = pickle, .segments = segments,
                    .blocks = blocks, .frames = frames };

  ss_pickle_writer_begin_dict (pickle);
  put_history (&self, phase_us);
  put_segments (&self);
  ss_pickle_writer_key (pickle, "allocator_settings");
  ss_pickle_writer_begin_dict (pickle);
  ss_pickle_writer_key (pickle, "expandable_segments");
  ss_pickle_writer_bool (pickle, self.is_expandable);
  ss_pickle_writer_end_dict (pickle);
  put_annotations (&self, phase_us);
  ss_pickle_writer_end_dict (pickle);
  return ss_pickle_writer_finish (pickle);
}

const SsOutput ss_output_snapshot = {
  .name = "snapshot.pickle",
  .description = "the run as PyTorch's memory snapshot, for its memory viewer",
  .render = render,
};
