/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "memory/category.h"
#include "memory/tensor.h"

Test (tensor, overflow_is_sticky_and_never_wraps)
{
  guint64 two_40 = G_GUINT64_CONSTANT (1) << 40;

  cr_assert (eq (u64, ss_size_mul (two_40, 1 << 22), G_GUINT64_CONSTANT (1) << 62));
  cr_assert (eq (u64, ss_size_mul (two_40, 1 << 23), SS_SIZE_OVERFLOW));
  cr_assert (eq (u64, ss_size_mul (SS_SIZE_OVERFLOW, 0), SS_SIZE_OVERFLOW));
  cr_assert (eq (u64, ss_size_add (G_MAXINT64, 1), SS_SIZE_OVERFLOW));
  cr_assert (eq (u64, ss_size_add (SS_SIZE_OVERFLOW, 1), SS_SIZE_OVERFLOW));
}

/* Llama 3 8B's logits at 1 x 8192: 8192 * 128256 * 4 = 4,202,692,608 */
Test (tensor, bytes_are_elements_times_width)
{
  SsTensor logits = ss_tensor (SS_F32, 3, (gint64[]) { 1, 8192, 128256 });
  SsTensor scalar = ss_tensor (SS_F32, 0, NULL);
  SsTensor huge = ss_tensor (SS_F32, 3, (gint64[]) { 1 << 30, 1 << 30, 1 << 30 });

  cr_assert (eq (u64, ss_tensor_bytes (&logits), 4202692608));
  cr_assert (eq (u64, ss_tensor_bytes (&scalar), 4));
  cr_assert (eq (u64, ss_tensor_bytes (&huge), SS_SIZE_OVERFLOW));
}

Test (tensor, promotion_takes_the_wider_type)
{
  cr_assert (eq (int, ss_dtype_promote (SS_BF16, SS_F32), SS_F32));
  cr_assert (eq (int, ss_dtype_promote (SS_I64, SS_BF16), SS_BF16));
  cr_assert (eq (int, ss_dtype_promote (SS_F16, SS_BF16), SS_F32));
}

/* (B, S, heads, hd) seen as (B, heads, S, hd): dense, not contiguous, and heads cannot be
 * merged with S */
Test (tensor, a_transposed_tensor_is_dense_but_cannot_be_flattened)
{
  SsTensor x = { .n_dims = 4, .dtype = SS_BF16, .size = { 1, 32, 2048, 128 },
                 .stride = { 2048 * 32 * 128, 128, 32 * 128, 1 } };
  SsTensor like = x, flat;

  ss_tensor_like (&like, &x);
  cr_assert (ss_tensor_is_dense (&x));
  cr_assert (not (ss_tensor_is_contiguous (&x)));
  cr_assert (ss_tensor_same_strides (&like, &x));
  cr_assert (not (ss_tensor_view (&x, 2, (gint64[]) { 32 * 2048, 128 }, &flat)));
  cr_assert (ss_tensor_view (&x, 3, (gint64[]) { 32, 2048, 128 }, &flat));
  cr_assert (eq (i64, flat.stride[1], 4096));
}

Test (tensor, text_is_that_of_the_op_logs)
{
  SsTensor x = ss_tensor (SS_BF16, 3, (gint64[]) { 1, 2048, 4096 });
  SsTensor scalar = ss_tensor (SS_I64, 0, NULL);
  g_autofree char *a = ss_tensor_to_string (&x), *b = ss_tensor_to_string (&scalar);

  cr_assert (eq (str, a, "bf16[1x2048x4096]"));
  cr_assert (eq (str, b, "i64[]"));
}

Test (category, names_are_the_keys_of_the_json)
{
  cr_assert (eq (str, (char *) ss_category_name (SS_CATEGORY_PARAMETERS), "parameters"));
  cr_assert (eq (str, (char *) ss_category_name (SS_CATEGORY_TEMPORARIES), "temporaries"));
  cr_assert (eq (int, SS_N_CATEGORIES, 9));
}
