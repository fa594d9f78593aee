/* SPDX-License-Identifier: MIT */
#include "memory/tensor.h"

static const struct
{
  const char *name;
  guint bytes;
  gboolean is_floating;
} dtypes[SS_N_DTYPES] = {
  [SS_BOOL] = { "bool", 1, FALSE }, [SS_U8] = { "u8", 1, FALSE },   [SS_I32] = { "i32", 4, FALSE },
  [SS_U64] = { "u64", 8, FALSE },
  [SS_I64] = { "i64", 8, FALSE },   [SS_F16] = { "f16", 2, TRUE },  [SS_BF16] = { "bf16", 2, TRUE },
  [SS_F32] = { "f32", 4, TRUE },    [SS_F64] = { "f64", 8, TRUE },
};

/* ---- element types ---- */

const char *
ss_dtype_name (SsDtype dtype)
{
  g_return_val_if_fail (dtype < SS_N_DTYPES, NULL);
  return dtypes[dtype].name;
}

guint64
ss_dtype_bytes (SsDtype dtype)
{
  g_return_val_if_fail (dtype < SS_N_DTYPES, 0);
  return dtypes[dtype].bytes;
}

gboolean
ss_dtype_is_floating (SsDtype dtype)
{
  g_return_val_if_fail (dtype < SS_N_DTYPES, FALSE);
  return dtypes[dtype].is_floating;
}

SsDtype
ss_dtype_promote (SsDtype a, SsDtype b)
{
  if ((a == SS_F16 && b == SS_BF16) || (a == SS_BF16 && b == SS_F16))
    return SS_F32;
  return MAX (a, b);
}

/* ---- shapes ---- */

/* A stride beyond 63 bits is of a shape that ss_tensor_count refuses anyway. */
static gint64
stride_times (gint64 stride, gint64 size)
{
  guint64 product = ss_size_mul ((guint64) stride, (guint64) MAX (size, 1));

  return product == SS_SIZE_OVERFLOW ? 0 : (gint64) product;
}

SsTensor
ss_tensor (SsDtype dtype, guint n_dims, const gint64 *size)
{
  SsTensor x = { .n_dims = (guint8) n_dims, .dtype = (guint8) dtype };
  gint64 stride = 1;

  g_assert (n_dims <= SS_MAX_DIMS);
  for (guint i = n_dims; i-- > 0;)
    {
      x.size[i] = size[i];
      x.stride[i] = stride;
      stride = stride_times (stride, size[i]);
    }
  return x;
}

guint64
ss_tensor_count (const SsTensor *x)
{
  guint64 count = 1;

  for (guint i = 0; i < x->n_dims; i++)
    count = ss_size_mul (count, x->size[i] < 0 ? SS_SIZE_OVERFLOW : (guint64) x->size[i]);
  return count;
}

guint64
ss_tensor_bytes (const SsTensor *x)
{
  return ss_size_mul (ss_tensor_count (x), ss_dtype_bytes ((SsDtype) x->dtype));
}

gboolean
ss_tensor_same_sizes (const SsTensor *a, const SsTensor *b)
{
  if (a->n_dims != b->n_dims)
    return FALSE;
  for (guint i = 0; i < a->n_dims; i++)
    if (a->size[i] != b->size[i])
      return FALSE;
  return TRUE;
}

gboolean
ss_tensor_same_strides (const SsTensor *a, const SsTensor *b)
{
  for (guint i = 0; i < a->n_dims; i++)
    if (a->size[i] > 1 && a->stride[i] != b->stride[i])
      return FALSE;
  return TRUE;
}

gboolean
ss_tensor_is_contiguous (const SsTensor *x)
{
  SsTensor contiguous = ss_tensor ((SsDtype) x->dtype, x->n_dims, x->size);

  return ss_tensor_same_strides (x, &contiguous);
}

/* The dimensions of `ref`, slowest first; those of size 1 stay where they are. */
static void
order_of (const SsTensor *ref, guint *perm)
{
  for (guint i = 0; i < ref->n_dims; i++)
    {
      guint j = i;

      for (; j > 0 && ref->size[i] > 1 && ref->size[perm[j - 1]] > 1
             && ref->stride[perm[j - 1]] < ref->stride[i];
           j--)
        perm[j] = perm[j - 1];
      perm[j] = i;
    }
}

void
ss_tensor_like (SsTensor *out, const SsTensor *ref)
{
  guint perm[SS_MAX_DIMS];
  gint64 stride = 1;

  order_of (ref, perm);
  for (guint i = ref->n_dims; i-- > 0;)
    {
      out->stride[perm[i]] = stride;
      stride = stride_times (stride, out->size[perm[i]]);
    }
}

gboolean
ss_tensor_is_dense (const SsTensor *x)
{
  SsTensor dense = *x;

  ss_tensor_like (&dense, x);
  return ss_tensor_same_strides (x, &dense);
}

/* Walks the old dimensions from the last; a run of them that lies contiguously is one chunk, and
 * the new sizes must fill chunk after chunk exactly. */
gboolean
ss_tensor_view (const SsTensor *x, guint n_dims, const gint64 *size, SsTensor *out)
{
  gint v = (gint) n_dims - 1;
  gint64 base, chunk = 1, view = 1;

  *out = ss_tensor ((SsDtype) x->dtype, n_dims, size);
  if (x->n_dims == 0)
    return TRUE;
  base = x->stride[x->n_dims - 1];
  for (gint d = x->n_dims - 1; d >= 0; d--)
    {
      chunk *= x->size[d];
      if (d > 0 && (x->size[d - 1] == 1 || x->stride[d - 1] == chunk * base))
        continue;
      while (v >= 0 && (view < chunk || size[v] == 1))
        {
          out->stride[v] = view * base;
          view *= size[v--];
        }
      if (view != chunk)
        return FALSE;
      if (d > 0)
        {
          base = x->stride[d - 1];
          chunk = view = 1;
        }
    }
  return v == -1;
}

char *
ss_tensor_to_string (const SsTensor *x)
{
  GString *text = g_string_new (ss_dtype_name ((SsDtype) x->dtype));

  g_string_append_c (text, '[');
  for (guint i = 0; i < x->n_dims; i++)
    g_string_append_printf (text, "%s%" G_GINT64_FORMAT, i ? "x" : "", x->size[i]);
  g_string_append_c (text, ']');
  return g_string_free (text, FALSE);
}
