/* SPDX-License-Identifier: MIT */
#include "hw/time-model.h"

#include <math.h>

/* Shapes of tiles that cuBLAS's kernels have (CUTLASS's profiler lists them), and behind them those
 * of its kernels for skinny products (gemmSN), as adapters have them. */
static const struct
{
  gint64 m, n;
} tiles[] = {
  { 256, 128 }, { 128, 256 }, { 128, 128 }, { 128, 64 }, { 64, 128 }, { 64, 64 },
  { 256, 256 }, { 64, 256 },  { 128, 32 },  { 32, 128 }, { 128, 16 }, { 16, 128 },
  { 64, 16 },   { 16, 64 },
};
#define N_WIDE 8
/* A side of up to so many elements makes a product skinny. */
#define MAX_SKINNY 64

#define MAX_SPLIT 16
/* k is split while there are fewer parts than so many for each multiprocessor. */
#define MAX_PARTS 4
#define PARTIAL_SUM_BYTES 4      /* fp32 */

double
ss_gemm_alignment (guint alignment)
{
  switch (alignment)
    {
    case 1:                      /* [F] a compiled GPT-2's head of 50257 and of 50304 words */
      return 2.2;                /* (rasbt/LLMs-from-scratch, ch05/10), all three products */
    case 2:                      /* [P] an MLP of 10922 and of 10944: 273 and 398 TFLOP/s on H100 */
      return 1.46;               /* (stas00/ml-engineering, training/performance) */
    case 4:                      /* [E] 8 bytes: between whole loads and half of those at 2 */
      return 1.15;
    default:
      return 1;
    }
}

static gint64
ceil_div (gint64 a, gint64 b)
{
  return (a + b - 1) / b;
}

/* Arithmetic of the best tile and split, in units of  n_multiprocessors / (peak * efficiency). */
static double
least_work (const SsGemmModel *model, const SsChip *chip, const SsProduct *p, double s_per_flop)
{
  gint64 n_sms = chip->n_multiprocessors;
  guint n_tiles = MIN (p->m, p->n) <= MAX_SKINNY ? G_N_ELEMENTS (tiles) : N_WIDE;
  double least = HUGE_VAL;

  for (guint i = 0; i < n_tiles; i++)
    {
      gint64 tm = tiles[i].m, tn = tiles[i].n;
      gint64 n = ceil_div (p->m, tm) * ceil_div (p->n, tn) * p->batch;
      double shape = 1.0 / (double) tm + 1.0 / (double) tn - 1.0 / 64;
      double wave = 2.0 * (double) (tm * tn) * (1 + model->tile_penalty * 64 * shape) * s_per_flop;

      for (gint64 s = 1; s == 1 || (s <= MAX_SPLIT && n * s <= MAX_PARTS * n_sms); s *= 2)
        {
          double time_s = (double) ceil_div (n * s, n_sms) * wave
                          * ((double) ceil_div (p->k, s) + model->k_ramp);

          if (s > 1)
            time_s += PARTIAL_SUM_BYTES * (double) s * (double) p->m * (double) p->n
                      * (double) p->batch / (chip->bytes_per_s * model->memory);
          least = MIN (least, time_s);
        }
    }
  return least;
}

/* (a^q + b^q)^(1/q) */
static double
blend (double a, double b, double q)
{
  double longer = MAX (a, b), ratio = longer > 0 ? MIN (a, b) / longer : 0;

  /* to the power it adds less than 1e-7 */
  return ratio < 0.015 && q >= 4 ? longer : longer * pow (1 + pow (ratio, q), 1 / q);
}

/* Sizes beyond these are no product of a model; below them no count of tiles overflows. */
static gboolean
is_countable (const SsProduct *p)
{
  return (double) p->batch * (double) p->m * (double) p->n < 1e15 && p->k < 1e12;
}

double
ss_gemm_time_s (const SsGemmModel *model, const SsChip *chip, const SsProduct *p)
{
  double peak = chip->flop_per_s * model->efficiency, compute_s;

  if (is_countable (p))
    compute_s = least_work (model, chip, p, chip->n_multiprocessors / peak);
  else
    compute_s = 2.0 * (double) p->batch * (double) p->m * (double) p->n * (double) p->k / peak;
  compute_s *= ss_gemm_alignment (p->alignment);
  if (p->pass == SS_PRODUCT_WEIGHT_GRADIENT)
    compute_s *= model->weight_gradient;
  return model->floor_s
         + blend (compute_s, p->bytes / (chip->bytes_per_s * model->memory), model->sharpness);
}

#define AT(member) G_STRUCT_OFFSET (SsGemmModel, member)

const SsParameter *
ss_gemm_parameters (guint *n)
{
  static const SsParameter all[] = {
    { "efficiency", AT (efficiency), 0.02, 1.2, FALSE, NULL },
    { "k-ramp", AT (k_ramp), 0, 2000, FALSE, NULL },
    { "memory", AT (memory), 0.05, 0.95, FALSE, NULL },
    { "floor", AT (floor_s), 1e-7, 1e-3, TRUE, NULL },
    { "tile-penalty", AT (tile_penalty), 0, 3, FALSE, NULL },
    { "sharpness", AT (sharpness), 1, 20, FALSE, NULL },
    { "weight-gradient", AT (weight_gradient), 0.5, 2, FALSE, NULL },
    { "sustained", AT (sustained), 0.1, 1, FALSE, NULL },
  };

  *n = G_N_ELEMENTS (all);
  return all;
}
