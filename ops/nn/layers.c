/* SPDX-License-Identifier: MIT */
#include "ops/nn/layers.h"

#define MAX_INPUTS 8

/* What a checkpoint needs to run its layers again. */
typedef struct
{
  SsLayers layers;
  guint begin, end;              /* its entry in the plan, and where those within it end */
  guint n_in;
} Segment;

static void run_ranges (SsTape *t, const SsLayers *layers, guint begin, guint end, SsValue **hidden,
                        guint n_in, SsValue *const *in);

static const SsLayerRange *
range_of (const SsLayers *layers, guint i)
{
  return &g_array_index (layers->setup->ranges, SsLayerRange, i);
}

/* for layer in layers[first:last + 1]: hidden = layer (hidden, ...) */
static void
run_layers (SsTape *t, const SsLayers *layers, guint first, guint last, SsValue **hidden,
            guint n_in, SsValue *const *in)
{
  for (guint i = first; i <= last; i++)
    {
      SS_LAYER (t, layers->name, (gint) i);
      SsValue *args[MAX_INPUTS] = { *hidden };
      g_autoptr (SsValue) out = NULL;

      memcpy (args + 1, in + 1, (n_in - 1) * sizeof *in);
      out = ss_keep (ss_module_call (t, layers->forward, layers->layers + i * layers->stride, n_in,
                                     args));
      ss_tape_mark_forward_end (t, (gint) i);
      ss_rebind (hidden, out);
    }
}

static SsValue *
segment_forward (SsTape *t, gconstpointer self, SsValue *const *in)
{
  const Segment *s = self;
  const SsLayerRange *range = range_of (&s->layers, s->begin);
  g_autoptr (SsValue) hidden = ss_keep (in[0]);

  if (s->end > s->begin + 1)
    run_ranges (t, &s->layers, s->begin + 1, s->end, &hidden, s->n_in, in);
  else
    run_layers (t, &s->layers, range->first, range->last, &hidden, s->n_in, in);
  return ss_give (&hidden);
}

static void
run_segment (SsTape *t, const SsLayers *layers, guint begin, guint end, SsValue **hidden,
             guint n_in, SsValue *const *in)
{
  const SsModelSetup *setup = layers->setup;
  const SsCheckpointing *c = &setup->checkpointing;
  gboolean is_cut = end > begin + 1;
  Segment segment = { *layers, begin, end, n_in };
  SsCheckpointCall call = {
    .run = segment_forward, .self = &segment, .self_bytes = sizeof segment, .n_carriers = 1,
    .n_by_position = layers->n_by_position,
    .layers = layers->name, .layer = (gint) range_of (layers, begin)->last,
    .is_reentrant = c->is_reentrant, .keep = ss_checkpointing_keeps (c),
    .has_early_stop = is_cut ? c->skips_last_inner_forward : c->has_early_stop,
  };
  SsValue *args[MAX_INPUTS] = { *hidden };
  g_autoptr (SsValue) out = NULL;

  memcpy (args + 1, in + 1, (n_in - 1) * sizeof *in);
  out = ss_keep (ss_checkpoint (t, &call, n_in, args));
  ss_rebind (hidden, out);
}

/* Entries begin .. end - 1 of the plan, of which the outermost run here. */
static void
run_ranges (SsTape *t, const SsLayers *layers, guint begin, guint end, SsValue **hidden, guint n_in,
            SsValue *const *in)
{
  guint next;

  for (guint i = begin; i < end; i = next)
    {
      const SsLayerRange *range = range_of (layers, i);

      for (next = i + 1; next < end && range_of (layers, next)->depth > range->depth;)
        next++;
      if (range->is_checkpointed)
        run_segment (t, layers, i, next, hidden, n_in, in);
      else
        run_layers (t, layers, range->first, range->last, hidden, n_in, in);
    }
}

void
ss_layers_run (SsTape *t, const SsLayers *layers, SsValue **hidden, guint n_extra,
               SsValue *const *extra)
{
  SsValue *in[MAX_INPUTS] = { NULL };

  g_assert (n_extra < MAX_INPUTS);
  memcpy (in + 1, extra, n_extra * sizeof *extra);
  run_ranges (t, layers, 0, layers->setup->ranges->len, hidden, n_extra + 1, in);
}
