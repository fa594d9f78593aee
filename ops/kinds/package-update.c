/* SPDX-License-Identifier: MIT */
#include "ops/kinds/package-update.h"

/* attribute[0]: how many operands are read and written; attribute[1]: bytes of no operand */
static void
update_cost (const SsCall *c, SsCost *cost)
{
  cost->bytes = ss_size_add (cost->bytes, (guint64) c->attribute[1]);
  for (guint i = 0; i < (guint) c->attribute[0]; i++)
    cost->bytes = ss_size_add (cost->bytes, ss_tensor_bytes (ss_call_in (c, i)));
}

static const SsOpKind kinds[SS_N_PACKAGE_UPDATES] = {
#define SS_PACKAGE_UPDATE_KIND(UPPER, text, waits)                                                 \
  [SS_PACKAGE_##UPPER] = {                                                                         \
    .name = text, .cost = update_cost, .in_place = TRUE,                                           \
    .is_synchronous = waits,                                                                       \
  },
  SS_PACKAGE_UPDATES (SS_PACKAGE_UPDATE_KIND)
#undef SS_PACKAGE_UPDATE_KIND
};

void
ss_package_update (SsTape *t, SsPackageUpdate kernel, guint64 more_bytes, guint n_updated, guint n,
                   SsValue *const *operands)
{
  if (more_bytes >= G_MAXINT64)
    ss_tape_fail (t, SS_OPS_ERROR_OVERFLOW, "%s: 2^63 bytes or more", kinds[kernel].name);
  else
    ss_record (t, &kinds[kernel], SS_ATTRIBUTES (n_updated, (gint64) more_bytes), n, operands);
}
