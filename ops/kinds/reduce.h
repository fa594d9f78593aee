/* SPDX-License-Identifier: MIT
 *
 * Reductions and scans, with the buffers that a reduction split over thread blocks takes.
 */
#pragma once

#include "ops/core/arithmetic.h"
#include "ops/core/tape.h"

G_BEGIN_DECLS

/* mean (-1, keepdim) */
SsValue *ss_mean_last (SsTape *t, SsValue *a);
/* The Euclidean norm over the dimensions whose bits are set in `reduced`, in a's own type; they
 * stay with size 1 if `is_kept`. No derivative. */
SsValue *ss_vector_norm (SsTape *t, SsValue *a, guint reduced, gboolean is_kept);
#define SS_ALL_DIMS G_MAXUINT
/* mean (dim, keepdim), no derivative */
SsValue *ss_mean_over (SsTape *t, SsValue *a, guint dim);
/* sum (dim), no derivative */
SsValue *ss_sum_over (SsTape *t, SsValue *a, guint dim);
/* sum () of bools: how many are true, an i64 scalar */
SsValue *ss_count (SsTape *t, SsValue *a);
/* max () or min () of i64: a scalar */
SsValue *ss_extremum (SsTape *t, gboolean is_max, SsValue *a);
/* cumsum (-1) of integers or bools: i64 */
SsValue *ss_cumsum (SsTape *t, SsValue *a);
/* all (): a bool scalar */
SsValue *ss_all (SsTape *t, SsValue *a);

/* Requests of a reduction beside its output: 0 or 2 sizes (buffer, semaphores) in bytes.
 * `reduced` by dimension; accumulator_bytes 4 for f32, bf16, f16. Source:
 * at::native::setReduceConfig, ATen/native/cuda/Reduce.cuh. */
guint ss_reduce_scratch (const SsTarget *target, const SsTensor *x, const gboolean *reduced,
                         guint accumulator_bytes, guint64 sizes[2]);
/* Adds them to a call's scratch. */
void ss_call_reduce_scratch (SsCall *c, const SsTensor *x, const gboolean *reduced,
                             guint accumulator_bytes);
/* Scratch of a scan over n i64 elements in one row. Source: cub::DeviceScan as recorded. */
guint64 ss_scan_scratch_i64 (guint64 n);

G_END_DECLS
