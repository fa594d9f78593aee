/* SPDX-License-Identifier: MIT */
#include "cli/bench-allocator.h"

#include "cli/median.h"
#include "hw/data-path.h"
#include "memory/allocator.h"
#include "sim/simulate.h"

#define SCENARIO "scenarios/llama8b-h100.xml"
#define N_REPEATS 7

/* What a run asked of its allocator. */
static SsRecording *
record (guint32 *n_storages, GError **error)
{
  const char *const overrides[] = { "hardware/capacity=unlimited", NULL };
  g_autofree char *path = ss_data_find (SCENARIO);
  g_autoptr (SsScenario) scenario
      = ss_scenario_load (path != NULL ? path : SCENARIO, overrides, error);
  SsRecording *recording = scenario != NULL ? ss_simulate (scenario, error) : NULL;

  *n_storages = 0;
  for (guint i = 0; recording != NULL && i < recording->memory->len; i++)
    {
      const SsMemoryEvent *event = &g_array_index (recording->memory, SsMemoryEvent, i);

      if (event->action == SS_EVENT_ALLOC)
        *n_storages = MAX (*n_storages, event->storage_id + 1);
    }
  return recording;
}

/* Returns how many requests and releases there were. */
static guint
answer (SsAllocator *allocator, const GArray *memory, SsBlock **blocks)
{
  guint n = 0;

  for (guint i = 0; i < memory->len; i++)
    {
      const SsMemoryEvent *event = &g_array_index (memory, SsMemoryEvent, i);
      SsOomReport report;

      if (event->action != SS_EVENT_ALLOC && event->action != SS_EVENT_FREE)
        continue;
      if (event->action == SS_EVENT_ALLOC)
        blocks[event->storage_id]
            = ss_allocator_allocate (allocator, event->bytes, event->stream, &report);
      else
        ss_allocator_release (allocator, blocks[event->storage_id]);
      n++;
    }
  return n;
}

static gboolean
bench_row (GString *out, const SsAllocatorClass *klass, const GArray *memory, guint32 n_storages,
           GError **error)
{
  const SsAllocatorSettings settings = { .capacity_bytes = G_MAXINT64 };
  double rates[N_REPEATS];
  guint n = 0;

  for (guint i = 0; i < N_REPEATS; i++)
    {
      g_autoptr (SsAllocator) allocator = ss_allocator_new (klass, &settings, error);
      g_autofree SsBlock **blocks = g_new0 (SsBlock *, n_storages);
      gint64 start_us;

      if (allocator == NULL)
        return FALSE;
      start_us = g_get_monotonic_time ();
      n = answer (allocator, memory, blocks);
      rates[i] = n * 1e6 / (double) MAX (g_get_monotonic_time () - start_us, 1);
    }
  g_string_append_printf (out, "%-10s  %10u  %15.0f\n", klass->name, n,
                          ss_median (rates, N_REPEATS));
  return TRUE;
}

gboolean
ss_bench_allocator (GString *out, GError **error)
{
  guint32 n_storages;
  g_autoptr (SsRecording) recording = record (&n_storages, error);

  if (recording == NULL)
    return FALSE;
  g_string_append_printf (out, "requests and releases of %s, median of %d repeats\n", SCENARIO,
                          N_REPEATS);
  g_string_append (out, "allocator     requests       requests/s\n");
  for (const SsAllocatorClass *const *klass = ss_allocator_classes (); *klass != NULL; klass++)
    if (!bench_row (out, *klass, recording->memory, n_storages, error))
      return FALSE;
  return TRUE;
}
