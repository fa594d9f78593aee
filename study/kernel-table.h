/* SPDX-License-Identifier: MIT
 *
 * SsKernelTable: single kernels that somebody measured, and what the models of hw/ say of them: the
 * time functions alone, without a run.  The one who read it owns it.
 */
#pragma once

#include "hw/device.h"

G_BEGIN_DECLS

/* Parts of a memory-bound call: kernels one after the other. */
#define SS_KERNEL_MAX_PARTS 16

typedef struct
{
  SsMemoryKind kind;
  double bytes;
} SsKernelPart;

typedef struct
{
  char *id, *device, *source, *kernel, *pass;   /* as the table has them */
  SsTimeClass time_class;
  SsProduct product;
  SsAttentionKernel attention;
  SsAttentionCall call;          /* the forward's, where `pass` is both */
  gboolean has_forward, has_backward;
  guint n_parts;
  SsKernelPart part[SS_KERNEL_MAX_PARTS];
  double measured_s;
  char *group;                   /* rows that tell of the same sizes: (n, k), head size, kernel */
  char *not_expressible;         /* why no model says it, or NULL */
} SsKernelRow;

typedef struct
{
  GPtrArray *rows;               /* SsKernelRow, owned */
} SsKernelTable;

/* kernels.csv: id, class, device, kernel, m, n, k, heads, seq, head_dim, causal, pass, elements,
 * parts, time_s, source. SS_CSV_ERROR_INPUT. (transfer full) */
SsKernelTable *ss_kernel_table_read (const char *path, GError **error);
void ss_kernel_table_free (SsKernelTable *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsKernelTable, ss_kernel_table_free)

/* Seconds on that device, cool (no sustained share), its operands in 16 bits; of a row that is
 * expressible. 0: the device has no times of that attention kernel. */
double ss_kernel_row_time_s (const SsKernelRow *row, const SsDevice *device);

/* The same by that model of its class on that chip, with that floor of a kernel; the others may be
 * NULL. */
double ss_kernel_row_model_s (const SsKernelRow *row, const SsChip *chip, double floor_s,
                              const SsGemmModel *gemm, const SsAttentionModel *attention,
                              const SsMemoryModel *memory);

G_END_DECLS
