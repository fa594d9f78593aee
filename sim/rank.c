/* SPDX-License-Identifier: MIT */
#include "sim/rank.h"

#include "hw/op-time.h"
#include "memory/stream-id.h"
#include "sim/stream.h"

/* A stream of the device.  Its ops start and end in issue order, so one cursor for each is
 * enough. */
typedef struct
{
  SsRank *rank;
  SsStream *stream;
  guint8 id;
  guint32 next_start, next_end;  /* ops before these have started, ended, or are of other streams */
  guint32 last_issued;           /* index into ops; G_MAXUINT32: none */
} Lane;

typedef struct
{
  SsStream *stream;
  guint64 event;                 /* as that stream counts */
} Event;

struct _SsRank
{
  SsRankSettings settings;
  SsRecording *recording;
  SsEngine *engine;              /* the run's */
  SsHost *host;
  SsAllocator *allocator;
  Lane *lanes[SS_N_STREAMS];
  GArray *events;                /* Event, by number */
  SsBlock **blocks;              /* by storage */
  gint *module_layer;            /* by module */
  GArray *marks;                 /* SsRankMark */
  gint64 launch_latency_ns, segment_call_ns;
  gint64 driver_ns;              /* host time of driver calls that no op has paid yet */
  gboolean has_waited;           /* the device is idle: the cache may be emptied */
  guint64 reserved_bytes;
  guint next_instruction;
  gint64 issue_cost_ns;          /* of the instruction that ended the play */
  gboolean is_loading;
};

static Lane *
lane_get (SsRank *self, guint8 id)
{
  Lane *lane = self->lanes[id];

  if (lane == NULL)
    {
      lane = g_new0 (Lane, 1);
      lane->rank = self;
      lane->id = id;
      lane->stream = ss_stream_new (self->engine, ss_stream_id_name (id));
      lane->last_issued = G_MAXUINT32;
      self->lanes[id] = lane;
    }
  return lane;
}

static void
lane_free (Lane *lane)
{
  ss_stream_free (lane->stream);
  g_free (lane);
}

/* ---- memory ---- */

static SsMemoryEvent *
add_event (SsRank *self, SsMemoryAction action, guint64 bytes, guint stream)
{
  GArray *memory = self->recording->memory;
  const SsAllocatorStats *stats = ss_allocator_stats (self->allocator);
  SsMemoryEvent *event;

  g_array_set_size (memory, memory->len + 1);
  event = &g_array_index (memory, SsMemoryEvent, memory->len - 1);
  *event = (SsMemoryEvent) {
    .host_ns = ss_engine_now_ns (self->engine),
    .bytes = bytes,
    .allocated_bytes = stats->allocated_bytes,
    .reserved_bytes = self->reserved_bytes,
    .storage_id = G_MAXUINT32,
    .op = G_MAXUINT32,
    .action = (guint8) action,
    .stream = (guint8) stream,
  };
  return event;
}

/* Called while the allocator works, so that reserved bytes of moments between two requests are
 * seen too. */
static void
on_segment (SsSegmentAction action,
            guint64         address,
            guint64         bytes,
            guint           stream,
            gpointer        user_data)
{
  SsRank *self = user_data;
  SsMemoryAction recorded = SS_EVENT_SEGMENT_ALLOC;

  switch (action)
    {
    case SS_SEGMENT_ALLOC:
      self->reserved_bytes += bytes;
      break;
    case SS_SEGMENT_MAP:
      recorded = SS_EVENT_SEGMENT_MAP;
      self->reserved_bytes += bytes;
      break;
    case SS_SEGMENT_FREE:
      recorded = SS_EVENT_SEGMENT_FREE;
      self->reserved_bytes -= bytes;
      break;
    case SS_SEGMENT_UNMAP:
      recorded = SS_EVENT_SEGMENT_UNMAP;
      self->reserved_bytes -= bytes;
      break;
    }
  if (!self->is_loading && self->settings.allocator->calls_driver)
    self->driver_ns = ss_ns_add (self->driver_ns, self->segment_call_ns);
  add_event (self, recorded, bytes, stream)->address = address;
}

static void
add_storage_event (SsRank              *self,
                   SsMemoryAction       action,
                   const SsInstruction *i,
                   const SsBlock       *block,
                   guint32              op)
{
  const SsStorageInfo *storage = ss_program_storage (self->settings.program, i->index);
  SsMemoryEvent *event;

  self->reserved_bytes = ss_allocator_stats (self->allocator)->reserved_bytes;
  event = add_event (self, action, storage->bytes, i->stream);
  event->storage_id = i->index;
  event->module_id = storage->module_id;
  event->category = storage->category;
  event->is_scratch = storage->is_scratch;
  event->op = op;
  if (block != NULL)
    {
      event->address = block->address;
      event->block_bytes = block->bytes;
    }
}

static void
out_of_memory (SsRank *self, const SsInstruction *i, const SsOomReport *report)
{
  SsRecording *recording = self->recording;
  SsOomRecord *oom = &recording->oom;

  recording->is_oom = TRUE;
  oom->tensor_bytes = report->tensor_bytes;
  oom->requested_bytes = report->requested_bytes;
  oom->free_bytes = report->free_bytes;
  oom->largest_free_block_bytes = report->largest_free_block_bytes;
  oom->message = ss_oom_message (report, &self->settings.settings);
  add_storage_event (self, SS_EVENT_OOM, i, NULL, G_MAXUINT32);
}

/* FALSE: out of memory, the rank is over.  A request of 0 bytes never reaches an allocator. */
static gboolean
allocate (const SsProgram *program, const SsInstruction *i, gpointer user_data)
{
  SsRank *self = user_data;
  const SsStorageInfo *storage = ss_program_storage (program, i->index);
  SsOomReport report = { 0 };
  SsBlock *block;

  if (storage->bytes == 0)
    return TRUE;
  block = ss_allocator_allocate (self->allocator, storage->bytes, i->stream, &report);
  if (block == NULL)
    {
      out_of_memory (self, i, &report);
      return FALSE;
    }
  self->blocks[i->index] = block;
  add_storage_event (self, SS_EVENT_ALLOC, i, block, storage->op_id);
  return TRUE;
}

static gboolean
release (const SsProgram *program G_GNUC_UNUSED, const SsInstruction *i, gpointer user_data)
{
  SsRank *self = user_data;
  SsBlock *block = self->blocks[i->index], copy;

  if (block == NULL)
    return TRUE;
  copy = *block;
  ss_allocator_release (self->allocator, block);
  self->blocks[i->index] = NULL;
  add_storage_event (self, SS_EVENT_FREE, i, &copy, lane_get (self, i->stream)->last_issued);
  return TRUE;
}

/* ---- time ---- */

static SsOpEvent *
next_of_lane (const Lane *lane, guint32 *cursor)
{
  GArray *ops = lane->rank->recording->ops;

  while (g_array_index (ops, SsOpEvent, *cursor).stream != lane->id)
    ++*cursor;
  return &g_array_index (ops, SsOpEvent, (*cursor)++);
}

static void
on_start (SsEngine *engine, gpointer user_data)
{
  Lane *lane = user_data;

  next_of_lane (lane, &lane->next_start)->start_ns = ss_engine_now_ns (engine);
}

static void
on_end (SsEngine *engine, gpointer user_data)
{
  Lane *lane = user_data;

  next_of_lane (lane, &lane->next_end)->end_ns = ss_engine_now_ns (engine);
  ss_host_ended (lane->rank->host);
}

static void
add_op (SsRank *self, const SsOp *op, guint8 stream, double time_s)
{
  const SsDevice *device = self->settings.device;
  SsOpEvent event = {
    .name = ss_op_name (op),
    .module_id = op->module_id,
    .issue_ns = ss_engine_now_ns (self->engine),
    .flops = op->flops,
    .model_flops = op->model_flops,
    .bytes = op->bytes,
    .matmul_utilization = (float) ss_op_matmul_utilization (op, device, time_s),
    .bandwidth_utilization = (float) ss_op_bandwidth_utilization (op, device, time_s),
    .layer = self->module_layer[op->module_id],
    .stream = stream,
    .rank = op->rank,
    .op_class = op->op_class,
    .is_backward = op->is_backward,
    .is_recompute = op->is_recompute,
    .dtype = op->dtype,
  };

  g_array_append_val (self->recording->ops, event);
}

/* FALSE: it takes time of the host. */
static gboolean
issue_op (const SsProgram *program, const SsInstruction *i, gpointer user_data)
{
  SsRank *self = user_data;
  const SsOp *op = ss_program_op (program, i->index);
  const SsDevice *device = self->settings.device;
  double time_s = ss_op_time_s (op, device);
  Lane *lane = lane_get (self, i->stream);
  gint64 cost_ns, earliest_ns;

  g_assert (i->index == self->recording->ops->len);
  add_op (self, op, i->stream, time_s);
  lane->last_issued = i->index;
  if (self->is_loading)
    {
      lane->next_start = lane->next_end = i->index + 1;
      return TRUE;
    }
  cost_ns = ss_ns_add (ss_ns_from_seconds (ss_op_issue_s (op, device)), self->driver_ns);
  self->driver_ns = 0;
  earliest_ns
      = ss_ns_add (ss_engine_now_ns (self->engine), ss_ns_add (cost_ns, self->launch_latency_ns));
  ss_host_launched (self->host);
  ss_stream_submit (lane->stream, earliest_ns, ss_ns_from_seconds (time_s), on_start, on_end, lane);
  if (op->is_synchronous)
    ss_host_wait (self->host, lane->stream, ss_stream_record (lane->stream));
  self->issue_cost_ns = cost_ns;
  return FALSE;
}

/* ---- events: what the host spends on them is nothing beside an op ---- */

static gboolean
record_event (const SsProgram *program G_GNUC_UNUSED, const SsInstruction *i, gpointer user_data)
{
  SsRank *self = user_data;
  SsStream *stream = lane_get (self, i->stream)->stream;
  Event event = { stream, ss_stream_record (stream) };

  g_assert (i->index == self->events->len);
  g_array_append_val (self->events, event);
  return TRUE;
}

static gboolean
wait_event (const SsProgram *program G_GNUC_UNUSED, const SsInstruction *i, gpointer user_data)
{
  SsRank *self = user_data;
  const Event *event = &g_array_index (self->events, Event, i->index);

  ss_stream_wait (lane_get (self, i->stream)->stream, event->stream, event->event);
  return TRUE;
}

static gboolean
host_wait (const SsProgram *program G_GNUC_UNUSED, const SsInstruction *i, gpointer user_data)
{
  SsRank *self = user_data;
  const Event *event = &g_array_index (self->events, Event, i->index);

  if (ss_stream_has_happened (event->stream, event->event))
    return TRUE;
  ss_host_wait (self->host, event->stream, event->event);
  self->issue_cost_ns = 0;
  return FALSE;
}

static gboolean
use_on_stream (const SsProgram *program G_GNUC_UNUSED, const SsInstruction *i, gpointer user_data)
{
  SsRank *self = user_data;

  if (self->blocks[i->index] != NULL)
    ss_allocator_record_stream (self->allocator, self->blocks[i->index], i->stream);
  return TRUE;
}

static guint64
clock_record (guint stream, gpointer user_data)
{
  return ss_stream_record (lane_get (user_data, (guint8) stream)->stream);
}

static gboolean
clock_has_happened (guint stream, guint64 event, gpointer user_data)
{
  return ss_stream_has_happened (lane_get (user_data, (guint8) stream)->stream, event);
}

/* ---- marks ---- */

static gboolean
empties_cache (const SsRank *self, const SsMark *mark)
{
  return self->settings.empties_cache && ss_mark_ends_step (mark);
}

/* Giving a segment back waits for the device: FALSE, and the mark is met in the next call. */
static gboolean
meet_mark (const SsProgram *program, const SsInstruction *i, gpointer user_data)
{
  SsRank *self = user_data;
  const SsMark *mark = ss_program_mark (program, i->index);
  SsRankMark met;

  if (empties_cache (self, mark))
    {
      self->has_waited = !self->has_waited;
      if (self->has_waited)
        {
          ss_host_synchronize (self->host);
          self->issue_cost_ns = 0;
          return FALSE;
        }
      ss_allocator_empty_cache (self->allocator);
    }
  met = (SsRankMark) { i->index, self->recording->memory->len, self->recording->ops->len };
  if (mark->type == SS_MARK_PHASE && mark->phase != SS_PHASE_LOAD)
    self->is_loading = FALSE;
  g_array_append_val (self->marks, met);
  return TRUE;
}

/* Up to the next instruction that takes time. */
static gint64
on_issue (G_GNUC_UNUSED SsHost *host, gpointer user_data)
{
  static const SsProgramVisitor visitor
    = { .allocate = allocate, .run = issue_op, .release = release, .mark = meet_mark,
        .record_event = record_event, .wait_event = wait_event, .host_wait = host_wait,
        .use_on_stream = use_on_stream };
  SsRank *self = user_data;

  self->issue_cost_ns = -1;
  self->next_instruction
    = ss_program_play (self->settings.program, self->next_instruction, &visitor, self);
  if (self->has_waited)
    self->next_instruction--;
  return self->issue_cost_ns;
}

static gint *
layers_of_modules (const SsProgram *program)
{
  guint n = ss_program_n_modules (program);
  gint *layers = g_new (gint, n);

  for (guint i = 0; i < n; i++)
    layers[i] = ss_program_module_layer (program, i);
  return layers;
}

/* The array grows to so many entries without being copied. */
static void
reserve (GArray *array, guint n)
{
  guint len = array->len;

  g_array_set_size (array, len + n);
  g_array_set_size (array, len);
}

SsRank *
ss_rank_new (SsEngine             *engine,
             const SsRankSettings *settings,
             SsRecording          *recording,
             GError              **error)
{
  static const SsAllocatorClock clock = { clock_record, clock_has_happened };
  const SsProgram *program = settings->program;
  SsAllocator *allocator = ss_allocator_new (settings->allocator, &settings->settings, error);
  SsRank *self;

  if (allocator == NULL)
    return NULL;
  self = g_new0 (SsRank, 1);
  self->settings = *settings;
  self->recording = recording;
  self->engine = engine;
  self->allocator = allocator;
  self->is_loading = TRUE;
  self->blocks = g_new0 (SsBlock *, ss_program_n_storages (program));
  self->module_layer = layers_of_modules (program);
  self->marks = g_array_new (FALSE, FALSE, sizeof (SsRankMark));
  self->events = g_array_new (FALSE, FALSE, sizeof (Event));
  /* an allocation and a release for each storage, and some segments */
  reserve (recording->memory, 2 * ss_program_n_storages (program) + 1024);
  reserve (recording->ops, ss_program_n_ops (program));
  self->segment_call_ns = ss_ns_from_seconds (ss_device_host (settings->device)->segment_call_s);
  self->launch_latency_ns
    = ss_ns_from_seconds (ss_device_host (settings->device)->launch_latency_s);
  self->host = ss_host_new (engine, ss_device_host (settings->device)->queue_depth, on_issue, self);
  ss_allocator_observe (allocator, on_segment, self);
  ss_allocator_set_clock (allocator, &clock, self);
  return self;
}

void
ss_rank_free (SsRank *self)
{
  if (self == NULL)
    return;
  ss_host_free (self->host);
  g_array_unref (self->events);
  for (guint i = 0; i < SS_N_STREAMS; i++)
    g_clear_pointer (&self->lanes[i], lane_free);
  ss_allocator_free (self->allocator);
  g_free (self->blocks);
  g_free (self->module_layer);
  g_array_unref (self->marks);
  g_free (self);
}

void
ss_rank_start (SsRank *self)
{
  ss_host_start (self->host);
}

const GArray *
ss_rank_marks (const SsRank *self)
{
  return self->marks;
}
