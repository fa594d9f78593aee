/* SPDX-License-Identifier: MIT */
#include "sim/replay-memory.h"

typedef struct
{
  const SsProgram *program;
  SsAllocator *allocator;
  SsBlock **blocks;              /* by storage */
  SsMemoryVerdict *verdict;
  const SsMark *place;           /* the last that was met, or NULL */
  gboolean empties_cache;
} Run;

static void
note_peaks (Run *run)
{
  const SsAllocatorStats *stats = ss_allocator_stats (run->allocator);

  run->verdict->peak_allocated_bytes
    = MAX (run->verdict->peak_allocated_bytes, stats->allocated_bytes);
  run->verdict->peak_reserved_bytes
    = MAX (run->verdict->peak_reserved_bytes, stats->reserved_bytes);
}

/* Every mark says where it stands. */
static void
note_failure (Run *run, const SsStorageInfo *failed)
{
  SsMemoryVerdict *verdict = run->verdict;

  verdict->phase = run->place ? (SsPhase) run->place->phase : SS_PHASE_LOAD;
  verdict->step = run->place ? run->place->step : 0;
  verdict->micro_batch = run->place ? run->place->micro_batch : 0;
  verdict->layer = ss_program_layer_in_phase (run->program, failed->module_id, verdict->phase);
}

/* FALSE: out of memory.  A request of 0 bytes never reaches an allocator. */
static gboolean
allocate (Run *run, guint32 storage_id)
{
  const SsStorageInfo *storage = ss_program_storage (run->program, storage_id);
  SsOomReport report;

  if (storage->bytes == 0)
    return TRUE;
  run->blocks[storage_id]
    = ss_allocator_allocate (run->allocator, storage->bytes, storage->stream, &report);
  note_peaks (run);
  if (!run->blocks[storage_id])
    note_failure (run, storage);
  return run->blocks[storage_id] != NULL;
}

static gboolean
meet (Run *run, SsInstructionType type, guint32 index)
{
  switch (type)
    {
    case SS_ALLOCATE:
      return allocate (run, index);
    case SS_RELEASE:
      if (run->blocks[index])
        ss_allocator_release (run->allocator, g_steal_pointer (&run->blocks[index]));
      break;
    case SS_MARK:
      run->place = ss_program_mark (run->program, index);
      if (run->empties_cache && ss_mark_ends_step (run->place))
        ss_allocator_empty_cache (run->allocator);
      break;
    case SS_RUN:
      break;
    }
  return TRUE;
}

gboolean
ss_replay_memory (const SsProgram           *program,
                  const SsAllocatorClass    *klass,
                  const SsAllocatorSettings *settings,
                  gboolean                   empties_cache,
                  SsMemoryVerdict           *verdict,
                  GError                   **error)
{
  g_autoptr (SsAllocator) allocator = ss_allocator_new (klass, settings, error);
  g_autofree SsBlock **blocks = NULL;
  Run run = {
    .program = program, .allocator = allocator, .verdict = verdict, .empties_cache = empties_cache
  };

  *verdict = (SsMemoryVerdict) { .fits = TRUE };
  if (!allocator)
    return FALSE;
  run.blocks = blocks = g_new0 (SsBlock *, ss_program_n_storages (program));
  for (guint i = 0; i < ss_program_n_instructions (program) && verdict->fits; i++)
    {
      guint32 index;
      SsInstructionType type = ss_program_instruction (program, i, &index);

      verdict->fits = meet (&run, type, index);
    }
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
