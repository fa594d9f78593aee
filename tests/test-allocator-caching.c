/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "memory/allocator-caching.h"
#include "memory/allocator-exact.h"

#define MIB G_GUINT64_CONSTANT (1048576)

/* ---- single facts that event files do not show ---- */

static SsAllocator *
caching (guint64 capacity_bytes, const char *conf)
{
  SsAllocatorSettings settings = { .capacity_bytes = capacity_bytes, .conf = conf };
  SsAllocator *allocator = ss_allocator_new (&ss_allocator_caching, &settings, NULL);

  cr_assert (ne (ptr, allocator, NULL));
  return allocator;
}

/* 100 MiB: 9 + 11 in each of two segments of 20, the second 11 free, then 70 asked of the 60
 * left */
Test (allocator_caching, a_report_names_the_largest_hole)
{
  g_autoptr (SsAllocator) allocator = caching (100 * MIB, NULL);
  SsOomReport report;
  SsBlock *hole;

  cr_assert (ss_allocator_allocate (allocator, 9 * MIB, 0, &report) != NULL);
  cr_assert (ss_allocator_allocate (allocator, 11 * MIB, 0, &report) != NULL);
  cr_assert (ss_allocator_allocate (allocator, 9 * MIB, 0, &report) != NULL);
  hole = ss_allocator_allocate (allocator, 11 * MIB, 0, &report);
  ss_allocator_release (allocator, hole);
  cr_assert (ss_allocator_allocate (allocator, 69 * MIB, 0, &report) == NULL);
  cr_assert (eq (u64, report.tensor_bytes, 69 * MIB));
  cr_assert (eq (u64, report.requested_bytes, 70 * MIB));
  cr_assert (eq (u64, report.free_bytes, 60 * MIB));
  cr_assert (eq (u64, report.allocated_bytes, 29 * MIB));
  cr_assert (eq (u64, report.reserved_bytes, 40 * MIB));
  cr_assert (eq (u64, report.largest_free_block_bytes, 11 * MIB));
  cr_assert (not (report.is_rejected));
  cr_assert (eq (u64, ss_allocator_stats (allocator)->n_ooms, 1));
  cr_assert (eq (u64, ss_allocator_stats (allocator)->n_retries, 1));
}

Test (allocator_caching, a_rejected_request_moves_a_counter_of_its_own)
{
  g_autoptr (SsAllocator) allocator = caching (100 * MIB, "throw_on_cudamalloc_oom:True");
  SsOomReport report;

  cr_assert (ss_allocator_allocate (allocator, 100 * MIB + 1, 0, &report) == NULL);
  cr_assert (report.is_rejected);
  cr_assert (eq (u64, ss_allocator_stats (allocator)->n_rejections, 1));
  cr_assert (eq (u64, ss_allocator_stats (allocator)->n_ooms, 0));
  cr_assert (eq (u64, ss_allocator_stats (allocator)->n_retries, 0));
}

/* requested_bytes counts what was asked, until the release is complete */
Test (allocator_caching, requested_bytes_falls_when_the_other_stream_is_done)
{
  g_autoptr (SsAllocator) allocator = caching (100 * MIB, NULL);
  const SsAllocatorStats *stats = ss_allocator_stats (allocator);
  SsOomReport report;
  SsBlock *block = ss_allocator_allocate (allocator, 1000, 0, &report);

  cr_assert (eq (u64, stats->requested_bytes, 1000));
  cr_assert (eq (u64, block->requested_bytes, 1000));
  cr_assert (eq (u64, block->bytes, 1024));
  ss_allocator_record_stream (allocator, block, 1);
  ss_allocator_release (allocator, block);
  cr_assert (eq (u64, stats->requested_bytes, 1000));
  ss_allocator_synchronize (allocator);
  ss_allocator_empty_cache (allocator);
  cr_assert (eq (u64, stats->requested_bytes, 0));
  cr_assert (eq (u64, stats->reserved_bytes, 0));
}

static guint64
two_to (guint shift)
{
  return G_GUINT64_CONSTANT (1) << shift;
}

/* the virtual range of an expandable segment is bounded however large the capacity, and requests
 * larger than that bound get a range of their own size */
Test (allocator_caching, without_a_capacity_nothing_fails_below_2_to_the_60)
{
  static const char *const confs[] = { NULL, "expandable_segments:True" };

  for (guint i = 0; i < G_N_ELEMENTS (confs); i++)
    {
      g_autoptr (SsAllocator) allocator = caching (G_MAXINT64, confs[i]);
      SsOomReport report;

      for (guint shift = 0; shift < 60; shift++)
        cr_assert (ss_allocator_allocate (allocator, two_to (shift), 0, &report) != NULL,
                   "2^%u, %s", shift, confs[i] ? confs[i] : "");
      cr_assert (ss_allocator_allocate (allocator, two_to (60), 0, &report) == NULL);
      cr_assert (eq (u64, ss_allocator_stats (allocator)->n_ooms, 0));
    }
}

Test (allocator_caching, a_device_without_memory_fails_and_does_no_more)
{
  static const char *const confs[] = { NULL, "expandable_segments:True", "max_split_size_mb:20" };

  for (guint i = 0; i < G_N_ELEMENTS (confs); i++)
    for (guint64 capacity_bytes = 0; capacity_bytes < 3 * MIB; capacity_bytes += MIB)
      {
        g_autoptr (SsAllocator) allocator = caching (capacity_bytes, confs[i]);
        SsOomReport report;

        cr_assert (ss_allocator_allocate (allocator, 5 * MIB, 0, &report) == NULL);
        cr_assert (eq (u64, report.free_bytes, capacity_bytes));
        cr_assert (eq (u64, ss_allocator_stats (allocator)->reserved_bytes, 0));
      }
}

/* ---- properties of random traces ---- */

#define N_SLOTS 160
#define N_EVENTS 6000

typedef struct
{
  SsAllocator *allocator, *exact;
  GArray *ranges;                /* Range, sorted: what the observer says is reserved */
  SsBlock *live[N_SLOTS], *live_exact[N_SLOTS];
  SsBlock copy[N_SLOTS];
  guint64 state;
} Trial;

typedef struct
{
  guint64 address, bytes;
} Range;

/* xorshift64* (Vigna 2016) */
static guint64
draw (Trial *trial, guint64 n)
{
  trial->state ^= trial->state >> 12;
  trial->state ^= trial->state << 25;
  trial->state ^= trial->state >> 27;
  return (trial->state * G_GUINT64_CONSTANT (0x2545f4914f6cdd1d) >> 16) % n;
}

/* Sizes evenly over powers of two up to 256 MiB; now and then one that was round to begin with. */
static guint64
draw_bytes (Trial *trial)
{
  guint64 top = G_GUINT64_CONSTANT (1) << draw (trial, 29);

  return draw (trial, 8) == 0 ? draw (trial, 12) * MIB : top + draw (trial, top);
}

static guint64
end_of (const Trial *trial, guint i)
{
  const Range *range = &g_array_index (trial->ranges, Range, i);

  return range->address + range->bytes;
}

/* Adds or removes whole ranges; pages of expandable segments may go in other pieces than they
 * came. */
static void
note_segment (SsSegmentAction      action,
              guint64              address,
              guint64              bytes,
              G_GNUC_UNUSED guint  stream,
              gpointer             user_data)
{
  Trial *trial = user_data;
  Range range = { address, bytes }, tail = { 0, 0 };
  guint i = 0;

  while (i < trial->ranges->len && end_of (trial, i) <= address)
    i++;
  if (action == SS_SEGMENT_ALLOC || action == SS_SEGMENT_MAP)
    {
      if (i < trial->ranges->len)
        cr_assert (ge (u64, g_array_index (trial->ranges, Range, i).address, address + bytes));
      g_array_insert_val (trial->ranges, i, range);
      return;
    }
  while (bytes > 0)
    {
      Range *met = &g_array_index (trial->ranges, Range, i);
      guint64 end = end_of (trial, i), stop = MIN (end, address + bytes);

      cr_assert (lt (uint, i, trial->ranges->len));
      cr_assert (le (u64, met->address, address));
      cr_assert (gt (u64, stop, address));
      tail = (Range) { stop, end - stop };
      met->bytes = address - met->address;
      bytes -= stop - address;
      address = stop;
      if (met->bytes == 0)
        g_array_remove_index (trial->ranges, i);
      else
        i++;
      if (tail.bytes > 0)
        g_array_insert_val (trial->ranges, i, tail);
    }
}

static gint
compare_addresses (gconstpointer a, gconstpointer b)
{
  const SsBlock *x = *(SsBlock *const *) a, *y = *(SsBlock *const *) b;

  return x->address < y->address ? -1 : x->address > y->address;
}

/* TRUE when [address, address + bytes) lies in what is reserved. */
static gboolean
is_reserved (const Trial *trial, const SsBlock *block)
{
  guint64 address = block->address, end = block->address + block->bytes;

  for (guint i = 0; i < trial->ranges->len && address < end; i++)
    {
      const Range *range = &g_array_index (trial->ranges, Range, i);

      if (range->address <= address && address < range->address + range->bytes)
        address = range->address + range->bytes;
    }
  return address >= end;
}

static void
check (const Trial *trial, const char *conf)
{
  const SsAllocatorStats *stats = ss_allocator_stats (trial->allocator);
  g_autoptr (GPtrArray) blocks = g_ptr_array_new ();
  guint64 reserved_bytes = 0, allocated_bytes = 0;

  for (guint i = 0; i < trial->ranges->len; i++)
    reserved_bytes += g_array_index (trial->ranges, Range, i).bytes;
  for (guint i = 0; i < N_SLOTS; i++)
    if (trial->live[i] && trial->live[i]->bytes)
      {
        g_ptr_array_add (blocks, trial->live[i]);
        allocated_bytes += trial->live[i]->bytes;
        cr_assert (ge (u64, trial->live[i]->bytes, trial->live[i]->requested_bytes));
        cr_assert (is_reserved (trial, trial->live[i]), "%s", conf);
        cr_assert (eq (u64, trial->live[i]->address, trial->copy[i].address));
        cr_assert (eq (u64, trial->live[i]->bytes, trial->copy[i].bytes));
      }
  g_ptr_array_sort (blocks, compare_addresses);
  for (guint i = 1; i < blocks->len; i++)
    {
      const SsBlock *before = blocks->pdata[i - 1], *after = blocks->pdata[i];

      cr_assert (le (u64, before->address + before->bytes, after->address), "%s", conf);
    }
  cr_assert (eq (u64, stats->allocated_bytes, allocated_bytes), "%s", conf);
  cr_assert (eq (u64, stats->reserved_bytes, reserved_bytes), "%s", conf);
  cr_assert (le (u64, ss_allocator_stats (trial->exact)->allocated_bytes, allocated_bytes));
  cr_assert (le (u64, allocated_bytes, stats->active_bytes));
  cr_assert (le (u64, stats->active_bytes + stats->inactive_split_bytes, stats->reserved_bytes));
}

/* A request that fails leaves all blocks where they are and returns memory at most. */
static void
do_allocate (Trial *trial, guint slot, const char *conf)
{
  SsAllocatorStats before = *ss_allocator_stats (trial->allocator);
  const SsAllocatorStats *after = ss_allocator_stats (trial->allocator);
  guint64 bytes = draw_bytes (trial);
  guint stream = (guint) draw (trial, 4) / 2;
  SsOomReport report;

  trial->live[slot] = ss_allocator_allocate (trial->allocator, bytes, stream, &report);
  if (trial->live[slot])
    {
      trial->copy[slot] = *trial->live[slot];
      trial->live_exact[slot] = ss_allocator_allocate (trial->exact, bytes, stream, &report);
      cr_assert (eq (u64, trial->copy[slot].requested_bytes, bytes));
      return;
    }
  cr_assert (eq (u64, after->allocated_bytes, before.allocated_bytes));
  cr_assert (le (u64, after->active_bytes, before.active_bytes));
  cr_assert (le (u64, after->reserved_bytes, before.reserved_bytes), "%s", conf);
  cr_assert (eq (u64, after->n_ooms + after->n_rejections,
                 before.n_ooms + before.n_rejections + 1));
  cr_assert (eq (u64, report.reserved_bytes, after->reserved_bytes));
  check (trial, conf);
}

static void
do_release (Trial *trial, guint slot)
{
  ss_allocator_release (trial->allocator, trial->live[slot]);
  ss_allocator_release (trial->exact, trial->live_exact[slot]);
  trial->live[slot] = trial->live_exact[slot] = NULL;
}

static void
do_event (Trial *trial, const char *conf)
{
  guint slot = (guint) draw (trial, N_SLOTS);
  guint64 kind = draw (trial, 100);

  if (kind == 0)
    ss_allocator_synchronize (trial->allocator);
  else if (kind == 1 && draw (trial, 4) == 0)
    ss_allocator_empty_cache (trial->allocator);
  else if (trial->live[slot] == NULL)
    do_allocate (trial, slot, conf);
  else if (kind < 10)
    ss_allocator_record_stream (trial->allocator, trial->live[slot], (guint) draw (trial, 3));
  else
    do_release (trial, slot);
}

static void
run_trial (const SsAllocatorSettings *settings, guint64 seed)
{
  SsAllocatorSettings unlimited = { .capacity_bytes = G_MAXINT64 };
  Trial trial = { .state = seed };
  g_autoptr (SsAllocator) allocator = ss_allocator_new (&ss_allocator_caching, settings, NULL);
  g_autoptr (SsAllocator) exact = ss_allocator_new (&ss_allocator_exact, &unlimited, NULL);
  const SsAllocatorStats *stats = ss_allocator_stats (allocator);

  trial.allocator = allocator;
  trial.exact = exact;
  trial.ranges = g_array_new (FALSE, FALSE, sizeof (Range));
  ss_allocator_observe (allocator, note_segment, &trial);
  for (guint i = 0; i < N_EVENTS; i++)
    {
      do_event (&trial, settings->conf);
      if (i % 32 == 0)
        check (&trial, settings->conf);
    }
  for (guint i = 0; i < N_SLOTS; i++)
    if (trial.live[i])
      do_release (&trial, i);
  ss_allocator_empty_cache (allocator);
  /* had two free neighbours not been joined, their segment would be split and would stay */
  cr_assert (eq (u64, stats->reserved_bytes, 0), "%s", settings->conf);
  cr_assert (eq (u64, stats->active_bytes, 0));
  cr_assert (eq (u64, stats->requested_bytes, 0));
  cr_assert (eq (u64, stats->inactive_split_bytes, 0), "%s", settings->conf);
  cr_assert (eq (uint, trial.ranges->len, 0));
  g_array_unref (trial.ranges);
}

Test (allocator_caching, random_traces_keep_every_byte_in_its_place)
{
  static const SsAllocatorSettings settings[] = {
    { 2048 * MIB, 100 * MIB, "", 0 },
    { G_MAXINT64, 0, "", 0 },
    { G_MAXINT64, 0, "expandable_segments:True", 0 },
    { 2048 * MIB, 0, "max_split_size_mb:32", 0 },
    { 2048 * MIB, 0, "expandable_segments:True", 0 },
    { 2048 * MIB, 7, "expandable_segments:True,max_split_size_mb:64,large_segment_size_mb:33", 0 },
    { 2048 * MIB, 0,
      "roundup_power2_divisions:[1:8,64:2,>:4],garbage_collection_threshold:0.3", 0.8 },
    { 2048 * MIB, 0, "expandable_segments:True,roundup_power2_divisions:8", 0.5 },
    { 2048 * MIB, 0,
      "max_split_size_mb:64,garbage_collection_threshold:0.5,large_segment_size_mb:12", 0.9 },
    { 2048 * MIB, 0, "throw_on_cudamalloc_oom:True", 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++)
    for (guint64 seed = 1; seed <= 3; seed++)
      run_trial (&settings[i], seed * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15) + i);
}
