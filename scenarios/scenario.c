/* SPDX-License-Identifier: MIT */
#include "scenarios/scenario-private.h"

G_DEFINE_QUARK (ss-scenario-error-quark, ss_scenario_error)

SsScenario *
ss_scenario_new (void)
{
  SsScenario *self = g_new0 (SsScenario, 1);

  g_atomic_ref_count_init (&self->ref_count);
  self->dropout = -1;
  return self;
}

SsScenario *
ss_scenario_ref (SsScenario *self)
{
  g_return_val_if_fail (self != NULL, NULL);
  g_atomic_ref_count_inc (&self->ref_count);
  return self;
}

SsScenario *
ss_scenario_with_plan (const SsScenario *self, const GArray *ranges)
{
  SsScenario *planned;

  g_return_val_if_fail (self != NULL && ranges != NULL && ranges->len > 0, NULL);
  planned = g_memdup2 (self, sizeof *self);
  g_atomic_ref_count_init (&planned->ref_count);
  planned->base = ss_scenario_ref ((SsScenario *) self);
  planned->ranges = g_memdup2 (ranges->data, ranges->len * sizeof (SsLayerRange));
  planned->config.checkpointing.ranges = planned->ranges;
  planned->config.checkpointing.n_ranges = ranges->len;
  return planned;
}

void
ss_scenario_unref (SsScenario *self)
{
  g_return_if_fail (self != NULL);
  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;
  if (self->base != NULL)
    {
      ss_scenario_unref (self->base);
      g_free (self->ranges);
      g_free (self);
      return;
    }
  g_clear_pointer (&self->device, ss_device_unref);
  g_free (self->host);
  g_strfreev (self->overrides);
  g_strfreev (self->config.adapter.targets);
  g_free (self->config.adapter.type);
  g_free (self->path);
  g_free (self->file);
  g_free (self->name);
  g_free (self->model_name);
  g_free (self->model_href);
  g_free (self->device_name);
  g_free (self->device_href);
  g_free (self->alloc_conf);
  g_free (self->segments);
  g_free (self->ranges);
  g_free (self);
}

const char *
ss_scenario_path (const SsScenario *self)
{
  g_return_val_if_fail (self != NULL, NULL);
  return self->path;
}

const char *
ss_scenario_file (const SsScenario *self)
{
  return self->file;
}

const char *
ss_scenario_name (const SsScenario *self)
{
  g_return_val_if_fail (self != NULL, NULL);
  return self->name;
}

const char *
ss_scenario_model_name (const SsScenario *self)
{
  g_return_val_if_fail (self != NULL, NULL);
  return self->model_name;
}

gint64
ss_scenario_n_layers_whole (const SsScenario *self)
{
  g_return_val_if_fail (self != NULL, 0);
  return self->n_layers_whole;
}

const SsTraceConfig *
ss_scenario_trace_config (const SsScenario *self)
{
  g_return_val_if_fail (self != NULL, NULL);
  return &self->config;
}

SsDevice *
ss_scenario_device (const SsScenario *self)
{
  g_return_val_if_fail (self != NULL, NULL);
  return self->device;
}

guint64
ss_scenario_capacity_bytes (const SsScenario *self)
{
  g_return_val_if_fail (self != NULL, 0);
  return self->capacity_bytes;
}

guint64
ss_scenario_other_processes_bytes (const SsScenario *self)
{
  g_return_val_if_fail (self != NULL, 0);
  return self->other_processes_bytes;
}

gboolean
ss_scenario_empties_cache (const SsScenario *self)
{
  g_return_val_if_fail (self != NULL, FALSE);
  return self->empties_cache;
}

guint64
ss_scenario_context_bytes (const SsScenario *self)
{
  g_return_val_if_fail (self != NULL, 0);
  return self->context_bytes;
}

const char *
ss_scenario_allocator (const SsScenario *self)
{
  g_return_val_if_fail (self != NULL, NULL);
  return self->allocator->name;
}

const char *
ss_scenario_alloc_conf (const SsScenario *self)
{
  g_return_val_if_fail (self != NULL, NULL);
  return self->alloc_conf;
}

SsProgram *
ss_scenario_trace (const SsScenario *self, gboolean keeps_operands, GError **error)
{
  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (!ss_checkpointing_needs_search (&self->config.checkpointing), NULL);
  return ss_trace (&self->config, ss_device_target (self->device), keeps_operands, error);
}
