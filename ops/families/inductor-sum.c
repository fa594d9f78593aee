/* SPDX-License-Identifier: MIT */
#include "ops/families/inductor-sum.h"

static gint64
div_up (gint64 a, gint64 b)
{
  return (a + b - 1) / b;
}

static gint64
last_power_of_2 (gint64 n)
{
  gint64 power = 1;

  while (power <= n / 2)
    power *= 2;
  return power;
}

/* The divisor of n that is nearest, the smaller of two. */
static gint64
nearest_divisor (gint64 n, gint64 wanted)
{
  gint64 best = 1;

  for (gint64 d = 1; d <= n && d < 2 * wanted; d++)
    if (n % d == 0 && ABS (d - wanted) < ABS (best - wanted))
      best = d;
  return best;
}

/* torch/_inductor/scheduler.py, MixOrderReduction.can_fuse: both sums are one kernel, whose blocks
 * leave partial sums of the columns. */
static gboolean
is_mixed (gint64 n_rows, gint64 width)
{
  return n_rows >= div_up (5 * (1 << 20), width) && n_rows >= 2 * width && n_rows >= 4096
         && width <= 16 * 1024;
}

/* torch/_inductor/codegen/simd.py, _codegen_mix_order_reduction: rows of a block. */
static gint64
mixed_split_size (const SsTarget *target, gint64 n_rows)
{
  gint64 n = last_power_of_2 (n_rows / (target->n_multiprocessors * 8));

  return CLAMP (n, 16, 128);
}

/* torch/_inductor/ir.py, Reduction.num_splits, of an outer sum: 128 columns and 256 threads a
 * block, each with 4 rows at a time; 32 to 512 elements a thread. */
static gint64
outer_split_size (const SsTarget *target, gint64 n_rows, gint64 width)
{
  const gint64 n_threads = (gint64) target->n_multiprocessors * target->threads_per_multiprocessor;
  const gint64 n_blocks = div_up (n_threads / 256, div_up (width, 128));
  gint64 size, nearest;

  if (n_rows < div_up (32 * n_threads, width))
    return 32;
  if (n_rows < div_up (512 * n_threads, width))
    {
      size = div_up (n_rows, 4 * n_blocks);
      nearest = nearest_divisor (n_rows, size);
      return ABS (size - nearest) < 20 ? MAX (nearest, 32) : size;
    }
  nearest = nearest_divisor (n_rows, 512);
  return ABS (nearest - 512) < 50 ? nearest : 512;
}

gint64
ss_inductor_n_partial_sums (const SsTarget *target, gint64 n_rows, gint64 width)
{
  g_return_val_if_fail (n_rows > 0 && width > 0, 1);
  if (is_mixed (n_rows, width))
    return div_up (n_rows, mixed_split_size (target, n_rows));
  if (n_rows <= 32 || width >= target->n_multiprocessors * 2 * 32)
    return 1;
  return div_up (n_rows, 4 * outer_split_size (target, n_rows, width));
}
