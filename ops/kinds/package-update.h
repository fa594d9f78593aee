/* SPDX-License-Identifier: MIT
 *
 * Kernels of other packages that update one parameter and its states in place.
 */
#pragma once

#include "ops/core/tape.h"

G_BEGIN_DECLS

#define SS_PACKAGE_UPDATES(X)                                                                      \
  X (BITSANDBYTES_32BIT, "bitsandbytes::optimizer_update_32bit", TRUE)                             \
  X (BITSANDBYTES_8BIT, "bitsandbytes::optimizer_update_8bit_blockwise", TRUE)                     \
  X (TORCHAO, "triton_fused_single_param_adam", FALSE)
typedef enum
{
#define SS_PACKAGE_UPDATE_MEMBER(UPPER, name, is_synchronous) SS_PACKAGE_##UPPER,
  SS_PACKAGE_UPDATES (SS_PACKAGE_UPDATE_MEMBER)
#undef SS_PACKAGE_UPDATE_MEMBER
  SS_N_PACKAGE_UPDATES
} SsPackageUpdate;

/* One run over `n` operands: the first `n_updated` are read and written, each of the others once,
 * and `more_bytes` are moved in memory that PyTorch's allocator does not know. */
void ss_package_update (SsTape *t, SsPackageUpdate kernel, guint64 more_bytes, guint n_updated,
                        guint n, SsValue *const *operands);

G_END_DECLS
