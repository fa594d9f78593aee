/* SPDX-License-Identifier: MIT */
#include "ops/checkpoint/policy.h"

static void
plan_none (const SsCheckpointing *settings G_GNUC_UNUSED, guint n_layers, GArray *ranges)
{
  SsLayerRange all = { 0, n_layers - 1, FALSE };

  if (n_layers > 0)
    g_array_append_val (ranges, all);
}

static void
plan_full (const SsCheckpointing *settings G_GNUC_UNUSED, guint n_layers, GArray *ranges)
{
  for (guint i = 0; i < n_layers; i++)
    {
      SsLayerRange layer = { i, i, TRUE };

      g_array_append_val (ranges, layer);
    }
}

static const SsCheckpointPolicy none = { "none", "keep every activation", plan_none };
static const SsCheckpointPolicy full = { "full", "keep each layer's input, recompute the rest", plan_full };

const SsCheckpointPolicy *const *
ss_checkpoint_policies (void)
{
  static const SsCheckpointPolicy *const all[] = { &none, &full, NULL };

  return all;
}

const SsCheckpointPolicy *
ss_checkpoint_policy_find (const char *name)
{
  for (const SsCheckpointPolicy *const *p = ss_checkpoint_policies (); *p; p++)
    if (g_str_equal ((*p)->name, name))
      return *p;
  return NULL;
}
