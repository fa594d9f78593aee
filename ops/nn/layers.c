/* SPDX-License-Identifier: MIT */
#include "ops/nn/layers.h"

#define MAX_EXTRA 7

static SsValue *
run_layer (SsTape *t, const SsLayers *layers, guint i, gboolean is_checkpointed, guint n_in, SsValue *const *in)
{
  const SsCheckpointing *c = &layers->setup->checkpointing;
  gconstpointer layer = layers->layers + i * layers->stride;

  if (is_checkpointed)
    return ss_checkpoint (t, layers->forward, layer, n_in, in, c->is_reentrant, c->has_early_stop);
  return layers->forward (t, layer, in);
}

void
ss_layers_run (SsTape *t, const SsLayers *layers, SsValue **hidden, guint n_extra, SsValue *const *extra)
{
  const SsCheckpointing *c = &layers->setup->checkpointing;
  g_autoptr (GArray) ranges = g_array_new (FALSE, FALSE, sizeof (SsLayerRange));

  g_assert (n_extra <= MAX_EXTRA);
  c->policy->plan (c, layers->n, ranges);
  for (guint r = 0; r < ranges->len; r++)
    {
      const SsLayerRange *range = &g_array_index (ranges, SsLayerRange, r);

      for (guint i = range->first; i <= range->last; i++)
        {
          SS_LAYER (t, layers->name, (gint) i);
          SsValue *in[MAX_EXTRA + 1] = { *hidden };
          g_autoptr (SsValue) out = NULL;

          memcpy (in + 1, extra, n_extra * sizeof *extra);
          out = ss_keep (run_layer (t, layers, i, range->is_checkpointed, n_extra + 1, in));
          ss_tape_mark_forward_end (t, (gint) i);
          ss_rebind (hidden, out);
        }
    }
}
