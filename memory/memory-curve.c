/* SPDX-License-Identifier: MIT */
#include "memory/memory-curve.h"

#include "memory/tensor.h"

void
ss_memory_curve_init (SsMemoryCurve *self)
{
  *self = (SsMemoryCurve) { 0 };
}

void
ss_memory_curve_reserve (SsMemoryCurve *self, guint64 reserved_bytes)
{
  self->now.reserved_bytes = reserved_bytes;
  self->peak_reserved_bytes = MAX (self->peak_reserved_bytes, reserved_bytes);
}

gboolean
ss_memory_curve_allocate (SsMemoryCurve *self,
                          SsCategory     category,
                          guint64        bytes,
                          guint64        reserved_bytes)
{
  g_return_val_if_fail (category < SS_N_CATEGORIES, FALSE);
  g_return_val_if_fail (ss_size_add (self->now.allocated_bytes, bytes) != SS_SIZE_OVERFLOW, FALSE);
  ss_memory_curve_reserve (self, reserved_bytes);
  self->now.allocated_bytes += bytes;
  self->now.by_category[category] += bytes;
  if (self->now.allocated_bytes <= self->peak.allocated_bytes)
    return FALSE;
  self->peak = self->now;
  return TRUE;
}

void
ss_memory_curve_release (SsMemoryCurve *self,
                         SsCategory     category,
                         guint64        bytes,
                         guint64        reserved_bytes)
{
  g_return_if_fail (category < SS_N_CATEGORIES);
  g_return_if_fail (bytes <= self->now.by_category[category]);
  ss_memory_curve_reserve (self, reserved_bytes);
  self->now.allocated_bytes -= bytes;
  self->now.by_category[category] -= bytes;
}

void
ss_memory_span_begin (SsMemorySpan *self, const SsMemoryCurve *curve)
{
  *self = (SsMemorySpan) {
    .start_allocated_bytes = curve->now.allocated_bytes,
    .peak_allocated_bytes = curve->now.allocated_bytes,
    .peak_reserved_bytes = curve->now.reserved_bytes,
  };
}

gboolean
ss_memory_span_update (SsMemorySpan *self, const SsMemoryCurve *curve)
{
  self->peak_reserved_bytes = MAX (self->peak_reserved_bytes, curve->now.reserved_bytes);
  if (curve->now.allocated_bytes <= self->peak_allocated_bytes)
    return FALSE;
  self->peak_allocated_bytes = curve->now.allocated_bytes;
  return TRUE;
}
