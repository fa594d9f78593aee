/* SPDX-License-Identifier: MIT */
#include "ops/kinds/quantised.h"

/* attributes: dtype, n_dims, sizes */
static void
infer_sizes (SsCall *c)
{
  c->n_out = 1;
  c->out[0] = ss_tensor ((SsDtype) c->attribute[0], (guint) c->attribute[1], c->attribute + 2);
}

static const SsOpKind kinds[SS_N_QUANTISED] = {
#define SS_QUANTISED_KIND(UPPER, text) \
  [SS_QUANTISED_##UPPER] = { .name = text, .infer = infer_sizes },
  SS_QUANTISED_KERNELS (SS_QUANTISED_KIND)
#undef SS_QUANTISED_KIND
};

SsValue *
ss_quantised (SsTape *t, SsQuantisedKernel kernel, SsValue *a, SsValue *b, SsDtype dtype,
              guint n_dims, const gint64 *size)
{
  gint64 attribute[SS_N_ATTRIBUTES] = { dtype, n_dims };

  memcpy (attribute + 2, size, n_dims * sizeof *size);
  return ss_record (t, &kinds[kernel], attribute, 2, (SsValue *[]) { a, b });
}
