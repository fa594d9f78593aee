/* SPDX-License-Identifier: MIT */
#include "study/advice-entry.h"

void
ss_advice_entry_free (SsAdviceEntry *self)
{
  if (self == NULL)
    return;
  g_strfreev (self->settings);
  g_free (self->what);
  g_free (self->lever);
  g_free (self);
}

const char *
ss_advice_changes_name (SsAdviceChanges changes)
{
  switch (changes)
    {
    case SS_ADVICE_CHANGES_NOTHING:
      return "nothing";
    case SS_ADVICE_CHANGES_NUMERICS:
      return "numerics";
    case SS_ADVICE_CHANGES_DEVICE:
      return "device";
    case SS_ADVICE_CHANGES_TRAINING:
      return "training";
    }
  g_return_val_if_reached (NULL);
}
