/* SPDX-License-Identifier: MIT */
#include "ops/families/model.h"

#include "ops/core/function.h"
#include "ops/kinds/pointwise.h"

void
ss_model_init (SsModel *self, const SsModelSetup *setup)
{
  self->setup = setup;
  self->parameters = g_ptr_array_new_with_free_func ((GDestroyNotify) ss_value_unref);
  self->linears = g_ptr_array_new ();
  self->packed = g_ptr_array_new_with_free_func ((GDestroyNotify) ss_linear_4bit_free);
}

void
ss_model_clear (SsModel *self)
{
  g_ptr_array_unref (self->parameters);
  g_ptr_array_unref (self->linears);
  g_ptr_array_unref (self->packed);
  ss_drop (&self->absmax_map);
}

SsValue *
ss_model_parameter (SsTape *t, SsModel *self, const char *name, guint n_dims, const gint64 *size)
{
  SS_MODULE (t, name);
  SsValue *p = ss_parameter (t, self->setup->dtype, n_dims, size, self->setup->adapter == NULL);

  g_ptr_array_add (self->parameters, p);
  return p;
}

/* The linear's weight, packed on its way to the device. */
static void
pack (SsTape *t, SsModel *self, SsLinear *l, gint64 n_out, gint64 n_in)
{
  SS_MODULE (t, l->name);
  const SsModelSetup *setup = self->setup;
  SsLinear4Bit *packed = ss_linear_4bit_new (t, n_out, n_in, setup->compute_dtype,
                                             setup->adapter->is_double_quantised
                                               ? &self->absmax_map
                                               : NULL);

  l->packed = packed;
  g_ptr_array_add (self->packed, packed);
  g_ptr_array_add (self->parameters, ss_keep (packed->packed));
}

void
ss_model_linear (SsTape *t, SsModel *self, SsLinear *l, const char *name, gint64 n_out, gint64 n_in,
                 gboolean has_bias)
{
  ss_linear_init (t, l, name);
  if (self->setup->adapter && self->setup->adapter->is_quantised)
    pack (t, self, l, n_out, n_in);
  else
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

/* param.data = param.data.to (torch.float32) */
static void
widen (SsTape *t, SsValue *parameter)
{
  g_autoptr (SsValue) wide = ss_keep (ss_to (t, parameter, SS_F32));
  SsStorage *storage = wide->storage;
  SsTensor tensor = wide->tensor;

  ss_value_claim (wide, SS_CATEGORY_PARAMETERS);
  ss_value_name_after (wide, parameter);
  wide->storage = parameter->storage;
  wide->tensor = parameter->tensor;
  parameter->storage = storage;
  parameter->tensor = tensor;
}

/* prepare_model_for_kbit_training: all but packed weights; inputs are made to want a gradient by
 * ss_model_require_input_grads. */
static void
prepare_kbit (SsTape *t, SsModel *self)
{
  gboolean was_enabled = ss_tape_set_grad_enabled (t, FALSE);

  for (guint i = 0; i < self->parameters->len; i++)
    {
      SsValue *v = self->parameters->pdata[i];

      if (ss_value_dtype (v) == self->setup->dtype)
        widen (t, v);
    }
  ss_tape_set_grad_enabled (t, was_enabled);
}

void
ss_model_adapt (SsTape *t, SsModel *self)
{
  const SsAdapter *a = self->setup->adapter;

  if (a && a->prepares_kbit)
    prepare_kbit (t, self);
  for (guint i = 0; a && i < self->linears->len; i++)
    {
      SsLinear *l = self->linears->pdata[i];

      if (!is_target (self->setup, l))
        continue;
      ss_linear_adapt (t, l, a->rank, a->is_fp32 ? SS_F32 : self->setup->compute_dtype,
                       a->dropout);
      g_ptr_array_add (self->parameters, l->lora_a);
      g_ptr_array_add (self->parameters, l->lora_b);
    }
}

void
ss_model_require_input_grads (const SsModel *self, SsValue *embeddings)
{
  const SsModelSetup *setup = self->setup;
  gboolean any = setup->drops != 0 || (setup->adapter && setup->adapter->prepares_kbit);

  for (guint i = 0; i < setup->ranges->len; i++)
    any |= g_array_index (setup->ranges, SsLayerRange, i).is_checkpointed;
  if (setup->adapter && any)
    ss_require_grad (embeddings);
}
