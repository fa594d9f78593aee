/* SPDX-License-Identifier: MIT
 *
 * bitsandbytes' kernels that quantise by blocks and give a tensor back. No derivatives.
 */
#pragma once

#include "ops/core/tape.h"

G_BEGIN_DECLS

#define SS_QUANTISED_KERNELS(X)                                                                    \
  X (QUANTISE_4BIT, "bitsandbytes::quantize_4bit")                                                 \
  X (QUANTISE_BLOCKWISE, "bitsandbytes::quantize_blockwise")                                       \
  X (DEQUANTISE_4BIT, "bitsandbytes::dequantize_4bit")                                             \
  X (DEQUANTISE_BLOCKWISE, "bitsandbytes::dequantize_blockwise")
typedef enum
{
#define SS_QUANTISED_MEMBER(UPPER, name) SS_QUANTISED_##UPPER,
  SS_QUANTISED_KERNELS (SS_QUANTISED_MEMBER)
#undef SS_QUANTISED_MEMBER
  SS_N_QUANTISED
} SsQuantisedKernel;

/* Two inputs read, one tensor of these sizes written. (transfer floating) */
SsValue *ss_quantised (SsTape *t, SsQuantisedKernel kernel, SsValue *a, SsValue *b, SsDtype dtype,
                       guint n_dims, const gint64 *size);

G_END_DECLS
