/* SPDX-License-Identifier: MIT
 *
 * How TorchInductor sums the rows of a matrix: in one kernel, or by partial sums in a buffer of
 * their own.  It knows no graph.
 */
#pragma once

#include "ops/core/target.h"

G_BEGIN_DECLS

/* Partial sums, f32, of each of `width` columns over `n_rows` rows, where the same data is reduced
 * along each row too (a norm's backward does both); 1: the sum is made at once, without a
 * buffer. */
gint64 ss_inductor_n_partial_sums (const SsTarget *target, gint64 n_rows, gint64 width);

G_END_DECLS
