/* SPDX-License-Identifier: MIT */
#include "output/film/keyframe.h"

#include "output/film/keyframe-private.h"

/* In tenths of the most that any layer ever holds: from here on a layer holds its activations,
 * below only what a checkpoint keeps. */
#define HOLDS_TENTHS 3

static const struct
{
  char letter;
  const char *label;
} states[SS_N_LAYER_STATES] = {
#define SS_LAYER_STATE_ROW(UPPER, letter, label) [SS_LAYER_STATE_##UPPER] = { letter, label },
  SS_LAYER_STATES (SS_LAYER_STATE_ROW)
#undef SS_LAYER_STATE_ROW
};

const char *
ss_layer_state_label (SsLayerState state)
{
  g_return_val_if_fail (state < SS_N_LAYER_STATES, "");
  return states[state].label;
}

char
ss_layer_state_letter (SsLayerState state)
{
  g_return_val_if_fail (state < SS_N_LAYER_STATES, '?');
  return states[state].letter;
}

guint
ss_keyframe_step (const SsRecording *recording, const SsKeyframe *keyframe)
{
  return keyframe->phase < recording->phases->len
           ? g_array_index (recording->phases, SsPhaseRecord, keyframe->phase).step
           : 0;
}

/* ---- what each layer holds ---- */

typedef struct
{
  guint64 activation_bytes, gradient_bytes;
  gboolean is_recomputed;        /* since its last forward */
  gboolean awaits_backward;      /* its forward has run, its backward not begun */
} Layer;

/* Walks the recording from its start, keeping what every layer has in memory. */
typedef struct
{
  const SsRecording *recording;
  guint n_layers, n_events;
  guint32 next_op;
  Layer *layers;
  GArray *layer_of;              /* gint by storage: the layer that made it, -1 */
  SsTimelineState state;
} Walk;

static gint
layer_of_event (Walk *walk, const SsMemoryEvent *event)
{
  const SsOpEvent *op = ss_keyframe_event_op (walk->recording, event);
  gint layer = op != NULL && op->layer < (gint) walk->n_layers ? op->layer : -1, none = -1;

  while (walk->layer_of->len <= event->storage_id)
    g_array_append_val (walk->layer_of, none);
  if (event->action == SS_EVENT_ALLOC)
    g_array_index (walk->layer_of, gint, event->storage_id) = layer;
  return g_array_index (walk->layer_of, gint, event->storage_id);
}

static void
count (Walk *walk, const SsMemoryEvent *event)
{
  gint layer;
  guint64 *bytes;

  if (event->action != SS_EVENT_ALLOC && event->action != SS_EVENT_FREE)
    return;
  layer = layer_of_event (walk, event);
  if (layer < 0)
    return;
  if (event->category == SS_CATEGORY_ACTIVATIONS)
    bytes = &walk->layers[layer].activation_bytes;
  else if (event->category == SS_CATEGORY_GRADIENTS
           || event->category == SS_CATEGORY_GRADIENT_ACCUMULATION)
    bytes = &walk->layers[layer].gradient_bytes;
  else
    return;
  *bytes += event->action == SS_EVENT_ALLOC ? event->block_bytes : -event->block_bytes;
}

/* Ops that this event shows to have been issued. */
static void
note_ops (Walk *walk, const SsMemoryEvent *event)
{
  GArray *ops = walk->recording->ops;

  for (; event->op != G_MAXUINT32 && walk->next_op < ops->len && walk->next_op <= event->op;
       walk->next_op++)
    {
      const SsOpEvent *op = &g_array_index (ops, SsOpEvent, walk->next_op);

      if (op->layer < 0 || op->layer >= (gint) walk->n_layers)
        continue;
      if (op->is_recompute)
        walk->layers[op->layer].is_recomputed = TRUE;
      else
        walk->layers[op->layer].awaits_backward = !op->is_backward;
      if (!op->is_recompute && !op->is_backward)
        walk->layers[op->layer].is_recomputed = FALSE;
    }
}

static void
walk_to (Walk *walk, guint n_events)
{
  for (; walk->n_events < n_events; walk->n_events++)
    {
      const SsMemoryEvent *event
        = &g_array_index (walk->recording->memory, SsMemoryEvent, walk->n_events);

      ss_timeline_state_apply (&walk->state, walk->recording, event);
      count (walk, event);
      note_ops (walk, event);
    }
}

static Walk
walk_new (const SsRecording *recording)
{
  Walk walk = { .recording = recording, .n_layers = recording->n_layers };

  walk.layers = g_new0 (Layer, walk.n_layers + 1);
  walk.layer_of = g_array_new (FALSE, FALSE, sizeof (gint));
  walk.state.bands[SS_BAND_CONTEXT] = walk.state.total_bytes = recording->context_bytes;
  walk.state.reserved_bytes = recording->context_bytes;
  return walk;
}

static void
walk_clear (Walk *walk)
{
  g_free (walk->layers);
  g_array_unref (walk->layer_of);
}

/* The most that a layer holds at any moment that is shown. */
static guint64
most_held (const SsRecording *recording, const GArray *items)
{
  Walk walk = walk_new (recording);
  guint64 most = 1;

  for (guint i = 0; i < items->len; i++)
    {
      walk_to (&walk, g_array_index (items, SsKeyframe, i).n_events);
      for (guint l = 0; l < walk.n_layers; l++)
        most = MAX (most, walk.layers[l].activation_bytes);
    }
  walk_clear (&walk);
  return most;
}

/* What a checkpoint keeps of a layer is its input: the output of the layer before, or the
 * embedding. */
static SsLayerState
state_of (const Walk *walk, guint l, guint tenths, gboolean has_checkpoints)
{
  const Layer *layer = &walk->layers[l];
  gboolean is_small = has_checkpoints && tenths < HOLDS_TENTHS;

  if (tenths > 0 && !is_small)
    return layer->is_recomputed ? SS_LAYER_STATE_RECOMPUTED : SS_LAYER_STATE_HELD;
  if (has_checkpoints && layer->awaits_backward
      && (l == 0 || walk->layers[l - 1].activation_bytes > 0))
    return SS_LAYER_STATE_INPUT;
  return layer->gradient_bytes > 0 ? SS_LAYER_STATE_GRADIENT : SS_LAYER_STATE_EMPTY;
}

static void
fill_layers (SsKeyframes *self, SsKeyframe *keyframe, const Walk *walk, guint64 most_bytes)
{
  gboolean has_checkpoints
    = walk->recording->policy != NULL && !g_str_equal (walk->recording->policy, "none");

  keyframe->layers = g_new0 (guint8, self->n_layers + 1);
  keyframe->tenths = g_new0 (guint8, self->n_layers + 1);
  for (guint l = 0; l < self->n_layers; l++)
    {
      double share = (double) walk->layers[l].activation_bytes / (double) most_bytes;
      SsLayerState state;

      keyframe->tenths[l] = (guint8) MIN (share * 10 + 0.5, 10);
      state = state_of (walk, l, keyframe->tenths[l], has_checkpoints);
      keyframe->layers[l] = (guint8) state;
      self->has_state[state] = TRUE;
    }
}

static double
place_of (const SsRecording *recording, const SsKeyframe *keyframe, gint64 end_ns)
{
  if (end_ns > 0)
    return CLAMP ((double) keyframe->device_ns / (double) end_ns, 0, 1);
  return (double) keyframe->n_events / MAX (recording->memory->len, 1);
}

SsKeyframes *
ss_keyframes_new (const SsRecording *recording, SsMemoryUnits units)
{
  SsKeyframes *self = g_new0 (SsKeyframes, 1);
  gint64 end_ns = ss_recording_end_ns (recording);
  Walk walk = walk_new (recording);
  guint64 most_bytes;

  self->n_layers = recording->n_layers;
  self->items = ss_keyframes_choose (recording);
  most_bytes = most_held (recording, self->items);
  for (guint i = 0; i < self->items->len; i++)
    {
      SsKeyframe *keyframe = &g_array_index (self->items, SsKeyframe, i);

      walk_to (&walk, keyframe->n_events);
      keyframe->state = walk.state;
      keyframe->at = place_of (recording, keyframe, end_ns);
      fill_layers (self, keyframe, &walk, most_bytes);
      keyframe->sentence
        = ss_keyframe_sentence (recording, keyframe, i > 0 ? keyframe - 1 : NULL, units);
    }
  walk_clear (&walk);
  return self;
}

void
ss_keyframes_free (SsKeyframes *self)
{
  if (self == NULL)
    return;
  for (guint i = 0; i < self->items->len; i++)
    {
      SsKeyframe *keyframe = &g_array_index (self->items, SsKeyframe, i);

      g_free (keyframe->layers);
      g_free (keyframe->tenths);
      g_free (keyframe->sentence);
    }
  g_array_unref (self->items);
  g_free (self);
}
