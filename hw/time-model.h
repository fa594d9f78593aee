/* SPDX-License-Identifier: MIT
 *
 * The models of kernel time, one for each class of op: pure functions of a call, a chip and a
 * device's parameters.  They know no op, no file and no clock.  Plain values.
 */
#pragma once

#include <glib.h>

#include "ops/core/op.h"

G_BEGIN_DECLS

/* What a model needs to know of the device itself. */
typedef struct
{
  double flop_per_s;             /* dense peak in the type of the call */
  double bytes_per_s;            /* of the device memory */
  guint n_multiprocessors;
} SsChip;

/* ---- matrix products ---- */

typedef struct
{
  double efficiency;             /* of the peak, by whole tiles */
  double k_ramp;                 /* elements of k that filling and draining a tile are worth */
  double memory;                 /* share of the bandwidth */
  double floor_s;                /* the shortest product */
  double tile_penalty;           /* what tiles below 128 x 128 lose */
  double sharpness;              /* of the bend between arithmetic and bytes */
  double weight_gradient;        /* time of that product over the forward one's */
  double sustained;              /* share of `efficiency` that a whole step keeps */
} SsGemmModel;

typedef struct
{
  gint64 batch, m, n, k;
  double bytes;                  /* read and written */
  guint alignment;               /* see SsOp; 8 where it does not matter */
  SsProductPass pass;
} SsProduct;

/* Seconds:  floor + (t_c^q + t_m^q)^(1/q),  t_m = bytes / (memory * bandwidth),
 *   t_c = waves * 2 T_m T_n (k / s + k_ramp) * multiprocessors / (peak * efficiency * r)
 *         + 4 s m n / (memory * bandwidth) if s > 1,
 *   waves = ceil (ceil (m / T_m) ceil (n / T_n) batch * s / multiprocessors),
 *   r = 1 / (1 + tile_penalty * 64 (1 / T_m + 1 / T_n - 1 / 64)),
 * at the tile T_m x T_n and the split of k into s parts that take least; k is split only where the
 * tiles leave multiprocessors idle.  Tiles and waves: NVIDIA, Matrix Multiplication Background
 * User's Guide, sections 3 and 4; the form is fitted to ai-dynamo/aiconfigurator's products.
 * t_c is times ss_gemm_alignment. */
double ss_gemm_time_s (const SsGemmModel *model, const SsChip *chip, const SsProduct *product);
/* Time of products of 16-bit operands (and TF32) whose rows do not begin at multiples of 16 bytes,
 * over that of those whose do. */
double ss_gemm_alignment (guint alignment);

/* ---- fused attention ---- */

enum { SS_HEAD_64, SS_HEAD_128, SS_HEAD_256, SS_N_HEAD_SIZES };

typedef struct
{
  /* share of the peak on long sequences, at heads of 64, 128 and 256 and linearly between */
  double forward[SS_N_HEAD_SIZES], backward[SS_N_HEAD_SIZES];
  double ramp;                   /* keys that starting a row is worth */
  double mask;                   /* time of a causal kernel beyond the tiles it computes */
} SsAttentionModel;

typedef struct
{
  double flops;                  /* causal: of the half */
  double bytes;
  double n_keys, head_size;
  gboolean is_causal, is_backward;
} SsAttentionCall;

/* Seconds beyond the floor: the longer of bytes / (0.85 bandwidth) and
 *   flops (1 + 128 / keys) mask / (peak * share) * (1 + ramp / keys)
 * the first two factors for causal calls only: tiles of 128 on the diagonal are computed whole
 * (Dao-AILab/flash-attention).  Its backward is 5 products to the forward's 2 (issue 1525 there).
 */
double ss_attention_time_s (const SsAttentionModel *model, const SsChip *chip,
                            const SsAttentionCall *call);

/* ---- bound by bytes ---- */

typedef struct
{
  double share[SS_N_MEMORY_KINDS]; /* of the bandwidth, on bytes counted once a pass */
  double multi_tensor;           /* the same by foreach and fused passes over lists */
} SsMemoryModel;

/* Seconds beyond the floor at a share of the bandwidth.  What the call before left in the cache is
 * not counted: kernels launched on the same data again run up to three times as fast (gpu-benches,
 * gpu-l2-cache), those of whole steps do not (docs/times.md). */
double ss_memory_time_s (const SsChip *chip, double share, double bytes);

/* ---- their parameters by name ---- */

typedef struct
{
  const char *name;              /* attribute of the device file */
  gsize offset;                  /* of a double in the model */
  double min, max;               /* seconds if is_time */
  gboolean is_time;
  const char *otherwise;         /* takes the value of this one where it is not stated; or NULL */
} SsParameter;

const SsParameter *ss_gemm_parameters (guint *n);
const SsParameter *ss_attention_parameters (guint *n);
const SsParameter *ss_memory_parameters (guint *n);
static inline double *
ss_parameter_in (const SsParameter *self, gpointer model)
{
  return (double *) ((char *) model + self->offset);
}
/* "flash", "cudnn" ... of SsAttentionKernel, NULL-terminated. */
const char *const *ss_attention_kernel_names (void);

G_END_DECLS
