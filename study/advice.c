/* SPDX-License-Identifier: MIT */
#include "study/advice.h"

SsAdvice *
ss_advice_new (void)
{
  SsAdvice *self = g_new0 (SsAdvice, 1);

  self->entries = g_ptr_array_new_with_free_func ((GDestroyNotify) ss_advice_entry_free);
  return self;
}

void
ss_advice_free (SsAdvice *self)
{
  if (self == NULL)
    return;
  g_clear_pointer (&self->entries, g_ptr_array_unref);
  g_free (self->nearest);
  g_free (self);
}

guint
ss_advice_n_entries (const SsAdvice *self)
{
  return self->entries->len;
}

const SsAdviceEntry *
ss_advice_entry (const SsAdvice *self, guint i)
{
  g_return_val_if_fail (i < self->entries->len, NULL);
  return g_ptr_array_index (self->entries, i);
}
