/* SPDX-License-Identifier: MIT */
#include "ops/nn/module.h"

SsValue *
ss_module_run (SsTape *t, const SsModelSetup *setup, SsDrop part, SsSegment segment,
               gconstpointer self, guint n_carriers, guint n_in, SsValue *const *in)
{
  const SsCheckpointing *c = &setup->checkpointing;
  SsCheckpointCall call = {
    .run = segment, .self = self, .n_carriers = n_carriers, .is_reentrant = c->is_reentrant,
    .has_early_stop = c->has_early_stop,
  };

  if (!(setup->drops & part))
    return segment (t, self, in);
  if (part == SS_DROP_NORMS || part == SS_DROP_ACTIVATIONS)
    return ss_checkpoint_without_output (t, &call, n_in, in);
  return ss_checkpoint (t, &call, n_in, in);
}

/* in: q, k, v, mask or nothing */
static SsValue *
attention_alone (SsTape *t, gconstpointer self, SsValue *const *in)
{
  g_autoptr (SsValue) weights = NULL;

  return ss_attention (t, self, in[0], in[1], in[2], in[3], &weights);
}

SsValue *
ss_module_attention (SsTape *t, const SsModelSetup *setup, const SsAttention *how, SsValue *q,
                     SsValue *k, SsValue *v, SsValue *mask, SsValue **weights)
{
  if (setup->drops & SS_DROP_ATTENTION)
    return ss_module_run (t, setup, SS_DROP_ATTENTION, attention_alone, how, 3,
                          SS_VALUES (q, k, v, mask));
  return ss_attention (t, how, q, k, v, mask, weights);
}

void
ss_module_discard (SsTape *t, const SsModelSetup *setup, SsDrop part, SsValue *h,
                   SsValue *out)
{
  if (setup->drops & part)
    ss_checkpoint_discard (t, h, out);
}

void
ss_module_replace (SsTape *t, const SsModelSetup *setup, SsDrop part, SsValue **name,
                   SsValue *out)
{
  ss_module_discard (t, setup, part, *name, out);
  ss_rebind (name, out);
}
