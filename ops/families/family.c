/* SPDX-License-Identifier: MIT */
#include "ops/families/family.h"

/* One word adds a family: `ss_family_WORD` of its file.  Errors list them in this order. */
#define FAMILIES(X) X (llama) X (gpt2) X (olmo2)

#define DECLARE(word) extern const SsModelFamily ss_family_##word;
FAMILIES (DECLARE)
#undef DECLARE

const SsModelFamily *const *
ss_model_families (void)
{
  static const SsModelFamily *const all[] = {
#define LIST(word) &ss_family_##word,
    FAMILIES (LIST)
#undef LIST
    NULL,
  };

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

const SsLinearName *
ss_family_linear (const SsModelFamily *family, const char *target)
{
  for (const SsLinearName *l = family->linears; l->target; l++)
    if (g_str_equal (l->target, target) || g_str_equal (l->module, target))
      return l;
  return NULL;
}

gint64
ss_model_width (const SsModelConfig *config, SsWidthRole role)
{
  SsWidth widths[SS_MAX_WIDTHS];
  guint n = config->family->widths (config, widths);

  for (guint i = 0; i < n; i++)
    if (widths[i].role == role)
      return widths[i].size;
  return 0;
}

char *
ss_family_linears_known (const SsModelFamily *family)
{
  GString *text = g_string_new (NULL);

  for (const SsLinearName *l = family->linears; l->target; l++)
    g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", l->target);
  return g_string_free (text, FALSE);
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
