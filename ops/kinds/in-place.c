/* SPDX-License-Identifier: MIT */
#include "ops/kinds/in-place.h"

static guint64
bytes_of_operands (const SsCall *c, guint first)
{
  guint64 bytes = 0;

  for (guint i = first; i < c->n_in; i++)
    {
      gboolean is_repeated = FALSE;

      for (guint k = first; k < i; k++)
        is_repeated |= c->in[k] == c->in[i];
      if (!is_repeated)
        bytes = ss_size_add (bytes, ss_tensor_bytes (ss_call_in (c, i)));
    }
  return bytes;
}

static void
cost_of_updates (const SsCall *c, SsCost *cost)
{
  cost->bytes = ss_size_add (bytes_of_operands (c, 0), ss_tensor_bytes (ss_call_in (c, 0)));
}

static void
cost_of_overwrites (const SsCall *c, SsCost *cost)
{
  cost->bytes = ss_size_add (bytes_of_operands (c, 1), ss_tensor_bytes (ss_call_in (c, 0)));
}

static const SsOpKind kinds[SS_N_IN_PLACE] = {
#define SS_IN_PLACE_KIND(UPPER, text, signature, verb)                                             \
  [SS_IN_PLACE_##UPPER] = {                                                                        \
    .name = text, .overload = signature, .cost = cost_of_##verb,           \
    .in_place = TRUE, .returned = 1,                                                               \
  },
  SS_IN_PLACE_KERNELS (SS_IN_PLACE_KIND)
#undef SS_IN_PLACE_KIND
};

void
ss_in_place (SsTape *t, SsInPlaceKernel kernel, guint n, SsValue *const *operands)
{
  ss_record (t, &kinds[kernel], NULL, n, operands);
}

void
ss_add_in_place (SsTape *t, SsValue *a, SsValue *b)
{
  SS_IN_PLACE (t, ADD, a, b);
}
