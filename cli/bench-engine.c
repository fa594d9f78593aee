/* SPDX-License-Identifier: MIT */
#include "cli/bench-engine.h"

#include "cli/median.h"
#include "sim/engine.h"

#define N_HOLDS 400000
#define N_REPEATS 7
#define MAX_INCREMENT_NS 1000000

/* Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8(14), 2003, section 4: the shifts
 * 13, 7, 17 of a 64-bit word. */
static inline guint64
xorshift (guint64 *state)
{
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static inline gint64
next_increment_ns (guint64 *state)
{
  return (gint64) (xorshift (state) % MAX_INCREMENT_NS);
}

/* The bare heap: what an engine without ids, priorities, cancellation and callbacks would be. */
typedef struct
{
  gint64 time_ns;
  guint64 sequence;
  guint64 payload;
} BareEntry;

G_STATIC_ASSERT (sizeof (BareEntry) == 24);

static inline gboolean
bare_is_before (const BareEntry *a,
                const BareEntry *b)
{
  return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->sequence < b->sequence;
}

static void
bare_push (BareEntry *heap,
           guint *n,
           BareEntry entry)
{
  guint at = (*n)++;

  while (at > 0 && bare_is_before (&entry, &heap[(at - 1) / 4]))
    {
      heap[at] = heap[(at - 1) / 4];
      at = (at - 1) / 4;
    }
  heap[at] = entry;
}

static BareEntry
bare_pop (BareEntry *heap,
          guint *n)
{
  BareEntry top = heap[0], last = heap[--*n];
  guint at = 0;

  for (guint first = 1; first < *n; first = at * 4 + 1)
    {
      guint least = first, end = MIN (first + 4, *n);

      for (guint child = first + 1; child < end; child++)
        if (bare_is_before (&heap[child], &heap[least]))
          least = child;
      if (!bare_is_before (&heap[least], &last))
        break;
      heap[at] = heap[least];
      at = least;
    }
  heap[at] = last;
  return top;
}

static double
per_second (gint64 elapsed_us)
{
  return N_HOLDS * 1e6 / (double) MAX (elapsed_us, 1);
}

/* Returns holds per second; *last_ns is the time of the last hold, to compare with the engine's. */
static double
hold_bare (guint n_pending,
           gint64 *last_ns)
{
  g_autofree BareEntry *heap = g_new (BareEntry, n_pending + 1);
  guint64 random = 1, sequence = 0;
  gint64 start_us;
  guint n = 0;

  for (guint i = 0; i < n_pending; i++)
    bare_push (heap, &n, (BareEntry) { next_increment_ns (&random), ++sequence, i });
  start_us = g_get_monotonic_time ();
  for (guint i = 0; i < N_HOLDS; i++)
    {
      BareEntry entry = bare_pop (heap, &n);

      *last_ns = entry.time_ns;
      entry.time_ns += next_increment_ns (&random);
      entry.sequence = ++sequence;
      bare_push (heap, &n, entry);
    }
  return per_second (g_get_monotonic_time () - start_us);
}

typedef struct
{
  guint64 random;
  guint n_left;
} Hold;

static void
hold_event (SsEngine *engine,
            gpointer user_data)
{
  Hold *hold = user_data;

  ss_engine_schedule (engine, ss_engine_now_ns (engine) + next_increment_ns (&hold->random), 0,
                      hold_event, hold);
  if (--hold->n_left == 0)
    ss_engine_stop (engine);
}

static double
hold_engine (guint n_pending,
             gint64 *last_ns)
{
  g_autoptr (SsEngine) engine = ss_engine_new ();
  Hold hold = { .random = 1, .n_left = N_HOLDS };
  double rate;
  gint64 start_us;

  for (guint i = 0; i < n_pending; i++)
    ss_engine_schedule (engine, next_increment_ns (&hold.random), 0, hold_event, &hold);
  start_us = g_get_monotonic_time ();
  ss_engine_run (engine);
  rate = per_second (g_get_monotonic_time () - start_us);
  *last_ns = ss_engine_now_ns (engine);
  return rate;
}

/* The two take turns, so that a slow moment of the machine falls on both. */
static void
bench_row (GString *out,
           guint n_pending)
{
  double engine[N_REPEATS], bare[N_REPEATS], engine_rate, bare_rate;

  for (guint i = 0; i < N_REPEATS; i++)
    {
      gint64 bare_ns, engine_ns;

      bare[i] = hold_bare (n_pending, &bare_ns);
      engine[i] = hold_engine (n_pending, &engine_ns);
      g_assert (bare_ns == engine_ns);
    }
  engine_rate = ss_median (engine, N_REPEATS);
  bare_rate = ss_median (bare, N_REPEATS);
  g_string_append_printf (out, "%14u  %15.0f  %18.0f  %5.2f\n",
                          n_pending, engine_rate, bare_rate, engine_rate / bare_rate);
}

void
ss_bench_engine (GString *out)
{
  static const guint n_pending[] = { 16, 1024, 65536 };

  g_string_append_printf (out, "hold model, %d events, median of %d repeats\n",
                          N_HOLDS, N_REPEATS);
  g_string_append (out, "pending_events  engine_events/s  bare_heap_events/s  ratio\n");
  for (gsize i = 0; i < G_N_ELEMENTS (n_pending); i++)
    bench_row (out, n_pending[i]);
}
