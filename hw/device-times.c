/* SPDX-License-Identifier: MIT
 *
 * What a device's times are made of, and the same device as a run asks for it.
 */
#include "hw/device-private.h"

const char *
ss_time_class_name (SsTimeClass time_class)
{
  static const char *const names[SS_N_TIME_CLASSES] = { "gemm", "attention", "memory", "host" };

  return names[time_class];
}

const SsGemmModel *
ss_device_gemm (const SsDevice *self)
{
  return &self->gemm;
}

const SsAttentionModel *
ss_device_attention (const SsDevice *self, SsAttentionKernel kernel)
{
  return self->known_attention & 1u << kernel ? &self->attention[kernel] : NULL;
}

const SsMemoryModel *
ss_device_memory (const SsDevice *self)
{
  return &self->memory;
}

const SsHostCosts *
ss_device_host (const SsDevice *self)
{
  return &self->host;
}

const char *
ss_device_host_name (const SsDevice *self)
{
  return self->host_name;
}

SsHostMode
ss_device_host_mode (const SsDevice *self)
{
  return self->host_mode;
}

SsChip
ss_device_chip (const SsDevice *self, SsDtype dtype)
{
  return (SsChip) {
    .flop_per_s = ss_device_matmul_peak_flop_per_s (self, dtype) * self->clock_ratio,
    .bytes_per_s = self->bandwidth_bytes_per_s,
    .n_multiprocessors = self->target.n_multiprocessors,
  };
}

gboolean
ss_device_has_tf32 (const SsDevice *self)
{
  return self->has_tf32;
}

gboolean
ss_device_is_clock_held (const SsDevice *self)
{
  return self->is_clock_held;
}

double
ss_device_kernel_floor_s (const SsDevice *self, gboolean in_graph)
{
  return in_graph ? self->graph_floor_s : self->kernel_floor_s;
}

SsDeviceOrigin
ss_device_origin (const SsDevice *self, SsTimeClass time_class)
{
  return self->origin[time_class];
}

gboolean
ss_device_owns_attention (const SsDevice *self, SsAttentionKernel kernel)
{
  return (self->own_attention & 1u << kernel) != 0;
}

const char *
ss_device_source (const SsDevice *self, SsTimeClass time_class)
{
  return self->source[time_class];
}

const char *
ss_device_family (const SsDevice *self)
{
  return self->family_id;
}

const char *
ss_device_warning (const SsDevice *self)
{
  return self->warning;
}

/* ---- the same device, otherwise ---- */

static SsDevice *
copy (const SsDevice *self)
{
  SsDevice *other = g_memdup2 (self, sizeof *self);

  g_atomic_ref_count_init (&other->references);
  other->id = g_strdup (self->id);
  other->name = g_strdup (self->name);
  other->host_name = g_strdup (self->host_name);
  other->family_id = g_strdup (self->family_id);
  other->warning = g_strdup (self->warning);
  for (guint i = 0; i < SS_N_TIME_CLASSES; i++)
    other->source[i] = g_strdup (self->source[i]);
  return other;
}

SsDevice *
ss_device_with (const SsDevice *self, const SsDeviceSettings *settings, GError **error)
{
  g_autoptr (SsDevice) other = copy (self);

  if (settings->clock_hz > 0 && self->clock_hz <= 0)
    {
      g_set_error (error, SS_HW_ERROR, SS_HW_ERROR_INPUT,
                   "%s does not say at which clock its shares of the peak were reached, so none "
                   "can be held", self->id);
      return NULL;
    }
  other->has_tf32 = settings->has_tf32;
  other->host_mode = settings->host_mode;
  if (settings->clock_hz > 0)
    {
      other->is_clock_held = TRUE;
      other->clock_ratio = settings->clock_hz / self->clock_hz;
    }
  if (settings->host != NULL)
    {
      if (!ss_host_costs_load (settings->host, &other->host, error))
        return NULL;
      g_free (other->host_name);
      other->host_name = g_strdup (settings->host);
    }
  return g_steal_pointer (&other);
}

SsDevice *
ss_device_with_gemm (const SsDevice *self, const SsGemmModel *model)
{
  SsDevice *other = copy (self);

  other->gemm = *model;
  return other;
}

SsDevice *
ss_device_with_attention (const SsDevice *self, SsAttentionKernel kernel,
                          const SsAttentionModel *model)
{
  SsDevice *other = copy (self);

  other->attention[kernel] = *model;
  other->known_attention |= 1u << kernel;
  return other;
}

SsDevice *
ss_device_with_memory (const SsDevice *self, const SsMemoryModel *model)
{
  SsDevice *other = copy (self);

  other->memory = *model;
  return other;
}

SsDevice *
ss_device_with_host (const SsDevice *self, const SsHostCosts *costs)
{
  SsDevice *other = copy (self);

  other->host = *costs;
  return other;
}
