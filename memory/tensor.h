/* SPDX-License-Identifier: MIT
 *
 * SsTensor: a shape, an element type and strides, without values; and byte counts that cannot wrap.
 * It knows nothing of storages, lives, devices or allocators.  It is a plain value: copy it.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A tensor's order is at most 6: vision towers view patches as (n, t, h, w, c, ...). */
#define SS_MAX_DIMS 6

typedef enum
{
  SS_BOOL,
  SS_U8,
  SS_I32,
  SS_I64,
  SS_U64,
  SS_F16,
  SS_BF16,
  SS_F32,
  SS_F64,
  SS_N_DTYPES
} SsDtype;

typedef struct
{
  guint8 n_dims;
  guint8 dtype;                  /* SsDtype */
  gint64 size[SS_MAX_DIMS];
  gint64 stride[SS_MAX_DIMS];    /* in elements; 0 in an expanded dimension */
} SsTensor;

/* The value of every checked product or sum that would not fit into 63 bits.  It is sticky:
 * whatever is computed from it is SS_SIZE_OVERFLOW again.  The tape turns it into an error
 * before allocation. */
#define SS_SIZE_OVERFLOW G_MAXUINT64

static inline guint64
ss_size_mul (guint64 a, guint64 b)
{
  guint64 product;

  /* overflow times zero stays overflow: the caller must hear of it */
  if (a == SS_SIZE_OVERFLOW || b == SS_SIZE_OVERFLOW || !g_uint64_checked_mul (&product, a, b)
      || product > G_MAXINT64)
    return SS_SIZE_OVERFLOW;
  return product;
}

static inline guint64
ss_size_add (guint64 a, guint64 b)
{
  guint64 sum;

  if (a == SS_SIZE_OVERFLOW || b == SS_SIZE_OVERFLOW || !g_uint64_checked_add (&sum, a, b)
      || sum > G_MAXINT64)
    return SS_SIZE_OVERFLOW;
  return sum;
}

/* "bf16", "f32", "i64", "bool" ...: the words of the op logs. */
const char *ss_dtype_name (SsDtype dtype);
/* Bytes of one element. */
guint64 ss_dtype_bytes (SsDtype dtype);
gboolean ss_dtype_is_floating (SsDtype dtype);
/* The type of a pointwise result of two tensors that both have dimensions (torch.promote_types):
 * the wider category wins; bf16 with f16 gives f32. */
SsDtype ss_dtype_promote (SsDtype a, SsDtype b);

/* A contiguous tensor. (transfer: by value)  Strides of shapes whose element count overflows are 0;
 * ss_tensor_count tells. */
SsTensor ss_tensor (SsDtype dtype, guint n_dims, const gint64 *size);
/* Number of elements, or SS_SIZE_OVERFLOW. */
guint64 ss_tensor_count (const SsTensor *x);
/* Number of elements times the element size, or SS_SIZE_OVERFLOW. */
guint64 ss_tensor_bytes (const SsTensor *x);
gboolean ss_tensor_same_sizes (const SsTensor *a, const SsTensor *b);
/* Equal strides wherever a size is above 1. */
gboolean ss_tensor_same_strides (const SsTensor *a, const SsTensor *b);
gboolean ss_tensor_is_contiguous (const SsTensor *x);
/* Non-overlapping and dense: some order of the dimensions is contiguous. */
gboolean ss_tensor_is_dense (const SsTensor *x);
/* Gives `out` (sizes set) dense strides in the order of those of `ref` (TensorIterator, empty_like
 * with preserve_format). */
void ss_tensor_like (SsTensor *out, const SsTensor *ref);
/* at::detail::computeStride: FALSE when `x` cannot be viewed with these sizes without a copy. */
gboolean ss_tensor_view (const SsTensor *x, guint n_dims, const gint64 *size, SsTensor *out);
/* "bf16[1x2048x4096]" as in the op logs; a scalar is "f32[]". (transfer full) */
char *ss_tensor_to_string (const SsTensor *x);

G_END_DECLS
