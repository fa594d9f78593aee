/* SPDX-License-Identifier: MIT */
#include "sim/replay-memory.h"

struct _SsMemoryReplay
{
  SsAllocator *allocator;
  GPtrArray *blocks;             /* SsBlock, by storage */
  SsMark place;                  /* the last that was met */
  SsMemoryVerdict verdict;
  gboolean empties_cache;
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
static void
allocate (SsMemoryReplay *self, const SsProgram *program, guint32 storage_id)
{
  const SsStorageInfo *storage = ss_program_storage (program, storage_id);
  SsOomReport report;
  SsBlock *block;

  if (storage_id >= self->blocks->len)
    g_ptr_array_set_size (self->blocks, (gint) MAX (2 * storage_id, 1024));
  if (storage->bytes == 0)
    return;
  block = ss_allocator_allocate (self->allocator, storage->bytes, storage->stream, &report);
  self->blocks->pdata[storage_id] = block;
  note_peaks (self);
  if (!block)
    note_failure (self, program, storage);
}

gboolean
ss_memory_replay_meet (SsMemoryReplay   *self,
                       const SsProgram  *program,
                       SsInstructionType type,
                       guint32           index)
{
  switch (type)
    {
    case SS_ALLOCATE:
      allocate (self, program, index);
      break;
    case SS_RELEASE:
      if (self->blocks->pdata[index])
        ss_allocator_release (self->allocator, g_steal_pointer (&self->blocks->pdata[index]));
      break;
    case SS_MARK:
      self->place = *ss_program_mark (program, index);
      if (self->empties_cache && ss_mark_ends_step (&self->place))
        ss_allocator_empty_cache (self->allocator);
      break;
    case SS_RUN:
      break;
    }
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

  *verdict = (SsMemoryVerdict) { .fits = TRUE };
  if (!self)
    return FALSE;
  for (guint i = 0; i < ss_program_n_instructions (program) && self->verdict.fits; i++)
    {
      guint32 index;
      SsInstructionType type = ss_program_instruction (program, i, &index);

      ss_memory_replay_meet (self, program, type, index);
    }
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

guint64
ss_replay_peak_requested_bytes (const SsProgram *program, gboolean of_states)
{
  guint64 now = 0, peak = 0;

  for (guint i = 0; i < ss_program_n_instructions (program); i++)
    {
      guint32 index;
      SsInstructionType type = ss_program_instruction (program, i, &index);
      const SsStorageInfo *storage;

      if (type != SS_ALLOCATE && type != SS_RELEASE)
        continue;
      storage = ss_program_storage (program, index);
      if (of_states && !is_state (storage))
        continue;
      now = type == SS_ALLOCATE ? ss_size_add (now, storage->bytes) : now - storage->bytes;
      peak = MAX (peak, now);
    }
  return peak;
}
