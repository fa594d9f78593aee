/* SPDX-License-Identifier: MIT */
#include "output/tables/sweep-row.h"

#include <math.h>
#include <string.h>

#define ROW_TYPE "(asusstttxtttatusxdddusis)"

/* ---- one row ---- */

static const SsStepRecord *
last_step (const SsRecording *recording)
{
  for (guint i = recording->steps->len; i-- > 0;)
    if (g_array_index (recording->steps, SsStepRecord, i).is_complete)
      return &g_array_index (recording->steps, SsStepRecord, i);
  return NULL;
}

SsSweepRow *
ss_sweep_row_new_refused (const char *const *values, const char *problem)
{
  SsSweepRow *self = g_new0 (SsSweepRow, 1);

  self->values = g_strdupv ((char **) values);
  self->verdict = SS_ROW_REFUSED;
  self->problem = g_strdup (problem);
  self->oom_layer = -1;
  self->tokens_per_s = self->mfu = self->hfu = -1;
  return self;
}

SsSweepRow *
ss_sweep_row_new (const char *const *values, const SsRecording *recording,
                  const SsRecording *unlimited)
{
  SsSweepRow *self = ss_sweep_row_new_refused (values, NULL);
  const SsStepRecord *step = last_step (unlimited);

  self->verdict = recording->is_oom ? SS_ROW_OUT_OF_MEMORY : SS_ROW_FITS;
  self->capacity_bytes = recording->capacity_bytes;
  self->context_bytes = recording->context_bytes;
  self->tokens_per_step = recording->tokens_per_step;
  self->headroom_bytes
    = (gint64) recording->usable_bytes - (gint64) ss_recording_peak_bytes (unlimited);
  self->peak_allocated_bytes = unlimited->peak.allocated_bytes;
  self->peak_reserved_bytes = unlimited->peak_reserved_bytes;
  self->floor_bytes = unlimited->floor.allocated_bytes;
  memcpy (self->by_category, unlimited->peak.by_category, sizeof self->by_category);
  self->peak_step = unlimited->peak.step;
  g_strlcpy (self->peak_phase, unlimited->peak.phase, sizeof self->peak_phase);
  if (step != NULL)
    {
      self->step_ns = step->end_ns - step->start_ns;
      self->tokens_per_s = step->tokens_per_s;
      self->mfu = step->mfu;
      self->hfu = step->hfu;
    }
  if (recording->is_oom)
    {
      self->oom_step = recording->oom.at.step;
      self->oom_layer = recording->oom.at.layer;
      g_strlcpy (self->oom_phase, recording->oom.at.phase, sizeof self->oom_phase);
    }
  return self;
}

void
ss_sweep_row_free (SsSweepRow *self)
{
  if (self == NULL)
    return;
  g_strfreev (self->values);
  g_free (self->problem);
  g_free (self->found);
  g_free (self->json);
  g_free (self);
}

guint64
ss_sweep_row_need_bytes (const SsSweepRow *self)
{
  return self->context_bytes + self->peak_reserved_bytes;
}

gboolean
ss_sweep_row_is_in_pieces (const SsSweepRow *self)
{
  gint64 spare_bytes = (gint64) self->peak_reserved_bytes - (gint64) self->peak_allocated_bytes;

  return self->verdict == SS_ROW_OUT_OF_MEMORY && self->headroom_bytes + spare_bytes >= 0;
}

const char *
ss_peak_part_name (SsPeakPart part)
{
  static const char *const names[] = {
    [SS_PEAK_ACTIVATIONS] = "activations", [SS_PEAK_LOGITS] = "logits",
    [SS_PEAK_GRADIENTS] = "gradients",     [SS_PEAK_OPTIMIZER] = "optimizer",
    [SS_PEAK_TEMPORARIES] = "temporaries", [SS_PEAK_LOADING] = "loading",
  };

  return names[part];
}

/* In forward, loss and backward the largest of what comes and goes there. */
SsPeakPart
ss_sweep_row_peak_part (const SsSweepRow *self)
{
  const guint64 *bytes = self->by_category;
  const guint64 parts[] = {
    [SS_PEAK_ACTIVATIONS] = bytes[SS_CATEGORY_ACTIVATIONS],
    [SS_PEAK_LOGITS] = bytes[SS_CATEGORY_LOGITS],
    [SS_PEAK_GRADIENTS] = bytes[SS_CATEGORY_GRADIENTS],
    [SS_PEAK_OPTIMIZER] = 0,
    [SS_PEAK_TEMPORARIES] = bytes[SS_CATEGORY_TEMPORARIES],
  };
  guint largest = SS_PEAK_ACTIVATIONS;

  if (g_str_equal (self->peak_phase, "optimizer") || g_str_equal (self->peak_phase, "zero_grad"))
    return SS_PEAK_OPTIMIZER;
  if (g_str_equal (self->peak_phase, "load"))
    return SS_PEAK_LOADING;
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    if (parts[i] > parts[largest])
      largest = i;
  return (SsPeakPart) largest;
}

/* ---- to bytes and back ---- */

static const char *
text_or_empty (const char *text)
{
  return text != NULL ? text : "";
}

GBytes *
ss_sweep_row_to_bytes (const SsSweepRow *self)
{
  GVariantBuilder categories;
  g_autoptr (GVariant) row = NULL, in_order = NULL;

  g_variant_builder_init (&categories, G_VARIANT_TYPE ("at"));
  for (guint i = 0; i < SS_N_CATEGORIES; i++)
    g_variant_builder_add (&categories, "t", self->by_category[i]);
  row = g_variant_ref_sink (g_variant_new (
    "(^asusstttxtttatusxdddusis)", self->values, (guint32) self->verdict,
    text_or_empty (self->problem), text_or_empty (self->found), self->capacity_bytes,
    self->context_bytes, self->tokens_per_step, self->headroom_bytes, self->peak_allocated_bytes,
    self->peak_reserved_bytes, self->floor_bytes, &categories, self->peak_step, self->peak_phase,
    self->step_ns, self->tokens_per_s, self->mfu, self->hfu, self->oom_step, self->oom_phase,
    self->oom_layer, text_or_empty (self->json)));
  in_order = G_BYTE_ORDER == G_BIG_ENDIAN ? g_variant_byteswap (row) : g_variant_ref (row);
  return g_variant_get_data_as_bytes (in_order);
}

static gboolean
take_text (char *text, char **target)
{
  if (*text != '\0')
    *target = text;
  else
    g_free (text);
  return TRUE;
}

static gboolean
take_phase (const char *text, char *phase, gsize size)
{
  if (strlen (text) >= size || strspn (text, "abcdefghijklmnopqrstuvwxyz_") != strlen (text))
    return FALSE;
  g_strlcpy (phase, text, size);
  return TRUE;
}

static gboolean
take_categories (GVariant *categories, guint64 *bytes)
{
  guint64 sum = 0;

  if (g_variant_n_children (categories) != SS_N_CATEGORIES)
    return FALSE;
  for (guint i = 0; i < SS_N_CATEGORIES; i++)
    {
      g_variant_get_child (categories, i, "t", &bytes[i]);
      if (!g_uint64_checked_add (&sum, sum, bytes[i]))
        return FALSE;
    }
  return TRUE;
}

/* What arithmetic on it relies on. */
static gboolean
is_sane (const SsSweepRow *self, guint n_values)
{
  return g_strv_length (self->values) == n_values && self->verdict <= SS_ROW_REFUSED
         && (self->verdict == SS_ROW_REFUSED) == (self->problem != NULL)
         && self->capacity_bytes <= G_MAXINT64 && self->context_bytes <= G_MAXINT64 / 2
         && self->peak_allocated_bytes <= G_MAXINT64 / 2
         && self->peak_reserved_bytes <= G_MAXINT64 / 2
         && ABS (self->headroom_bytes / 2) <= G_MAXINT64 / 2
         && self->floor_bytes <= self->peak_allocated_bytes && self->step_ns >= 0
         && isfinite (self->tokens_per_s) && isfinite (self->mfu) && isfinite (self->hfu)
         && self->oom_layer >= -1;
}

SsSweepRow *
ss_sweep_row_from_bytes (GBytes *bytes, guint n_values)
{
  g_autoptr (GVariant) stored
    = g_variant_ref_sink (g_variant_new_from_bytes (G_VARIANT_TYPE (ROW_TYPE), bytes, FALSE));
  g_autoptr (GVariant) row = NULL, categories = NULL;
  g_autoptr (SsSweepRow) self = g_new0 (SsSweepRow, 1);
  g_autofree char *peak_phase = NULL, *oom_phase = NULL;
  char *problem, *found, *json;
  guint32 verdict;

  if (!g_variant_is_normal_form (stored))
    return NULL;
  row = G_BYTE_ORDER == G_BIG_ENDIAN ? g_variant_byteswap (stored) : g_variant_ref (stored);
  g_variant_get (row, "(^asusstttxttt@atusxdddusis)", &self->values, &verdict, &problem, &found,
                 &self->capacity_bytes, &self->context_bytes, &self->tokens_per_step,
                 &self->headroom_bytes, &self->peak_allocated_bytes, &self->peak_reserved_bytes,
                 &self->floor_bytes,
                 &categories, &self->peak_step, &peak_phase, &self->step_ns, &self->tokens_per_s,
                 &self->mfu, &self->hfu, &self->oom_step, &oom_phase, &self->oom_layer, &json);
  self->verdict = (SsRowVerdict) verdict;
  take_text (problem, &self->problem);
  take_text (found, &self->found);
  take_text (json, &self->json);
  if (!take_phase (peak_phase, self->peak_phase, sizeof self->peak_phase)
      || !take_phase (oom_phase, self->oom_phase, sizeof self->oom_phase)
      || !take_categories (categories, self->by_category) || verdict > SS_ROW_REFUSED
      || !is_sane (self, n_values))
    return NULL;
  return g_steal_pointer (&self);
}

/* ---- the table ---- */

SsSweepTable *
ss_sweep_table_new (void)
{
  SsSweepTable *self = g_new0 (SsSweepTable, 1);

  self->paths = g_ptr_array_new_with_free_func (g_free);
  self->is_varied = g_array_new (FALSE, FALSE, sizeof (gboolean));
  self->is_numeric = g_array_new (FALSE, FALSE, sizeof (gboolean));
  self->rows = g_ptr_array_new_with_free_func ((GDestroyNotify) ss_sweep_row_free);
  return self;
}

void
ss_sweep_table_free (SsSweepTable *self)
{
  if (self == NULL)
    return;
  g_free (self->scenario_name);
  g_free (self->summary);
  g_ptr_array_unref (self->paths);
  g_array_unref (self->is_varied);
  g_array_unref (self->is_numeric);
  g_ptr_array_unref (self->rows);
  g_free (self);
}

void
ss_sweep_table_add_path (SsSweepTable *self, const char *path, gboolean is_varied,
                         gboolean is_numeric)
{
  g_ptr_array_add (self->paths, g_strdup (path));
  g_array_append_val (self->is_varied, is_varied);
  g_array_append_val (self->is_numeric, is_numeric);
}

const SsSweepRow *
ss_sweep_table_row (const SsSweepTable *self, guint i)
{
  return g_ptr_array_index (self->rows, i);
}

static const char *
last_word (const char *path)
{
  const char *slash = strrchr (path, '/');

  return slash != NULL ? slash + 1 : path;
}

const char *
ss_sweep_table_label (const SsSweepTable *self, guint path)
{
  const char *whole = g_ptr_array_index (self->paths, path), *word = last_word (whole);

  for (guint i = 0; i < self->paths->len; i++)
    if (i != path && g_str_equal (last_word (g_ptr_array_index (self->paths, i)), word))
      return whole;
  return word;
}

gboolean
ss_sweep_table_is_by_token (const SsSweepTable *self)
{
  guint64 tokens = 0;

  for (guint i = 0; i < self->rows->len; i++)
    {
      const SsSweepRow *row = ss_sweep_table_row (self, i);

      if (row->verdict == SS_ROW_REFUSED)
        continue;
      if (tokens != 0 && row->tokens_per_step != tokens)
        return TRUE;
      tokens = row->tokens_per_step;
    }
  return FALSE;
}

double
ss_sweep_table_cost (const SsSweepTable *self, const SsSweepRow *row)
{
  if (!ss_sweep_table_is_by_token (self))
    return (double) row->step_ns;
  return (double) row->step_ns / (double) MAX (row->tokens_per_step, 1);
}

guint
ss_sweep_table_fastest (const SsSweepTable *self)
{
  const SsSweepRow *best = NULL;
  gboolean is_by_token = ss_sweep_table_is_by_token (self);
  double best_cost = 0;
  guint fastest = G_MAXUINT;

  for (guint i = 0; i < self->rows->len; i++)
    {
      const SsSweepRow *row = ss_sweep_table_row (self, i);
      double cost = (double) row->step_ns
                    / (is_by_token ? (double) MAX (row->tokens_per_step, 1) : 1);

      if (row->verdict != SS_ROW_FITS)
        continue;
      if (best != NULL && (cost > best_cost || (!(cost < best_cost)
          && row->peak_allocated_bytes >= best->peak_allocated_bytes)))
        continue;
      best = row;
      best_cost = cost;
      fastest = i;
    }
  return fastest;
}
