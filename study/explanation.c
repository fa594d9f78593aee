/* SPDX-License-Identifier: MIT */
#include "study/explanation.h"

const char *
ss_tensor_kind_name (SsTensorKind kind)
{
  static const char *const names[SS_N_TENSOR_KINDS] = {
    [SS_TENSOR_LOGITS] = "logits",
    [SS_TENSOR_SCORES] = "attention_scores",
    [SS_TENSOR_MASK] = "attention_mask",
    [SS_TENSOR_ACTIVATION] = "activation",
    [SS_TENSOR_FLOW] = "activation_gradient",
    [SS_TENSOR_CAST] = "parameter_cast",
    [SS_TENSOR_PARAMETER] = "parameter",
    [SS_TENSOR_MASTER] = "master_weight",
    [SS_TENSOR_GRADIENT] = "gradient",
    [SS_TENSOR_STATE] = "optimizer_state",
    [SS_TENSOR_UPDATE] = "optimizer_temporary",
    [SS_TENSOR_CLIP] = "clipping_temporary",
    [SS_TENSOR_WORKSPACE] = "workspace",
  };

  g_return_val_if_fail (kind < SS_N_TENSOR_KINDS, NULL);
  return names[kind];
}

SsRequest *
ss_request_new (void)
{
  return g_rc_box_new0 (SsRequest);
}

SsRequest *
ss_request_ref (SsRequest *self)
{
  return g_rc_box_acquire (self);
}

static void
request_clear (gpointer data)
{
  SsRequest *self = data;

  g_free (self->what);
  g_free (self->factors);
  g_free (self->module);
}

void
ss_request_unref (SsRequest *self)
{
  g_rc_box_release_full (self, request_clear);
}

void
ss_explained_change_free (SsExplainedChange *self)
{
  g_strfreev (self->settings);
  g_free (self);
}

void
ss_near_scenario_free (SsNearScenario *self)
{
  g_strfreev (self->settings);
  g_free (self->what);
  g_free (self->factors);
  g_free (self);
}

gboolean
ss_explanation_names_no_tensor (const SsExplanation *self)
{
  if (self->message.is_request)
    return FALSE;
  for (guint i = 0; i < self->found->len; i++)
    if (((const SsRequest *) self->found->pdata[i])->bytes < SS_EXPLAIN_LARGE_BYTES)
      return TRUE;
  return FALSE;
}

SsExplanation *
ss_explanation_new (void)
{
  SsExplanation *self = g_new0 (SsExplanation, 1);

  self->found = g_ptr_array_new_with_free_func ((GDestroyNotify) ss_request_unref);
  self->changes = g_ptr_array_new_with_free_func ((GDestroyNotify) ss_explained_change_free);
  self->near = g_ptr_array_new_with_free_func ((GDestroyNotify) ss_near_scenario_free);
  return self;
}

void
ss_explanation_free (SsExplanation *self)
{
  if (self == NULL)
    return;
  ss_oom_message_clear (&self->message);
  g_free (self->scenario_name);
  g_free (self->model_name);
  g_free (self->device_name);
  g_ptr_array_unref (self->found);
  g_ptr_array_unref (self->changes);
  g_ptr_array_unref (self->near);
  g_clear_pointer (&self->below, ss_request_unref);
  g_clear_pointer (&self->above, ss_request_unref);
  g_free (self);
}
