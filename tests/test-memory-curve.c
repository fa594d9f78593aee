/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "memory/memory-curve.h"

/* parameters 10, activations 5 (15, peak), -5, gradients 5 (15 again: not a new peak), logits 1
 * (16, peak) */
Test (memory_curve, the_peak_is_the_first_moment_of_the_largest_sum)
{
  SsMemoryCurve curve;

  ss_memory_curve_init (&curve);
  cr_assert (ss_memory_curve_allocate (&curve, SS_CATEGORY_PARAMETERS, 10, 20));
  cr_assert (ss_memory_curve_allocate (&curve, SS_CATEGORY_ACTIVATIONS, 5, 20));
  ss_memory_curve_release (&curve, SS_CATEGORY_ACTIVATIONS, 5, 20);
  cr_assert (not (ss_memory_curve_allocate (&curve, SS_CATEGORY_GRADIENTS, 5, 30)));
  cr_assert (eq (u64, curve.peak.by_category[SS_CATEGORY_ACTIVATIONS], 5));
  cr_assert (eq (u64, curve.peak.by_category[SS_CATEGORY_GRADIENTS], 0));
  cr_assert (eq (u64, curve.peak.reserved_bytes, 20));
  cr_assert (ss_memory_curve_allocate (&curve, SS_CATEGORY_LOGITS, 1, 25));
  cr_assert (eq (u64, curve.peak.allocated_bytes, 16));
  cr_assert (eq (u64, curve.peak.by_category[SS_CATEGORY_ACTIVATIONS], 0));
  cr_assert (eq (u64, curve.peak.by_category[SS_CATEGORY_GRADIENTS], 5));
  cr_assert (eq (u64, curve.peak.reserved_bytes, 25));
  cr_assert (eq (u64, curve.peak_reserved_bytes, 30));
}

Test (memory_curve, categories_add_up_to_allocated)
{
  SsMemoryCurve curve;
  guint64 sum = 0;

  ss_memory_curve_init (&curve);
  for (guint i = 0; i < SS_N_CATEGORIES; i++)
    ss_memory_curve_allocate (&curve, (SsCategory) i, 1 << i, 4096);
  ss_memory_curve_release (&curve, SS_CATEGORY_GRADIENTS, 3, 4096);
  for (guint i = 0; i < SS_N_CATEGORIES; i++)
    sum += curve.now.by_category[i];
  cr_assert (eq (u64, sum, curve.now.allocated_bytes));
  cr_assert (eq (u64, sum, (1 << SS_N_CATEGORIES) - 1 - 3));
}

/* a request that is served after a flush may see more reserved before the flush than at its end */
Test (memory_curve, reserved_peaks_between_events_count)
{
  SsMemoryCurve curve;
  SsMemorySpan span;

  ss_memory_curve_init (&curve);
  ss_memory_span_begin (&span, &curve);
  ss_memory_curve_reserve (&curve, 50);
  ss_memory_span_update (&span, &curve);
  ss_memory_curve_reserve (&curve, 10);
  ss_memory_span_update (&span, &curve);
  ss_memory_curve_allocate (&curve, SS_CATEGORY_LOGITS, 5, 40);
  ss_memory_span_update (&span, &curve);
  cr_assert (eq (u64, curve.peak_reserved_bytes, 50));
  cr_assert (eq (u64, span.peak_reserved_bytes, 50));
  cr_assert (eq (u64, curve.peak.reserved_bytes, 40));
}

Test (memory_curve, a_span_has_its_own_peak_and_may_peak_at_its_start)
{
  SsMemoryCurve curve;
  SsMemorySpan span;

  ss_memory_curve_init (&curve);
  ss_memory_curve_allocate (&curve, SS_CATEGORY_ACTIVATIONS, 100, 100);
  ss_memory_span_begin (&span, &curve);
  ss_memory_curve_release (&curve, SS_CATEGORY_ACTIVATIONS, 60, 100);
  cr_assert (not (ss_memory_span_update (&span, &curve)));
  ss_memory_curve_allocate (&curve, SS_CATEGORY_TEMPORARIES, 60, 100);
  cr_assert (not (ss_memory_span_update (&span, &curve)));
  cr_assert (eq (u64, span.peak_allocated_bytes, 100));
  ss_memory_curve_release (&curve, SS_CATEGORY_TEMPORARIES, 60, 80);
  ss_memory_span_begin (&span, &curve);
  cr_assert (eq (u64, span.start_allocated_bytes, 40));
  ss_memory_curve_allocate (&curve, SS_CATEGORY_GRADIENTS, 8, 80);
  cr_assert (ss_memory_span_update (&span, &curve));
  cr_assert (eq (u64, span.peak_allocated_bytes, 48));
  cr_assert (eq (u64, span.peak_reserved_bytes, 80));
}
