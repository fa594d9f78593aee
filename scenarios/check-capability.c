/* SPDX-License-Identifier: MIT
 *
 * What a device's compute capability does not have: asked for, it is refused, because PyTorch would
 * stop there or emulate it.
 */
#include "scenarios/loading-private.h"

/* bf16 products and FlashAttention: from here on (CUDA C++ programming guide, compute capability
 * 8.x; sdp_utils.cpp: check_flash_attention_hardware_support) */
#define AMPERE 80

static gboolean
has_bf16 (const SsPrecision *precision)
{
  return precision->parameter_dtype == SS_BF16 || precision->autocast_dtype == SS_BF16;
}

/* "fp32 or fp16-amp": the recipes that need none of it. (transfer full) */
static char *
recipes_without_bf16 (void)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  for (const SsPrecision *const *precision = ss_precisions (); *precision; precision++)
    if (!has_bf16 (*precision))
      g_ptr_array_add (names, (gpointer) (*precision)->name);
  g_ptr_array_add (names, NULL);
  return g_strjoinv (" or ", (char **) names->pdata);
}

static gboolean
is_flash (SsAttentionChoice choice)
{
  return choice == SS_ATTENTION_SDPA_FLASH || choice == SS_ATTENTION_PAPER_FLASH;
}

void
ss_loading_check_capability (SsLoading *self)
{
  const SsScenario *scenario = self->scenario;
  const SsTraceConfig *config = &scenario->config;
  guint capability;

  if (!scenario->device || !config->precision)
    return;
  capability = ss_device_target (scenario->device)->compute_capability;
  if (capability >= AMPERE)
    return;
  if (has_bf16 (config->precision))
    {
      g_autofree char *others = recipes_without_bf16 ();

      ss_loading_problem (self, "precision", "recipe",
                          "recipe: %s multiplies in bf16, which needs compute capability 8.0; %s "
                          "has %u.%u: take %s",
                          config->precision->name, ss_device_id (scenario->device),
                          capability / 10, capability % 10, others);
    }
  if (is_flash (config->kernels.attention))
    ss_loading_problem (self, "kernels", "attention",
                        "attention: FlashAttention needs compute capability 8.0; %s has %u.%u: "
                        "take sdpa, which runs the memory-efficient kernel there",
                        ss_device_id (scenario->device), capability / 10, capability % 10);
}
