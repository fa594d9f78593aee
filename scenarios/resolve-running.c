/* SPDX-License-Identifier: MIT
 *
 * The device as the run asks for it: its clock, its host, how it is issued to; and whether its
 * figures cover the attention kernel that is asked for.
 */
#include "scenarios/loading-private.h"

/* Of what the device did not take, the attribute that asked. */
static const char *
blamed_element (const SsScenario *scenario, const GError *error, const char **attribute)
{
  *attribute = scenario->host && error->code == SS_HW_ERROR_UNKNOWN ? "host" : "clock";
  return "hardware";
}

static void
check_attention (SsLoading *self)
{
  const SsScenario *scenario = self->scenario;
  SsAttentionKernel kernel = SS_KERNEL_CUDNN;

  switch (scenario->config.kernels.attention)
    {
    case SS_ATTENTION_SDPA_CUDNN:
      kernel = SS_KERNEL_CUDNN;
      break;
    case SS_ATTENTION_FA3:
      kernel = SS_KERNEL_FA3;
      break;
    case SS_ATTENTION_SDPA:
    case SS_ATTENTION_SDPA_FLASH:
    case SS_ATTENTION_SDPA_EFFICIENT:
    case SS_ATTENTION_SDPA_MATH:
    case SS_ATTENTION_EAGER:
    case SS_ATTENTION_PAPER_FLASH:
    case SS_ATTENTION_PAPER_EAGER:
    case SS_N_ATTENTIONS:
      return;
    }
  if (!ss_device_attention (scenario->device, kernel))
    ss_loading_problem (self, "kernels", "attention",
                        "attention: neither %s nor its family has times of %s's kernel; sdpa was "
                        "expected", ss_device_id (scenario->device),
                        ss_kernels_get (&scenario->config.kernels, "attention"));
}

void
ss_loading_resolve_running (SsLoading *self)
{
  SsScenario *scenario = self->scenario;
  SsDeviceSettings *running = &scenario->running;
  g_autoptr (GError) error = NULL;
  const char *element, *attribute;
  SsDevice *device;

  if (!scenario->device)
    return;
  if (!scenario->has_host_mode && scenario->config.kernels.is_compiled)
    running->host_mode = SS_HOST_COMPILED;
  running->host = scenario->host;
  check_attention (self);
  if (running->clock_hz <= 0 && !running->has_tf32 && !running->host
      && running->host_mode == SS_HOST_EAGER)
    return;
  device = ss_device_with (scenario->device, running, &error);
  if (device)
    {
      ss_device_unref (scenario->device);
      scenario->device = device;
      return;
    }
  element = blamed_element (scenario, error, &attribute);
  ss_loading_problem (self, element, attribute, "%s: %s", attribute, error->message);
}
