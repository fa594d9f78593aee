/* SPDX-License-Identifier: MIT */
#include "hw/time-model.h"

double
ss_memory_time_s (const SsChip *chip, double share, double bytes)
{
  return bytes / (chip->bytes_per_s * share);
}

#define AT(member) G_STRUCT_OFFSET (SsMemoryModel, member)

const SsParameter *
ss_memory_parameters (guint *n)
{
  static const SsParameter all[] = {
#define KIND(UPPER, word) { word, AT (share[SS_MEMORY_##UPPER]), 0.02, 1, FALSE, NULL },
    SS_MEMORY_KINDS (KIND)
#undef KIND
    { "multi-tensor", AT (multi_tensor), 0.02, 1, FALSE, NULL },
  };

  *n = G_N_ELEMENTS (all);
  return all;
}
