/* SPDX-License-Identifier: MIT
 *
 * SsTarget: the few numbers of a device that a kernel's choice and scratch memory depend on.
 * It knows no device by name; hw/ fills it.  A plain value.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  guint compute_capability;             /* 10 * major + minor: 90 for an H100 */
  guint n_multiprocessors;
  guint threads_per_multiprocessor;
  guint64 workspace_bytes;              /* matmul workspace of one (thread, stream) */
  gboolean is_deterministic;            /* torch.use_deterministic_algorithms (True) */
} SsTarget;

G_END_DECLS
