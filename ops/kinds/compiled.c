/* SPDX-License-Identifier: MIT */
#include "ops/kinds/compiled.h"

/* attribute[0]: how many operands are read and written */
static void
compiled_cost (const SsCall *c, SsCost *cost)
{
  for (guint i = 0; i < (guint) c->attribute[0]; i++)
    cost->bytes = ss_size_add (cost->bytes, ss_tensor_bytes (ss_call_in (c, i)));
}

static const SsOpKind kinds[SS_N_COMPILED] = {
#define SS_COMPILED_KIND(UPPER, text)                                                              \
  [SS_COMPILED_##UPPER] = {                                                                        \
    .name = text, .cost = compiled_cost, .in_place = TRUE,                 \
    .memory = SS_IS_MEMORY (FUSED),                                                                \
  },
  SS_COMPILED_KERNELS (SS_COMPILED_KIND)
#undef SS_COMPILED_KIND
};

void
ss_compiled (SsTape *t, SsCompiledKernel kernel, guint n_updated, guint n,
             SsValue *const *operands)
{
  ss_record (t, &kinds[kernel], SS_ATTRIBUTES (n_updated), n, operands);
}
