/* SPDX-License-Identifier: MIT */
#include "output/verdict.h"

#include <string.h>

/* Less than this part of what is reserved, lying idle, is not why memory ran out. */
#define WORTH_A_WORD 100

const char *
ss_phase_phrase (const char *phase)
{
  static const struct
  {
    const char *phase, *phrase;
  } rows[] = {
    { "load", "while the model is loaded" },
    { "forward", "in the forward pass" },
    { "loss", "at the loss" },
    { "backward", "in the backward pass" },
    { "optimizer", "in the optimizer" },
    { "zero_grad", "when the gradients are cleared" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (g_strcmp0 (phase, rows[i].phase) == 0)
      return rows[i].phrase;
  return phase != NULL ? phase : "";
}

const SsOpEvent *
ss_verdict_maker (const SsRecording *recording, const SsMemoryEvent *event)
{
  const SsOpEvent *op;

  if (event->op >= recording->ops->len)
    return NULL;
  op = &g_array_index (recording->ops, SsOpEvent, event->op);
  if (op->phase != event->phase
      || (event->category == SS_CATEGORY_PARAMETERS && op->module_id != event->module_id))
    return NULL;
  return op;
}

gboolean
ss_verdict_at_start (const SsRecording *recording, guint step, guint64 *by_category)
{
  memset (by_category, 0, SS_N_CATEGORIES * sizeof *by_category);
  for (guint i = 0; i < recording->memory->len; i++)
    {
      const SsMemoryEvent *event = &g_array_index (recording->memory, SsMemoryEvent, i);

      if (event->phase < recording->phases->len
          && g_array_index (recording->phases, SsPhaseRecord, event->phase).step >= step)
        return TRUE;
      if (event->action == SS_EVENT_ALLOC)
        by_category[event->category] += event->block_bytes;
      else if (event->action == SS_EVENT_FREE)
        by_category[event->category] -= event->block_bytes;
    }
  return FALSE;
}

guint64
ss_verdict_short_bytes (const SsRecording *recording)
{
  const SsOomRecord *oom = &recording->oom;

  if (!recording->is_oom || oom->requested_bytes < oom->free_bytes)
    return 0;
  return oom->requested_bytes - oom->free_bytes;
}

static guint64
needed_bytes (const SsRecording *recording)
{
  return recording->is_oom ? recording->need_bytes : ss_recording_peak_bytes (recording);
}

char *
ss_verdict_headroom (const SsRecording *recording, SsMemoryUnits units)
{
  return ss_format_rest (recording->usable_bytes, needed_bytes (recording), units, 1);
}

char *
ss_verdict_peak (const SsRecording *recording, SsMemoryUnits units)
{
  g_autofree char *peak = ss_format_bytes (ss_recording_peak_bytes (recording), units, 1);
  g_autofree char *usable = ss_format_bytes (recording->usable_bytes, units, 1);
  g_autofree char *headroom = ss_verdict_headroom (recording, units);

  if (recording->capacity_bytes >= G_MAXINT64)
    return g_strdup_printf ("%s, headroom %s on the device's %s", peak, headroom, usable);
  return g_strdup_printf ("%s of %s, headroom %s", peak, usable, headroom);
}

char *
ss_verdict_need (const SsRecording *recording, SsMemoryUnits units)
{
  g_autofree char *need = NULL, *usable = NULL, *headroom = NULL;

  if (!recording->is_oom || recording->need_bytes == 0)
    return NULL;
  need = ss_format_bytes (recording->need_bytes, units, 1);
  usable = ss_format_bytes (recording->usable_bytes, units, 1);
  headroom = ss_verdict_headroom (recording, units);
  return g_strdup_printf ("Headroom %s: it needs %s, and %s %s.", headroom, need,
                          recording->usable_bytes < recording->capacity_bytes ? "may take"
                                                                               : "the device has",
                          usable);
}

gboolean
ss_verdict_is_in_pieces (const SsRecording *recording)
{
  return recording->is_oom && recording->least_bytes > 0
         && recording->least_bytes <= recording->usable_bytes;
}

static char *
oom_headline (const SsRecording *recording)
{
  const SsPeakRecord *at = &recording->oom.at;
  GString *text = g_string_new ("Out of memory ");

  if (at->step > 0)
    g_string_append_printf (text, "in step %u, ", at->step);
  g_string_append (text, ss_phase_phrase (at->phase));
  if (at->layer >= 0)
    g_string_append_printf (text, at->step > 0 ? " of layer %d" : ", at layer %d", at->layer);
  return g_string_free (text, FALSE);
}

char *
ss_verdict_headline (const SsRecording *recording, SsMemoryUnits units)
{
  g_autofree char *peak = NULL;

  if (recording->is_oom)
    return oom_headline (recording);
  peak = ss_verdict_peak (recording, units);
  return g_strconcat (recording->capacity_bytes >= G_MAXINT64 ? "Without limit: peak " :
                      "Fits: peak ", peak, NULL);
}

/* The category that grew most from the start of step 1 to that of `step`. */
static SsCategory
largest_growth (const SsRecording *recording, guint step, guint64 *growth_bytes,
                guint64 *total_bytes)
{
  guint64 first[SS_N_CATEGORIES], now[SS_N_CATEGORIES];
  SsCategory largest = SS_CATEGORY_PARAMETERS;

  *growth_bytes = *total_bytes = 0;
  if (!ss_verdict_at_start (recording, 1, first) || !ss_verdict_at_start (recording, step, now))
    return largest;
  for (guint i = 0; i < SS_N_CATEGORIES; i++)
    {
      guint64 more_bytes = now[i] > first[i] ? now[i] - first[i] : 0;

      *total_bytes += more_bytes;
      if (more_bytes <= *growth_bytes)
        continue;
      *growth_bytes = more_bytes;
      largest = (SsCategory) i;
    }
  return largest;
}

char *
ss_verdict_growth (const SsRecording *recording, SsMemoryUnits units)
{
  guint step = recording->oom.at.step;
  guint64 growth_bytes, total_bytes;
  SsCategory category;
  gboolean is_all;
  g_autofree char *growth_text = NULL, *part_text = NULL, *what = NULL;

  if (!recording->is_oom || step < 2)
    return NULL;
  category = largest_growth (recording, step, &growth_bytes, &total_bytes);
  if (total_bytes == 0 || total_bytes < ss_verdict_short_bytes (recording))
    return NULL;
  is_all = total_bytes - growth_bytes < total_bytes / WORTH_A_WORD;
  growth_text = ss_format_bytes (is_all ? growth_bytes : total_bytes, units, 1);
  part_text = ss_format_bytes (growth_bytes, units, 1);
  if (category == SS_CATEGORY_OPTIMIZER_STATES)
    what = g_strdup ("the first update's optimizer states");
  else if (category == SS_CATEGORY_GRADIENTS || category == SS_CATEGORY_GRADIENT_ACCUMULATION)
    what = g_strdup ("the gradients of the step before");
  else
    what = g_strdup_printf ("%s of the step before", ss_category_name (category));
  g_strdelimit (what, "_", ' ');
  if (is_all)
    return g_strdup_printf ("Step %u starts %s higher: %s stay.", step, growth_text, what);
  return g_strdup_printf ("Step %u starts %s higher: %s of that are %s.", step, growth_text,
                          part_text, what);
}

char *
ss_verdict_fragments (const SsRecording *recording, SsMemoryUnits units)
{
  const SsOomRecord *oom = &recording->oom;
  guint64 cached_bytes = oom->at.reserved_bytes - oom->at.allocated_bytes;
  g_autofree char *cached_text = ss_format_bytes (cached_bytes, units, 2);
  g_autofree char *largest_text = ss_format_bytes (oom->largest_free_block_bytes, units, 1);

  if (!recording->is_oom || cached_bytes + oom->free_bytes < oom->tensor_bytes
      || cached_bytes < oom->at.reserved_bytes / WORTH_A_WORD)
    return NULL;
  if (oom->largest_free_block_bytes == 0)
    return g_strdup_printf ("%s is reserved and not in use, but in pieces too small.", cached_text);
  return g_strdup_printf ("%s is reserved and not in use; its largest piece is %s.", cached_text,
                          largest_text);
}

/* "activations 34.0, parameters 15.0 and gradients 15.0 GiB": the three largest. */
static char *
largest_three (const SsPeakRecord *state, SsMemoryUnits units)
{
  SsByteScale scale = ss_byte_scale (units, state->allocated_bytes);
  gboolean told[SS_N_CATEGORIES] = { FALSE };
  GString *text = g_string_new (NULL);

  for (guint n = 0; n < 3; n++)
    {
      guint largest = SS_N_CATEGORIES;
      g_autofree char *number = NULL;
      g_auto (GStrv) words = NULL;
      g_autofree char *name = NULL;

      for (guint i = 0; i < SS_N_CATEGORIES; i++)
        if (!told[i]
            && (largest == SS_N_CATEGORIES || state->by_category[i] > state->by_category[largest]))
          largest = i;
      if (state->by_category[largest] == 0)
        break;
      told[largest] = TRUE;
      number = ss_format_scaled (state->by_category[largest], scale, 1);
      words = g_strsplit (ss_category_name ((SsCategory) largest), "_", -1);
      name = g_strjoinv (" ", words);
      g_string_append_printf (text, "%s%s %s", n > 0 ? ", " : "", name, number);
    }
  g_string_append_printf (text, " %s", scale.name);
  return g_string_free (text, FALSE);
}

char *
ss_verdict_allocated (const SsRecording *recording, SsMemoryUnits units)
{
  const SsPeakRecord *peak = &recording->peak;
  g_autofree char *bytes = ss_format_bytes (peak->allocated_bytes, units, 1);

  if (peak->step == 0)
    return g_strdup_printf ("Allocated at most %s, %s", bytes, ss_phase_phrase (peak->phase));
  return g_strdup_printf ("Allocated at most %s, %s of step %u", bytes,
                          ss_phase_phrase (peak->phase), peak->step);
}

char *
ss_verdict_reason (const SsRecording *recording, SsMemoryUnits units)
{
  char *reason = NULL;
  g_autofree char *largest = NULL, *allocated = NULL;

  if (!ss_verdict_is_in_pieces (recording))
    reason = ss_verdict_growth (recording, units);
  if (reason == NULL)
    reason = ss_verdict_fragments (recording, units);
  if (reason != NULL)
    return reason;
  largest = largest_three (recording->is_oom ? &recording->oom.at : &recording->peak, units);
  if (recording->is_oom)
    return g_strdup_printf ("What fills the memory: %s.", largest);
  allocated = ss_verdict_allocated (recording, units);
  return g_strdup_printf ("%s: %s.", allocated, largest);
}
