/* SPDX-License-Identifier: MIT */
#include "ops/kinds/factory.h"

#include "ops/kinds/pointwise.h"

/* attributes: dtype, n_dims, sizes */
static void
infer_factory (SsCall *c)
{
  c->n_out = 1;
  c->out[0] = ss_tensor ((SsDtype) c->attribute[0], (guint) c->attribute[1], c->attribute + 2);
}

static const SsOpKind arange = { .name = "aten::arange", .infer = infer_factory };
static const SsOpKind zeros = { .name = "aten::zeros", .infer = infer_factory };
static const SsOpKind ones = { .name = "aten::ones", .infer = infer_factory };
static const SsOpKind full = { .name = "aten::full", .infer = infer_factory };
static const SsOpKind scalar_tensor = { .name = "aten::scalar_tensor", .infer = infer_factory };
/* what is lifted was copied to the device before */
static const SsOpKind lift_fresh = { .name = "aten::lift_fresh", .infer = infer_factory };

/* What is only looked at for its sizes is not read. */
static void
cost_of_filling (const SsCall *c, SsCost *cost)
{
  cost->bytes = ss_tensor_bytes (&c->out[0]);
}

static const SsOpKind ones_like = {
  .name = "aten::ones_like", .infer = ss_infer_like_first, .cost = cost_of_filling,
};
static const SsOpKind full_like = {
  .name = "aten::full_like", .infer = ss_infer_like_first, .cost = cost_of_filling,
};

/* attribute[0]: the type */
static void
infer_typed (SsCall *c)
{
  ss_infer_like_first (c);
  c->out[0].dtype = (guint8) c->attribute[0];
}

static const SsOpKind zeros_like = {
  .name = "aten::zeros_like", .infer = infer_typed,
  .memory = SS_IS_MEMORY (PLAIN), .cost = cost_of_filling,
};
static const SsOpKind new_zeros = {
  .name = "aten::new_zeros", .infer = infer_factory,
  .memory = SS_IS_MEMORY (PLAIN), .cost = cost_of_filling,
};

static SsValue *
make (SsTape *t, const SsOpKind *kind, SsDtype dtype, guint n_dims, const gint64 *size)
{
  gint64 attribute[SS_N_ATTRIBUTES] = { dtype, n_dims };

  for (guint i = 0; i < n_dims; i++)
    attribute[2 + i] = size[i];
  return ss_record (t, kind, attribute, 0, NULL);
}

SsValue *
ss_arange (SsTape *t, SsDtype dtype, gint64 n)
{
  return make (t, &arange, dtype, 1, &n);
}

SsValue *
ss_zeros (SsTape *t, SsDtype dtype, guint n_dims, const gint64 *size)
{
  return make (t, &zeros, dtype, n_dims, size);
}

SsValue *
ss_ones (SsTape *t, SsDtype dtype, guint n_dims, const gint64 *size)
{
  return make (t, &ones, dtype, n_dims, size);
}

SsValue *
ss_full (SsTape *t, SsDtype dtype, guint n_dims, const gint64 *size)
{
  return make (t, &full, dtype, n_dims, size);
}

SsValue *
ss_scalar_tensor (SsTape *t, SsDtype dtype)
{
  return make (t, &scalar_tensor, dtype, 0, NULL);
}

SsValue *
ss_tensor_of_number (SsTape *t, SsDtype dtype)
{
  return make (t, &lift_fresh, dtype, 0, NULL);
}

SsValue *
ss_ones_like (SsTape *t, SsValue *a)
{
  return SS_RUN_KIND (t, ones_like, NULL, a);
}

SsValue *
ss_full_like (SsTape *t, SsValue *a)
{
  return SS_RUN_KIND (t, full_like, NULL, a);
}

SsValue *
ss_zeros_like (SsTape *t, SsValue *a, SsDtype dtype)
{
  return SS_RUN_KIND (t, zeros_like, SS_ATTRIBUTES (dtype), a);
}

SsValue *
ss_new_zeros (SsTape *t, SsValue *a, guint n_dims, const gint64 *size)
{
  gint64 attribute[SS_N_ATTRIBUTES] = { ss_value_dtype (a), n_dims };

  memcpy (attribute + 2, size, n_dims * sizeof *size);
  return SS_RUN_KIND (t, new_zeros, attribute, a);
}
