/* SPDX-License-Identifier: MIT */
#include "ops/families/model.h"

void
ss_model_init (SsModel *self, const SsModelSetup *setup)
{
  self->setup = setup;
  self->parameters = g_ptr_array_new_with_free_func ((GDestroyNotify) ss_value_unref);
  self->linears = g_ptr_array_new ();
}

void
ss_model_clear (SsModel *self)
{
  g_ptr_array_unref (self->parameters);
  g_ptr_array_unref (self->linears);
}

SsValue *
ss_model_parameter (SsTape *t, SsModel *self, const char *name, guint n_dims, const gint64 *size)
{
  SS_MODULE (t, name);
  SsValue *p = ss_parameter (t, self->setup->dtype, n_dims, size, self->setup->adapter == NULL);

  g_ptr_array_add (self->parameters, p);
  return p;
}

void
ss_model_linear (SsTape *t, SsModel *self, SsLinear *l, const char *name, gint64 n_out, gint64 n_in,
                 gboolean has_bias)
{
  ss_linear_init (t, l, name);
  l->weight = ss_model_parameter (t, self, name, SS_DIMS (n_out, n_in));
  if (has_bias)
    l->bias = ss_model_parameter (t, self, name, SS_DIMS (n_out));
  g_ptr_array_add (self->linears, l);
}

void
ss_model_conv1d (SsTape *t, SsModel *self, SsLinear *l, const char *name, gint64 n_in, gint64 n_out)
{
  ss_linear_init (t, l, name);
  l->is_conv1d = TRUE;
  l->weight = ss_model_parameter (t, self, name, SS_DIMS (n_in, n_out));
  l->bias = ss_model_parameter (t, self, name, SS_DIMS (n_out));
  g_ptr_array_add (self->linears, l);
}

SsValue *
ss_model_head (SsTape *t, SsModel *self, SsValue *embedding, gboolean is_tied)
{
  const gint64 *size = embedding->tensor.size;

  if (!is_tied)
    return ss_model_parameter (t, self, "lm_head", 2, size);
  {
    SS_MODULE (t, "lm_head");
    ss_discard (ss_empty_sizes (t, self->setup->dtype, 2, size));
  }
  return embedding;
}

/* ---- adapters ---- */

static gboolean
is_target (const SsModelSetup *setup, const SsLinear *l)
{
  for (char **target = setup->adapter->targets; *target; target++)
    {
      const SsLinearName *name = ss_family_linear (setup->config->family, *target);

      if (name && g_str_equal (name->module, l->name))
        return TRUE;
    }
  return FALSE;
}

void
ss_model_adapt (SsTape *t, SsModel *self)
{
  const SsAdapter *a = self->setup->adapter;

  for (guint i = 0; a && i < self->linears->len; i++)
    {
      SsLinear *l = self->linears->pdata[i];

      if (!is_target (self->setup, l))
        continue;
      ss_linear_adapt (t, l, a->rank, a->is_fp32 ? SS_F32 : self->setup->dtype);
      g_ptr_array_add (self->parameters, l->lora_a);
      g_ptr_array_add (self->parameters, l->lora_b);
    }
}

void
ss_model_require_input_grads (const SsModel *self, SsValue *embeddings)
{
  const SsModelSetup *setup = self->setup;
  gboolean any = setup->drops != 0;

  for (guint i = 0; i < setup->ranges->len; i++)
    any |= g_array_index (setup->ranges, SsLayerRange, i).is_checkpointed;
  if (setup->adapter && any)
    ss_require_grad (embeddings);
}
