/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "ops/families/inductor-sum.h"
#include "trace-fixture.h"

/* An H100 has 132 multiprocessors of 2,048 threads: 270,336 threads, 32 elements each are
 * 8,650,752. */
Test (inductor_sum, partial_sums_by_hand)
{
  const struct
  {
    gint64 n_rows, width, n_partials;
  } rows[] = {
    /* 8,388,608 elements: 32 a thread, 4 rows at a time */
    { 2048, 4096, 2048 / 128 },
    /* one kernel for both sums: 8192 / 1056 rows a block, but at least 16 */
    { 8192, 4096, 8192 / 16 },
    /* 32768 / 1056 = 31: the power of two below is 16 */
    { 32768, 4096, 32768 / 16 },
    /* 262144 / 1056 = 248: 128 */
    { 262144, 4096, 262144 / 128 },
    /* too few rows for that: 1,056 blocks of 256 threads over 32 blocks of columns are 33;
     * 4096 / (4 * 33) = 32 rows a thread */
    { 4096, 4096, 4096 / 128 },
    /* nothing to split */
    { 32, 4096, 1 }, { 128, 4096, 1 },
    /* columns enough: 132 * 64 */
    { 4096, 8448, 1 }, { 4096, 8447, 4096 / (4 * 64) },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    cr_expect (eq (i64, ss_inductor_n_partial_sums (&fixture_h100, rows[i].n_rows, rows[i].width),
                   rows[i].n_partials), "%u", i);
}
