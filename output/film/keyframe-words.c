/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "output/verdict.h"
#include "output/film/keyframe-private.h"

/* Less than this part of the peak is no change worth a word. */
#define WORTH_A_WORD 200

static const char *
plain_op_name (const char *name)
{
  return g_str_has_prefix (name, "aten::") ? name + strlen ("aten::") : name;
}

static char *
oom_words (const SsRecording *recording, SsMemoryUnits units)
{
  const SsOomRecord *oom = &recording->oom;
  SsByteScale scale = ss_byte_scale (units, oom->requested_bytes);
  guint decimals = oom->requested_bytes % (guint64) scale.bytes == 0 ? 0 : 2;
  g_autofree char *asks = ss_format_bytes (oom->requested_bytes, units, decimals);
  g_autofree char *free_text = ss_format_bytes (oom->free_bytes, units, 1);
  const char *name = oom->op_name != NULL ? oom->op_name : "the model";
  GString *text = g_string_new ("OUT OF MEMORY");

  if (oom->at.layer >= 0)
    g_string_append_printf (text, " at layer %d", oom->at.layer);
  g_string_append_printf (text, ": %s asks for %s, %s is free",
                          plain_op_name (name), asks,
                          oom->free_bytes == 0 ? "nothing" : free_text);
  return g_string_free (text, FALSE);
}

static char *
layer_words (const SsKeyframe *keyframe)
{
  SsLayerState state = (SsLayerState) keyframe->layers[keyframe->layer];

  if (keyframe->is_recompute)
    return g_strdup_printf ("layer %d: its forward runs again, its activations come back",
                            keyframe->layer);
  if (keyframe->is_backward)
    return g_strdup_printf (state == SS_LAYER_STATE_GRADIENT
                              ? "layer %d: its activations go, its gradients come"
                              : "layer %d: its activations go",
                            keyframe->layer);
  if (state == SS_LAYER_STATE_HELD)
    return g_strdup_printf ("layer %d: its activations are kept for backward", keyframe->layer);
  return g_strdup_printf (state == SS_LAYER_STATE_INPUT
                            ? "layer %d: only a checkpoint is kept, backward computes it again"
                            : "layer %d: nothing of it is kept",
                          keyframe->layer);
}

static SsBand
largest_change (const SsKeyframe *keyframe, const SsKeyframe *before, gint64 *change_bytes)
{
  SsBand largest = SS_BAND_PARAMETERS;

  *change_bytes = 0;
  for (guint i = 0; i < SS_N_BANDS; i++)
    {
      gint64 change = (gint64) (keyframe->state.bands[i] - before->state.bands[i]);

      if (ABS (change) <= ABS (*change_bytes))
        continue;
      *change_bytes = change;
      largest = (SsBand) i;
    }
  return largest;
}

/* What else happens in a moment's phase, told from the events before it and after it. */
typedef struct
{
  gboolean has_layer_before, has_layer_after;
  gboolean has_gradient_after;   /* one more is made */
  gboolean drops_gradients;      /* some are released */
} PhaseView;

static PhaseView
view_phase (const SsRecording *recording, const SsKeyframe *keyframe)
{
  PhaseView view = { FALSE };

  for (guint i = 0; i < recording->memory->len; i++)
    {
      const SsMemoryEvent *event = &g_array_index (recording->memory, SsMemoryEvent, i);
      const SsOpEvent *op = ss_keyframe_event_op (recording, event);
      gboolean is_gradient = ss_band_of ((SsCategory) event->category) == SS_BAND_GRADIENTS;

      if (event->phase != keyframe->phase)
        continue;
      if (op != NULL && op->layer >= 0 && i < keyframe->n_events)
        view.has_layer_before = TRUE;
      if (op != NULL && op->layer >= 0 && i >= keyframe->n_events)
        view.has_layer_after = TRUE;
      if (is_gradient && event->action == SS_EVENT_ALLOC && i >= keyframe->n_events)
        view.has_gradient_after = TRUE;
      if (is_gradient && event->action == SS_EVENT_FREE)
        view.drops_gradients = TRUE;
    }
  return view;
}

/* What a phase does, where memory does not show it. */
static const char *
plain_words (const SsRecording *recording, const SsPhaseRecord *phase, const SsKeyframe *keyframe)
{
  PhaseView view = view_phase (recording, keyframe);

  if (g_str_equal (phase->name, "optimizer"))
    return "the weights are updated";
  if (g_str_equal (phase->name, "zero_grad"))
    {
      if (view.drops_gradients)
        return "the gradients are dropped";
      return keyframe->state.bands[SS_BAND_GRADIENTS] > 0
               ? "the gradients stay in memory, set to zero"
               : "there are no gradients to clear";
    }
  if (g_str_equal (phase->name, "loss"))
    return "the loss is computed";
  if (g_str_equal (phase->name, "backward") && !view.has_gradient_after
      && keyframe->state.bands[SS_BAND_GRADIENTS] > 0)
    return "all gradients are there";
  if (view.has_layer_after)
    return view.has_layer_before ? "between two layers" : "it has not come to the layers yet";
  return view.has_layer_before ? "the layers are done" : "outside the layers";
}

/* The op that made all that was allocated of a band since the moment before; NULL: there are
 * several, or none is known. */
static const char *
sole_op (const SsRecording *recording, const SsKeyframe *keyframe, const SsKeyframe *before,
         SsBand band)
{
  guint32 sole = G_MAXUINT32;

  for (guint i = before->n_events; i < keyframe->n_events; i++)
    {
      const SsMemoryEvent *event = &g_array_index (recording->memory, SsMemoryEvent, i);

      if (event->action != SS_EVENT_ALLOC || ss_band_of ((SsCategory) event->category) != band)
        continue;
      if (ss_keyframe_event_op (recording, event) == NULL
          || (sole != G_MAXUINT32 && sole != event->op))
        return NULL;
      sole = event->op;
    }
  return sole == G_MAXUINT32
           ? NULL
           : plain_op_name (g_array_index (recording->ops, SsOpEvent, sole).name);
}

static char *
change_words (const SsRecording *recording, const SsPhaseRecord *phase, const SsKeyframe *keyframe,
              const SsKeyframe *before, SsMemoryUnits units)
{
  gint64 change_bytes;
  SsBand band = largest_change (keyframe, before, &change_bytes);
  g_autofree char *bytes = ss_format_bytes ((guint64) ABS (change_bytes), units, 2);
  const char *label = ss_band_look (band)->label, *op;

  if ((guint64) ABS (change_bytes) * WORTH_A_WORD < recording->peak.allocated_bytes)
    return g_strdup (plain_words (recording, phase, keyframe));
  if (change_bytes < 0)
    return g_strdup_printf ("%s of %s let go", bytes, label);
  if (g_str_equal (phase->name, "optimizer"))
    return band == SS_BAND_STATES && phase->step == 1
             ? g_strdup_printf ("the first update makes the %s, %s more", label, bytes)
             : g_strdup_printf ("%s more for %s", bytes, label);
  op = sole_op (recording, keyframe, before, band);
  if (op != NULL)
    return g_strdup_printf ("%s takes %s more for %s", op, bytes, label);
  return g_strdup_printf ("%s more for %s", bytes, label);
}

static char *
load_words (const SsRecording *recording, const SsKeyframe *keyframe, SsMemoryUnits units)
{
  guint64 own_bytes = keyframe->state.total_bytes - recording->context_bytes;
  g_autofree char *bytes = ss_format_bytes (own_bytes, units, 2);

  return g_strdup_printf ("the model is loaded: %s before the first step", bytes);
}

static const char *
phase_word (const char *phase)
{
  return g_str_equal (phase, "zero_grad") ? "clear" : phase;
}

static gboolean
has_micro_batches (const SsRecording *recording)
{
  for (guint i = 0; i < recording->phases->len; i++)
    if (g_array_index (recording->phases, SsPhaseRecord, i).micro_batch > 1)
      return TRUE;
  return FALSE;
}

char *
ss_keyframe_sentence (const SsRecording *recording, const SsKeyframe *keyframe,
                      const SsKeyframe *before, SsMemoryUnits units)
{
  const SsPhaseRecord *phase
    = keyframe->phase < recording->phases->len
        ? &g_array_index (recording->phases, SsPhaseRecord, keyframe->phase)
        : NULL;
  GString *text;
  g_autofree char *what = NULL;

  if (keyframe->is_oom)
    return oom_words (recording, units);
  if (phase == NULL || phase->step == 0)
    return load_words (recording, keyframe, units);
  text = g_string_new (NULL);
  if (phase->micro_batch > 0 && has_micro_batches (recording))
    g_string_append_printf (text, "micro-batch %u, ", phase->micro_batch);
  g_string_append_printf (text, "%s", phase_word (phase->name));
  if (keyframe->layer >= 0 && keyframe->layer < (gint) recording->n_layers)
    {
      what = layer_words (keyframe);
      g_string_append_printf (text, ", %s", what);
    }
  else
    {
      what = before != NULL ? change_words (recording, phase, keyframe, before, units)
                            : g_strdup (plain_words (recording, phase, keyframe));
      g_string_append_printf (text, ": %s", what);
    }
  if (keyframe->is_peak)
    g_string_append (text, " (the most of the run)");
  return g_string_free (text, FALSE);
}
