/* SPDX-License-Identifier: MIT */
#include "ops/families/family.h"

#include "ops/families/gpt2.h"
#include "ops/families/llama.h"

const SsModelFamily *const *
ss_model_families (void)
{
  static const SsModelFamily *const all[] = { &ss_family_llama, &ss_family_gpt2, NULL };

  return all;
}

const SsModelType *
ss_model_type_find (const char *model_type, const SsModelFamily **family)
{
  for (const SsModelFamily *const *f = ss_model_families (); *f; f++)
    for (guint i = 0; i < (*f)->n_types; i++)
      if (g_str_equal ((*f)->types[i].model_type, model_type))
        {
          if (family)
            *family = *f;
          return &(*f)->types[i];
        }
  return NULL;
}

char *
ss_model_types_known (void)
{
  GString *text = g_string_new (NULL);

  for (const SsModelFamily *const *f = ss_model_families (); *f; f++)
    for (guint i = 0; i < (*f)->n_types; i++)
      g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", (*f)->types[i].model_type);
  return g_string_free (text, FALSE);
}
