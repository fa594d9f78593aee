/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "memory/allocator-exact.h"

#define MIB G_GUINT64_CONSTANT (1048576)

static SsAllocator *
exact (guint64 capacity_bytes, guint64 external_bytes, const char *conf)
{
  SsAllocatorSettings settings = { .capacity_bytes = capacity_bytes,
                                   .external_bytes = external_bytes,
                                   .conf = conf };
  SsAllocator *allocator = ss_allocator_new (&ss_allocator_exact, &settings, NULL);

  cr_assert (ne (ptr, allocator, NULL));
  return allocator;
}

Test (allocator_exact, nothing_is_rounded_and_reserved_is_allocated)
{
  g_autoptr (SsAllocator) allocator = exact (1000, 0, NULL);
  SsOomReport report;
  SsBlock *a = ss_allocator_allocate (allocator, 1, 0, &report);
  SsBlock *b = ss_allocator_allocate (allocator, 513, 3, &report);
  const SsAllocatorStats *stats = ss_allocator_stats (allocator);

  cr_assert (eq (u64, a->bytes, 1));
  cr_assert (eq (u64, b->bytes, 513));
  cr_assert (ne (u64, a->address, b->address));
  cr_assert (eq (u64, stats->allocated_bytes, 514));
  cr_assert (eq (u64, stats->active_bytes, 514));
  cr_assert (eq (u64, stats->reserved_bytes, 514));
  cr_assert (eq (u64, stats->requested_bytes, 514));
  ss_allocator_record_stream (allocator, b, 1);
  ss_allocator_release (allocator, b);
  ss_allocator_synchronize (allocator);
  cr_assert (eq (u64, stats->reserved_bytes, 1));
}

/* 1000 - 100 of others - 600 held = 300 left: 300 fits, 301 does not */
Test (allocator_exact, the_last_byte_can_be_had_and_not_one_more)
{
  g_autoptr (SsAllocator) allocator = exact (1000, 100, NULL);
  SsOomReport report;
  SsBlock *block;

  cr_assert (ss_allocator_allocate (allocator, 600, 0, &report) != NULL);
  cr_assert (ss_allocator_allocate (allocator, 301, 0, &report) == NULL);
  cr_assert (eq (u64, report.tensor_bytes, 301));
  cr_assert (eq (u64, report.requested_bytes, 301));
  cr_assert (eq (u64, report.free_bytes, 300));
  cr_assert (eq (u64, report.allocated_bytes, 600));
  cr_assert (eq (u64, report.reserved_bytes, 600));
  cr_assert (eq (u64, ss_allocator_stats (allocator)->n_ooms, 1));
  cr_assert (eq (u64, ss_allocator_stats (allocator)->n_retries, 0));
  block = ss_allocator_allocate (allocator, 300, 0, &report);
  cr_assert (ne (ptr, block, NULL));
  cr_assert (ss_allocator_allocate (allocator, 0, 0, &report) != NULL);
}

/* half of 1000 bytes, the others' not counted */
Test (allocator_exact, a_memory_fraction_bounds_it_as_well)
{
  g_autoptr (SsAllocator) allocator = exact (1000, 400, "per_process_memory_fraction:0.5");
  SsOomReport report;

  cr_assert (ss_allocator_allocate (allocator, 501, 0, &report) == NULL);
  cr_assert (ss_allocator_allocate (allocator, 500, 0, &report) != NULL);
}

Test (allocator_exact, without_a_capacity_only_an_overflow_fails)
{
  g_autoptr (SsAllocator) allocator = exact (G_MAXINT64, 0, NULL);
  guint64 half = G_GUINT64_CONSTANT (1) << 62;
  SsOomReport report;

  cr_assert (ss_allocator_allocate (allocator, half, 0, &report) != NULL);
  cr_assert (ss_allocator_allocate (allocator, half, 0, &report) == NULL);
  cr_assert (ss_allocator_allocate (allocator, G_MAXUINT64, 0, &report) == NULL);
  cr_assert (ss_allocator_allocate (allocator, half - 1, 0, &report) != NULL);
}

static void
note (SsSegmentAction action, guint64 address, guint64 bytes, guint stream, gpointer user_data)
{
  g_string_append_printf (user_data, "%s %d %u;", action == SS_SEGMENT_ALLOC ? "alloc" : "free",
                          (int) bytes, stream);
  cr_assert (gt (u64, address, 0));
}

Test (allocator_exact, the_observer_sees_each_byte_come_and_go)
{
  g_autoptr (SsAllocator) allocator = exact (1000, 0, NULL);
  g_autoptr (GString) seen = g_string_new (NULL);
  SsOomReport report;
  SsBlock *block;

  ss_allocator_observe (allocator, note, seen);
  block = ss_allocator_allocate (allocator, 7, 2, &report);
  ss_allocator_release (allocator, block);
  ss_allocator_release (allocator, ss_allocator_allocate (allocator, 0, 0, &report));
  cr_assert (eq (str, seen->str, "alloc 7 2;free 7 2;"));
}
