/* SPDX-License-Identifier: MIT
 *
 * bitsandbytes' Linear4bit (0.50.2): a frozen weight in nf4, blocks of 64, given back in the
 * compute type at each use. It holds its tensors; the creator owns it.
 */
#pragma once

#include "ops/core/tape.h"

G_BEGIN_DECLS

typedef struct
{
  gint64 n_out, n_in;
  SsDtype dtype;                 /* compute_dtype */
  SsValue *packed;               /* Params4bit: (n_out * n_in / 2, 1) u8 */
  SsValue *code;                 /* (16) f32: what four bits stand for */
  SsValue *absmax;               /* (blocks) f32, or u8 if quantised again */
  SsValue *absmax_scale, *absmax_code, *offset;   /* of the second quantisation, or NULL */
} SsLinear4Bit;

/* Quantises a weight (n_out, n_in) of type `dtype` on the device, where it is only for a while.
 * *map is name2qmap["dynamic"], made by the first that is quantised doubly (held by the caller);
 * map NULL: once only. */
SsLinear4Bit *ss_linear_4bit_new (SsTape *t, gint64 n_out, gint64 n_in, SsDtype dtype,
                                  SsValue **map);
void ss_linear_4bit_free (SsLinear4Bit *self);
/* x (..., in) -> (..., out) in x's type; nothing is kept for backward. `bias` may be NULL. */
SsValue *ss_linear_4bit (SsTape *t, const SsLinear4Bit *self, SsValue *x, SsValue *bias);

G_END_DECLS
