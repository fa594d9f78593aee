/* SPDX-License-Identifier: MIT
 *
 * Copies between the host's memory and the device's. Host tensors are no values: the tape knows of
 * device memory only.
 */
#pragma once

#include "ops/core/tape.h"

G_BEGIN_DECLS

/* The copy of `value.to (device)`: fills `value`, made before it, from host memory on the current
 * stream. From pinned memory the host goes on at once (non_blocking); else it waits until the
 * stream has done it (cudaMemcpyAsync, "transfers from pageable host memory"; aten/src/ATen/native/
 * cuda/Copy.cu, copy_kernel_cuda). */
void ss_copy_from_host (SsTape *t, SsValue *value, gboolean is_pinned);

G_END_DECLS
