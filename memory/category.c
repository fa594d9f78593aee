/* SPDX-License-Identifier: MIT */
#include "memory/category.h"

const char *
ss_category_name (SsCategory category)
{
  static const char *const names[] = {
#define SS_CATEGORY_NAME(UPPER, name, meaning) #name,
    SS_CATEGORIES (SS_CATEGORY_NAME)
#undef SS_CATEGORY_NAME
  };

  g_return_val_if_fail (category < SS_N_CATEGORIES, NULL);
  return names[category];
}

const char *
ss_category_meaning (SsCategory category)
{
  static const char *const meanings[] = {
#define SS_CATEGORY_MEANING(UPPER, name, meaning) meaning,
    SS_CATEGORIES (SS_CATEGORY_MEANING)
#undef SS_CATEGORY_MEANING
  };

  g_return_val_if_fail (category < SS_N_CATEGORIES, NULL);
  return meanings[category];
}
