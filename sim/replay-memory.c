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
  g_ptr_array_set_size (self->blocks, (gint) ss_program_n_storages (program));
  ss_memory_replay_go_on (self, program, &next);
  *verdict = self->verdict;
  return TRUE;
}

/* What a run holds whatever it does about activations. */
#define STATES                                                                                     \
  (1u << SS_CATEGORY_PARAMETERS | 1u << SS_CATEGORY_MASTER_WEIGHTS | 1u << SS_CATEGORY_GRADIENTS   \
   | 1u << SS_CATEGORY_GRADIENT_ACCUMULATION | 1u << SS_CATEGORY_OPTIMIZER_STATES)

gboolean
ss_replay_need (const SsProgram           *program,
                const SsAllocatorClass    *klass,
                const SsAllocatorSettings *settings,
                gboolean                   empties_cache,
                SsMemoryNeed              *need,
                GError                   **error)
{
  SsAllocatorSettings unlimited = *settings;
  SsMemoryVerdict verdict;

  unlimited.capacity_bytes = G_MAXINT64;
  *need = (SsMemoryNeed) { 0 };
  if (!ss_replay_memory (program, klass, &unlimited, empties_cache, &verdict, error))
    return FALSE;
  need->reserved_bytes = verdict.peak_reserved_bytes;
  need->requested_bytes = ss_program_peaks_bytes (program, STATES, &need->state_bytes);
  return TRUE;
}
