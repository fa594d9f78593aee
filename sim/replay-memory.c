/* SPDX-License-Identifier: MIT */
#include "sim/replay-memory.h"

struct _SsMemoryReplay
{
  SsAllocator *allocator;
  GPtrArray *blocks;             /* SsBlock, by storage */
  SsMark place;                  /* the last that was met */
  SsMemoryVerdict verdict;
  gboolean empties_cache;
  guint next_instruction;
};

SsMemoryReplay *
ss_memory_replay_new (const SsAllocatorClass    *klass,
                      const SsAllocatorSettings *settings,
                      gboolean                   empties_cache,
                      GError                   **error)
{
  SsAllocator *allocator = ss_allocator_new (klass, settings, error);
  SsMemoryReplay *self;

  if (!allocator)
    return NULL;
  self = g_new0 (SsMemoryReplay, 1);
  self->allocator = allocator;
  self->blocks = g_ptr_array_new ();
  self->empties_cache = empties_cache;
  self->verdict.fits = TRUE;
  return self;
}

void
ss_memory_replay_free (SsMemoryReplay *self)
{
  if (!self)
    return;
  ss_allocator_free (self->allocator);
  g_ptr_array_unref (self->blocks);
  g_free (self);
}

static void
note_peaks (SsMemoryReplay *self)
{
  const SsAllocatorStats *stats = ss_allocator_stats (self->allocator);
  SsMemoryVerdict *verdict = &self->verdict;

  verdict->peak_allocated_bytes = MAX (verdict->peak_allocated_bytes, stats->allocated_bytes);
  verdict->peak_reserved_bytes = MAX (verdict->peak_reserved_bytes, stats->reserved_bytes);
}

static void
note_failure (SsMemoryReplay *self, const SsProgram *program, const SsStorageInfo *failed)
{
  SsMemoryVerdict *verdict = &self->verdict;

  verdict->fits = FALSE;
  verdict->step = self->place.step;
  verdict->micro_batch = self->place.micro_batch;
  verdict->phase = (SsPhase) self->place.phase;
  verdict->layer = ss_program_layer_in_phase (program, failed->module_id, verdict->phase);
}

/* A request of 0 bytes never reaches an allocator. */
static gboolean
allocate (const SsProgram *program, const SsInstruction *i, gpointer user_data)
{
  SsMemoryReplay *self = user_data;
  const SsStorageInfo *storage = ss_program_storage (program, i->index);
  SsOomReport report;
  SsBlock *block;

  if (i->index >= self->blocks->len)
    g_ptr_array_set_size (self->blocks, (gint) MAX (2 * i->index, 1024));
  if (storage->bytes == 0)
    return TRUE;
  block = ss_allocator_allocate (self->allocator, storage->bytes, i->stream, &report);
  self->blocks->pdata[i->index] = block;
  note_peaks (self);
  if (!block)
    note_failure (self, program, storage);
  return block != NULL;
}

static gboolean
release (const SsProgram *program G_GNUC_UNUSED, const SsInstruction *i, gpointer user_data)
{
  SsMemoryReplay *self = user_data;

  if (self->blocks->pdata[i->index])
    ss_allocator_release (self->allocator, g_steal_pointer (&self->blocks->pdata[i->index]));
  return TRUE;
}

static gboolean
mark (const SsProgram *program, const SsInstruction *i, gpointer user_data)
{
  SsMemoryReplay *self = user_data;

  self->place = *ss_program_mark (program, i->index);
  if (self->empties_cache && ss_mark_ends_step (&self->place))
    ss_allocator_empty_cache (self->allocator);
  return TRUE;
}

static gboolean
use_on_stream (const SsProgram *program G_GNUC_UNUSED, const SsInstruction *i, gpointer user_data)
{
  SsMemoryReplay *self = user_data;

  if (self->blocks->pdata[i->index])
    ss_allocator_record_stream (self->allocator, self->blocks->pdata[i->index], i->stream);
  return TRUE;
}

gboolean
ss_memory_replay_go_on (SsMemoryReplay *self, const SsProgram *program, guint *next)
{
  static const SsProgramVisitor visitor
    = { .allocate = allocate, .release = release, .mark = mark, .use_on_stream = use_on_stream };

  *next = self->next_instruction
    = ss_program_play (program, self->next_instruction, &visitor, self);
  return self->verdict.fits;
}

gboolean
ss_replay_memory (const SsProgram           *program,
                  const SsAllocatorClass    *klass,
                  const SsAllocatorSettings *settings,
                  gboolean                   empties_cache,
                  SsMemoryVerdict           *verdict,
                  GError                   **error)
{
  g_autoptr (SsMemoryReplay) self = ss_memory_replay_new (klass, settings, empties_cache, error);
  guint next;

  *verdict = (SsMemoryVerdict) { .fits = TRUE };
  if (!self)
    return FALSE;
  ss_memory_replay_go_on (self, program, &next);
  *verdict = self->verdict;
  return TRUE;
}

/* What a run holds whatever it does about activations. */
static gboolean
is_state (const SsStorageInfo *storage)
{
  switch ((SsCategory) storage->category)
    {
    case SS_CATEGORY_PARAMETERS:
    case SS_CATEGORY_MASTER_WEIGHTS:
    case SS_CATEGORY_GRADIENTS:
    case SS_CATEGORY_GRADIENT_ACCUMULATION:
    case SS_CATEGORY_OPTIMIZER_STATES:
      return TRUE;
    case SS_CATEGORY_WORKSPACE:
    case SS_CATEGORY_LOGITS:
    case SS_CATEGORY_ACTIVATIONS:
    case SS_CATEGORY_TEMPORARIES:
    case SS_N_CATEGORIES:
      break;
    }
  return FALSE;
}

/* Bytes that are alive, of everything and of states. */
typedef struct
{
  SsMemoryReplay *replay;        /* NULL: no allocator is asked */
  guint64 now_bytes, now_state_bytes;
  SsMemoryNeed need;
} Counting;

static gboolean
count_allocate (const SsProgram *program, const SsInstruction *i, gpointer user_data)
{
  Counting *self = user_data;
  const SsStorageInfo *storage = ss_program_storage (program, i->index);

  self->now_bytes = ss_size_add (self->now_bytes, storage->bytes);
  self->need.requested_bytes = MAX (self->need.requested_bytes, self->now_bytes);
  if (is_state (storage))
    {
      self->now_state_bytes += storage->bytes;
      self->need.state_bytes = MAX (self->need.state_bytes, self->now_state_bytes);
    }
  return self->replay == NULL || allocate (program, i, self->replay);
}

static gboolean
count_release (const SsProgram *program, const SsInstruction *i, gpointer user_data)
{
  Counting *self = user_data;
  const SsStorageInfo *storage = ss_program_storage (program, i->index);

  self->now_bytes -= storage->bytes;
  if (is_state (storage))
    self->now_state_bytes -= storage->bytes;
  return self->replay == NULL || release (program, i, self->replay);
}

guint64
ss_replay_peak_requested_bytes (const SsProgram *program)
{
  static const SsProgramVisitor visitor
    = { .allocate = count_allocate, .release = count_release };
  Counting counting = { .replay = NULL };

  ss_program_play (program, 0, &visitor, &counting);
  return counting.need.requested_bytes;
}

static gboolean
count_mark (const SsProgram *program, const SsInstruction *i, gpointer user_data)
{
  return mark (program, i, ((Counting *) user_data)->replay);
}

static gboolean
count_use (const SsProgram *program, const SsInstruction *i, gpointer user_data)
{
  return use_on_stream (program, i, ((Counting *) user_data)->replay);
}

gboolean
ss_replay_need (const SsProgram           *program,
                const SsAllocatorClass    *klass,
                const SsAllocatorSettings *settings,
                gboolean                   empties_cache,
                SsMemoryNeed              *need,
                GError                   **error)
{
  static const SsProgramVisitor visitor = {
    .allocate = count_allocate, .release = count_release, .mark = count_mark,
    .use_on_stream = count_use,
  };
  SsAllocatorSettings unlimited = *settings;
  g_autoptr (SsMemoryReplay) replay = NULL;
  Counting counting = { 0 };

  unlimited.capacity_bytes = G_MAXINT64;
  replay = ss_memory_replay_new (klass, &unlimited, empties_cache, error);
  *need = (SsMemoryNeed) { 0 };
  if (replay == NULL)
    return FALSE;
  counting.replay = replay;
  g_ptr_array_set_size (replay->blocks, (gint) ss_program_n_storages (program));
  ss_program_play (program, 0, &visitor, &counting);
  *need = counting.need;
  need->reserved_bytes = replay->verdict.peak_reserved_bytes;
  return TRUE;
}
