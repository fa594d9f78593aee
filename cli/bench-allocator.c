/* SPDX-License-Identifier: MIT */
#include "cli/bench-allocator.h"

#include "cli/median.h"
#include "hw/data-path.h"
#include "memory/allocator-caching.h"
#include "sim/simulate.h"

#define SCENARIO "scenarios/llama8b-h100.xml"
#define N_REPEATS 7
#define N_RANDOM 20000
#define RANDOM_SEED 1001
#define RANDOM_LIVE_BYTES (G_GUINT64_CONSTANT (3) << 30)

/* What a run asked of its allocator. */
static SsRecording *
record (guint32 *n_storages, GError **error)
{
  const char *const overrides[] = { "hardware/capacity=unlimited", NULL };
  g_autofree char *path = ss_data_find (SCENARIO);
  g_autoptr (SsScenario) scenario
      = ss_scenario_load (path != NULL ? path : SCENARIO, overrides, error);
  SsRecording *recording = scenario != NULL ? ss_simulate (scenario, NULL, error) : NULL;

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

/* Requests of 1 byte to 512 MiB, all orders of magnitude alike, and releases of any of them: about
 * 3 GiB stay in use, in many pieces. */
static GArray *
random_events (void)
{
  GArray *events = g_array_new (FALSE, TRUE, sizeof (SsMemoryEvent));
  g_autoptr (GArray) live = g_array_new (FALSE, FALSE, sizeof (SsMemoryEvent));
  g_autoptr (GRand) random = g_rand_new_with_seed (RANDOM_SEED);
  guint64 live_bytes = 0;
  guint32 n_storages = 0;

  while (events->len < N_RANDOM)
    {
      SsMemoryEvent event = { .action = SS_EVENT_ALLOC };

      if (live->len == 0 || (live_bytes < RANDOM_LIVE_BYTES && g_rand_boolean (random)))
        {
          event.storage_id = n_storages++;
          event.bytes = 1 + (g_rand_int (random) >> g_rand_int_range (random, 3, 32));
          live_bytes += event.bytes;
          g_array_append_val (live, event);
        }
      else
        {
          guint i = (guint) g_rand_int_range (random, 0, (gint32) live->len);

          event = g_array_index (live, SsMemoryEvent, i);
          event.action = SS_EVENT_FREE;
          live_bytes -= event.bytes;
          g_array_remove_index_fast (live, i);
        }
      g_array_append_val (events, event);
    }
  return events;
}

static gboolean
bench_row (GString *out, const SsAllocatorClass *klass, const char *conf, const char *what,
           const GArray *memory, guint32 n_storages, GError **error)
{
  const SsAllocatorSettings settings = { .conf = conf, .capacity_bytes = G_MAXINT64 };
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
  g_string_append_printf (out, "%-10s  %-28s  %10u  %15.0f\n", klass->name, what, n,
                          ss_median (rates, N_REPEATS));
  return TRUE;
}

gboolean
ss_bench_allocator (GString *out, GError **error)
{
  static const struct
  {
    const char *what, *conf;
  } random[] = {
    { "random", NULL },
    { "random, max_split_size", "max_split_size_mb:64" },
    { "random, expandable_segments", "expandable_segments:True" },
  };
  guint32 n_storages;
  g_autoptr (SsRecording) recording = record (&n_storages, error);
  g_autoptr (GArray) events = random_events ();

  if (recording == NULL)
    return FALSE;
  g_string_append_printf (out, "requests and releases, median of %d repeats; \"run\": of %s\n",
                          N_REPEATS, SCENARIO);
  g_string_append (out, "allocator   sequence                        requests       requests/s\n");
  for (const SsAllocatorClass *const *klass = ss_allocator_classes (); *klass != NULL; klass++)
    if (!bench_row (out, *klass, NULL, "run", recording->memory, n_storages, error))
      return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (random); i++)
    if (!bench_row (out, &ss_allocator_caching, random[i].conf, random[i].what, events, N_RANDOM,
                    error))
      return FALSE;
  return TRUE;
}
