/* SPDX-License-Identifier: MIT
 *
 * bitsandbytes/functional.py: quantize_4bit, dequantize_4bit; autograd/_functions.py: MatMul4Bit;
 * nn/modules.py: Linear4bit.
 */
#include "ops/nn/linear-4bit.h"

#include "ops/core/function.h"
#include "ops/kinds/in-place.h"
#include "ops/kinds/matmul.h"
#include "ops/kinds/pointwise.h"
#include "ops/kinds/quantised.h"
#include "ops/kinds/reduce.h"
#include "ops/kinds/view.h"
#include "ops/nn/linear.h"

#define BLOCK 64                 /* elements of one absmax */
#define ABSMAX_BLOCK 256         /* absmaxes of one scale, where they are quantised again */

static gint64
n_blocks_of (gint64 n_out, gint64 n_in)
{
  return (n_out * n_in + BLOCK - 1) / BLOCK;
}

static SsValue *
held (SsValue *value)
{
  SsValue *kept = ss_keep (value);

  ss_value_claim (kept, SS_CATEGORY_PARAMETERS);
  return kept;
}

/* offset = absmax.mean (); quantize_blockwise (absmax - offset): the state has a map of its own
 * beside the module's */
static void
quantise_absmax (SsTape *t, SsLinear4Bit *self, gint64 n_blocks, SsValue **map)
{
  g_autoptr (SsValue) absmax = g_steal_pointer (&self->absmax), shifted = NULL;
  gint64 n_scales = (n_blocks + ABSMAX_BLOCK - 1) / ABSMAX_BLOCK;

  self->offset = held (ss_mean_over (t, absmax, 0));
  shifted = ss_keep (ss_plain (t, SS_PLAIN_SUB, absmax, self->offset, SS_F32));
  if (!*map)
    *map = held (ss_zeros (t, SS_F32, SS_DIMS (256)));
  self->absmax_code = held (ss_zeros (t, SS_F32, SS_DIMS (256)));
  self->absmax_scale = held (ss_empty_sizes (t, SS_F32, SS_DIMS (n_scales)));
  self->absmax = held (ss_quantised (t, SS_QUANTISED_QUANTISE_BLOCKWISE, shifted,
                                     self->absmax_code, SS_U8, SS_DIMS (n_blocks)));
}

SsLinear4Bit *
ss_linear_4bit_new (SsTape *t, gint64 n_out, gint64 n_in, SsDtype dtype, SsValue **map)
{
  SsLinear4Bit *self = g_new0 (SsLinear4Bit, 1);
  gboolean was_enabled = ss_tape_set_grad_enabled (t, FALSE);
  gint64 n_blocks = n_blocks_of (n_out, n_in);
  g_autoptr (SsValue) weight = ss_keep (ss_empty_sizes (t, dtype, SS_DIMS (n_out, n_in)));

  self->n_out = n_out;
  self->n_in = n_in;
  self->dtype = dtype;
  self->code = held (ss_zeros (t, SS_F32, SS_DIMS (16)));
  self->absmax = ss_keep (ss_empty_sizes (t, SS_F32, SS_DIMS (n_blocks)));
  self->packed = held (ss_quantised (t, SS_QUANTISED_QUANTISE_4BIT, weight, self->code, SS_U8,
                                     SS_DIMS ((n_out * n_in + 1) / 2, 1)));
  if (map)
    quantise_absmax (t, self, n_blocks, map);
  else
    ss_value_claim (self->absmax, SS_CATEGORY_PARAMETERS);
  ss_tape_set_grad_enabled (t, was_enabled);
  return self;
}

void
ss_linear_4bit_free (SsLinear4Bit *self)
{
  SsValue *all[] = {
    self->packed, self->code, self->absmax, self->absmax_scale, self->absmax_code, self->offset,
  };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    if (all[i])
      ss_name_release (all[i]);
  g_free (self);
}

/* ---- a use ---- */

static SsValue *
absmax_again (SsTape *t, const SsLinear4Bit *self)
{
  return ss_quantised (t, SS_QUANTISED_DEQUANTISE_BLOCKWISE, self->absmax, self->absmax_scale,
                       SS_F32, SS_DIMS (n_blocks_of (self->n_out, self->n_in)));
}

static SsValue *
weight_again (SsTape *t, const SsLinear4Bit *self, SsValue *absmax)
{
  return ss_quantised (t, SS_QUANTISED_DEQUANTISE_4BIT, self->packed, absmax, self->dtype,
                       SS_DIMS (self->n_out, self->n_in));
}

/* in autograd's engine the offset is added in place, and the absmaxes go before the product */
static void
product_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  const SsLinear4Bit *self = ss_node_context (n);
  g_autoptr (SsValue) absmax = NULL, weight = NULL;
  gint64 size[SS_MAX_DIMS];
  SsValue *flat;

  if (self->offset)
    {
      absmax = ss_keep (absmax_again (t, self));
      SS_IN_PLACE (t, ADD, absmax, self->offset);
    }
  weight = ss_keep (weight_again (t, self, absmax ? absmax : self->absmax));
  if (absmax)
    ss_drop (&absmax);
  memcpy (size, grad[0]->tensor.size, sizeof size);
  size[grad[0]->tensor.n_dims - 1] = self->n_in;
  flat = ss_reshape (t, grad[0],
                     SS_DIMS ((gint64) ss_tensor_count (&grad[0]->tensor) / self->n_out,
                              self->n_out));
  out[0] = ss_unsafe_view (t, ss_mm (t, flat, weight), grad[0]->tensor.n_dims, size);
}

static const SsOpKind product_node
  = { .name = "MatMul4Bit", .node_name = "MatMul4BitBackward", .backward = product_backward };

static SsValue *
product (SsTape *t, const SsLinear4Bit *self, SsValue *x, SsValue *bias)
{
  SS_NATIVE (t);
  gboolean was_enabled = ss_tape_set_grad_enabled (t, FALSE);
  g_autoptr (SsValue) absmax = NULL, shifted = NULL, weight = NULL, out = NULL;

  if (self->offset)
    {
      absmax = ss_keep (absmax_again (t, self));
      shifted = ss_keep (ss_plain (t, SS_PLAIN_ADD, absmax, self->offset, SS_F32));
    }
  weight = ss_keep (weight_again (t, self, shifted ? shifted : self->absmax));
  out = ss_keep (ss_linear_weight (t, x, weight, bias));
  ss_tape_set_grad_enabled (t, was_enabled);
  if (was_enabled && ss_value_requires_grad (x))
    ss_node_set_context (ss_node_attach (t, &product_node, 1, &x, 0, out), (gpointer) self, NULL);
  return ss_give (&out);
}

SsValue *
ss_linear_4bit (SsTape *t, const SsLinear4Bit *self, SsValue *x_arg, SsValue *bias)
{
  g_autoptr (SsValue) x = ss_keep (x_arg);
  SsDtype dtype = ss_value_dtype (x);

  ss_rebind (&x, ss_to (t, x, self->dtype));
  return ss_to (t, product (t, self, x, bias), dtype);
}
