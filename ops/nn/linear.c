/* SPDX-License-Identifier: MIT */
#include "ops/nn/linear.h"

#include "ops/kinds/matmul.h"
#include "ops/kinds/pointwise.h"
#include "ops/kinds/random.h"
#include "ops/kinds/view.h"

/* x as (rows, in) */
static SsValue *
flattened (SsTape *t, SsValue *x)
{
  gint64 width = ss_value_size (x, -1);
  guint64 count = ss_tensor_count (&x->tensor);

  if (x->tensor.n_dims == 2)
    return x;
  return ss_view (t, x, SS_DIMS (count == SS_SIZE_OVERFLOW ? 0 : (gint64) count / width, width));
}

/* autocast casts an op's arguments from the last to the first: bias, weight, input */
SsValue *
ss_linear_weight (SsTape *t, SsValue *x_arg, SsValue *weight, SsValue *bias)
{
  SS_NATIVE (t);
  g_autoptr (SsValue) held = ss_keep (x_arg);
  g_autoptr (SsValue) b = bias ? ss_keep (ss_lower (t, bias)) : NULL;
  g_autoptr (SsValue) w = ss_keep (ss_lower (t, weight));
  g_autoptr (SsValue) x = ss_keep (ss_lower (t, held));
  guint n_dims = x->tensor.n_dims;
  gint64 size[SS_MAX_DIMS];
  SsValue *transposed = ss_transpose (t, w, 0, 1);
  SsValue *flat = flattened (t, x);

  memcpy (size, x->tensor.size, sizeof size);
  size[n_dims - 1] = ss_value_size (w, 0);
  /* with a bias it is one addmm, whose result autograd knows as a view */
  if (b)
    return ss_view (t, ss_addmm (t, b, flat, transposed), n_dims, size);
  return ss_unsafe_view (t, ss_mm (t, flat, transposed), n_dims, size);
}

/* x.view (rows, in), torch.addmm (bias, x, weight), view; a frozen bias is cast at every call */
static SsValue *
conv1d (SsTape *t, const SsLinear *l, SsValue *x_arg)
{
  g_autoptr (SsValue) x = ss_keep (x_arg);
  g_autoptr (SsValue) w = ss_keep (ss_lower (t, l->weight));
  g_autoptr (SsValue) lowered = NULL;
  gint64 size[SS_MAX_DIMS];

  memcpy (size, x->tensor.size, sizeof size);
  size[x->tensor.n_dims - 1] = ss_value_size (w, 1);
  lowered = ss_keep (ss_lower (t, flattened (t, x)));
  return ss_view (t, ss_addmm (t, ss_lower (t, l->bias), lowered, w), x->tensor.n_dims, size);
}

/* ---- modules ---- */

void
ss_linear_init (SsTape *t, SsLinear *l, const char *name)
{
  SS_MODULE (t, name);

  *l = (SsLinear) { .name = name, .module_id = ss_tape_module (t) };
}

void
ss_linear_adapt (SsTape *t, SsLinear *l, guint rank, SsDtype dtype, double dropout)
{
  SS_MODULE_AGAIN (t, l->module_id);
  gint64 n_in = l->packed ? l->packed->n_in : ss_value_size (l->weight, l->is_conv1d ? 0 : 1);
  gint64 n_out = l->packed ? l->packed->n_out : ss_value_size (l->weight, l->is_conv1d ? 1 : 0);

  l->lora_dropout = dropout;
  l->lora_a = ss_parameter (t, dtype, SS_DIMS (rank, n_in), TRUE);
  l->lora_b = ss_parameter (t, dtype, SS_DIMS (n_out, rank), TRUE);
}

static SsValue *
base (SsTape *t, const SsLinear *l, SsValue *x)
{
  if (l->packed)
    return ss_linear_4bit (t, l->packed, x, l->bias);
  return l->is_conv1d ? conv1d (t, l, x) : ss_linear_weight (t, x, l->weight, l->bias);
}

/* peft's lora.Linear: the module's argument lives until its forward returns; adapters of a wider
 * type widen the sum, which goes back to the base's type */
static SsValue *
adapted (SsTape *t, const SsLinear *l, SsValue *x_arg)
{
  g_autoptr (SsValue) x = ss_keep (x_arg);
  g_autoptr (SsValue) result = ss_keep (base (t, l, x));
  SsDtype dtype = ss_value_dtype (result);
  g_autoptr (SsValue) cast = ss_keep (ss_to (t, x, ss_value_dtype (l->lora_a)));
  SsValue *dropped = ss_dropout (t, cast, l->lora_dropout);
  SsValue *low = ss_linear_weight (t, ss_linear_weight (t, dropped, l->lora_a, NULL), l->lora_b,
                                   NULL);

  ss_rebind (&result, ss_add (t, result, ss_scale (t, low)));
  return ss_to (t, ss_give (&result), dtype);
}

SsValue *
ss_linear (SsTape *t, const SsLinear *l, SsValue *x_arg)
{
  SS_MODULE (t, l->name);
  g_autoptr (SsValue) x = ss_keep (x_arg);

  return l->lora_a ? adapted (t, l, x) : base (t, l, x);
}
