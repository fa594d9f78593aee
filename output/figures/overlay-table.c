/* SPDX-License-Identifier: MIT */
#include "output/verdict.h"
#include "output/figures/overlay-private.h"

gboolean
ss_overlay_peaks (const SsOverlay *self, guint64 *sim_bytes, guint64 *real_bytes)
{
  gboolean has_any = FALSE;

  *sim_bytes = *real_bytes = 0;
  for (guint i = 0; i < self->phases->len; i++)
    {
      const SsOverlayPhase *phase = &g_array_index (self->phases, SsOverlayPhase, i);

      if (!phase->has_real)
        continue;
      has_any = TRUE;
      *sim_bytes = MAX (*sim_bytes, phase->sim_peak_bytes);
      *real_bytes = MAX (*real_bytes, phase->real_peak_bytes);
    }
  return has_any;
}

/* "0", "+224.0 MiB", "-1.2 GiB" */
static char *
difference (guint64 sim_bytes, guint64 real_bytes, SsMemoryUnits units)
{
  g_autofree char *amount = NULL;

  if (sim_bytes == real_bytes)
    return g_strdup ("0");
  amount = ss_format_bytes (sim_bytes > real_bytes ? sim_bytes - real_bytes
                                                   : real_bytes - sim_bytes, units, 1);
  return g_strconcat (sim_bytes > real_bytes ? "+" : "-", amount, NULL);
}

static gboolean
is_equal_in_every_phase (const SsOverlay *self)
{
  for (guint i = 0; i < self->phases->len; i++)
    {
      const SsOverlayPhase *phase = &g_array_index (self->phases, SsOverlayPhase, i);

      if (!phase->has_real || phase->sim_peak_bytes != phase->real_peak_bytes
          || phase->sim_end_bytes != phase->real_end_bytes
          || phase->sim_reserved_bytes != phase->real_reserved_bytes)
        return FALSE;
    }
  return self->phases->len > 0;
}

char *
ss_overlay_headline (const SsOverlay *self, SsMemoryUnits units)
{
  g_autofree char *sim = NULL, *real = NULL;
  guint64 sim_bytes, real_bytes;
  double per_cent;

  if (!ss_overlay_peaks (self, &sim_bytes, &real_bytes))
    return g_strdup ("Nothing of the two runs belongs together.");
  sim = ss_format_bytes (sim_bytes, units, 2);
  real = ss_format_bytes (real_bytes, units, 2);
  if (is_equal_in_every_phase (self))
    return g_strdup_printf ("The same to the byte in every phase: a peak of %s.", sim);
  if (sim_bytes == real_bytes)
    return g_strdup_printf ("The same peak, %s, with differences in some phases.", sim);
  per_cent = real_bytes > 0 ? 100 * ((double) sim_bytes / (double) real_bytes - 1) : 0;
  return g_strdup_printf ("Peak: %s simulated, %s real, %+.1f %%.", sim, real, per_cent);
}

char *
ss_overlay_alignment (const SsOverlay *self)
{
  if (self->n_anchors > 0)
    return g_strdup_printf ("Aligned where the file names phases (%u place%s), "
                            "by sequence between.",
                            self->n_anchors, self->n_anchors > 1 ? "s" : "");
  return g_strdup ("Aligned by sequence: the file names no phases of the run.");
}

/* ---- the table ---- */

static void
append_cells (GString *text, guint64 sim_bytes, guint64 real_bytes, SsByteScale scale,
              SsMemoryUnits units)
{
  g_autofree char *real = ss_format_scaled (real_bytes, scale, 2);
  g_autofree char *apart = difference (sim_bytes, real_bytes, units);

  g_string_append_printf (text, "%8s %-10s", real, apart);
}

static void
append_phase (const SsOverlay *self, GString *text, const SsOverlayPhase *phase,
              SsByteScale scale, SsMemoryUnits units)
{
  const SsPhaseRecord *record
    = &g_array_index (self->recording->phases, SsPhaseRecord, phase->phase);
  GString *name = g_string_new (NULL);

  if (record->step > 0)
    g_string_append_printf (name, "%u ", record->step);
  g_string_append (name, record->name);
  if (record->micro_batch > 1)
    g_string_append_printf (name, " %u", record->micro_batch);
  g_string_append_printf (text, "%-16s%s", name->str,
                          phase->is_cut ? "<" : phase->is_stretched ? "~" : " ");
  g_string_free (name, TRUE);
  if (!phase->has_real)
    g_string_append (text, "       -  the real run has nothing of it");
  else
    {
      append_cells (text, phase->sim_peak_bytes, phase->real_peak_bytes, scale, units);
      append_cells (text, phase->sim_end_bytes, phase->real_end_bytes, scale, units);
      append_cells (text, phase->sim_reserved_bytes, phase->real_reserved_bytes, scale, units);
    }
  while (text->len > 0 && text->str[text->len - 1] == ' ')
    g_string_truncate (text, text->len - 1);
  g_string_append_c (text, '\n');
}

static void
append_phases (const SsOverlay *self, GString *text, SsMemoryUnits units)
{
  SsByteScale scale = ss_byte_scale (units, MAX (self->recording->peak_reserved_bytes,
                                                 self->recording->peak.allocated_bytes));
  gboolean is_stretched = FALSE, is_cut = FALSE;

  g_string_append_printf (text, "\n%-17s%8s %-10s%8s %-10s%8s\n", scale.name, "peak", "", "end", "",
                          "reserved");
  g_string_append_printf (text, "%-17s%8s %-10s%8s %-10s%8s %s\n", "step and phase", "real",
                          "diff.", "real", "diff.", "real", "diff.");
  for (guint i = 0; i < self->phases->len; i++)
    {
      const SsOverlayPhase *phase = &g_array_index (self->phases, SsOverlayPhase, i);

      is_stretched |= phase->is_stretched && !phase->is_cut;
      is_cut |= phase->is_cut;
      append_phase (self, text, phase, scale, units);
    }
  g_string_append (text, "diff.: simulated less real\n");
  if (is_cut)
    g_string_append (text, "< the real run ends in this phase: figures are up to there\n");
  if (is_stretched)
    g_string_append (text, "~ an edge of this phase is by proportion: the numbers of events "
                           "differ there\n");
}

/* ---- requests ---- */

static void
append_place (const SsOverlay *self, GString *text, guint event)
{
  const SsRecording *recording = self->recording;
  const SsOverlayEvent *sim = &g_array_index (self->events, SsOverlayEvent, event);
  const SsMemoryEvent *memory
    = &g_array_index (recording->memory, SsMemoryEvent, sim->memory_event);
  const SsPhaseRecord *phase = &g_array_index (recording->phases, SsPhaseRecord, sim->phase);
  const SsOpEvent *op = ss_verdict_maker (recording, memory);
  const char *module = "";

  g_string_append (text, op != NULL ? op->name : ss_category_name ((SsCategory) memory->category));
  if (memory->module_id < recording->modules->len)
    module = g_ptr_array_index (recording->modules, memory->module_id);
  if (*module != '\0')
    g_string_append_printf (text, " of %s", module);
  if (phase->step > 0)
    g_string_append_printf (text, ", step %u", phase->step);
  g_string_append_printf (text, ", %s", phase->name);
}

static void
append_first_difference (const SsOverlay *self, GString *text)
{
  g_string_append (text, "The first that differs: the real run asks for ");
  if (self->first_real == SS_OVERLAY_NONE)
    g_string_append (text, "nothing");
  else
    g_string_append_printf (
      text, "%" G_GUINT64_FORMAT " bytes",
      g_array_index (self->real->events, SsRealEvent, self->first_real).bytes);
  g_string_append (text, ", the simulated one\n  for ");
  if (self->first_sim == SS_OVERLAY_NONE)
    g_string_append (text, "nothing.\n");
  else
    {
      const SsOverlayEvent *sim = &g_array_index (self->events, SsOverlayEvent, self->first_sim);

      g_string_append_printf (text, "%" G_GUINT64_FORMAT " (",
                              self->real->counts_blocks ? sim->block_bytes : sim->bytes);
      append_place (self, text, self->first_sim);
      g_string_append (text, ").\n");
    }
}

/* Where, after a request that both have, the two are furthest apart. */
static void
append_largest (const SsOverlay *self, GString *text, SsMemoryUnits units)
{
  guint64 size = (guint64) ABS (self->largest_bytes);
  g_autofree char *apart = difference (self->largest_bytes > 0 ? size : 0,
                                       self->largest_bytes < 0 ? size : 0, units);

  g_string_append_printf (text, "After one of these %s is allocated in the simulation, "
                                "the most of all:\n  ", apart);
  append_place (self, text, self->largest_sim);
  g_string_append (text, ".\n");
}

static void
append_requests (const SsOverlay *self, GString *text, SsMemoryUnits units)
{
  guint n_most = MAX (self->n_sim_requests, self->n_real_requests);

  if (self->n_same_requests == n_most && n_most > 0)
    g_string_append_printf (text, "\nAll %u requests have the same size in the same order.\n",
                            n_most);
  else
    {
      g_string_append_printf (text, "\n%u requests have the same size in the same order, of %u "
                                    "real and %u simulated.\n",
                              self->n_same_requests, self->n_real_requests, self->n_sim_requests);
      if (self->first_sim != SS_OVERLAY_NONE || self->first_real != SS_OVERLAY_NONE)
        append_first_difference (self, text);
    }
  if (self->largest_sim != SS_OVERLAY_NONE)
    append_largest (self, text, units);
  else if (self->n_same_requests > 0)
    g_string_append (text, "After each of these, the same is allocated.\n");
}

char *
ss_overlay_table (const SsOverlay *self, const char *name, SsMemoryUnits units)
{
  GString *text = g_string_new (NULL);
  g_autofree char *clean = ss_clean_text (name), *headline = ss_overlay_headline (self, units);
  g_autofree char *alignment = ss_overlay_alignment (self);

  g_string_append_printf (text, "real       %s: %s, device %u, %u events%s\n", clean,
                          self->real->format, self->real->device, self->n_real,
                          self->is_real_oom ? " until it ran out of memory" : "");
  g_string_append_printf (text, "simulated  %s: %u events%s\n\n", self->recording->scenario_name,
                          self->events->len,
                          self->recording->is_oom ? " until it ran out of memory" : "");
  g_string_append_printf (text, "%s\n%s\n", headline, alignment);
  append_phases (self, text, units);
  append_requests (self, text, units);
  return g_string_free (text, FALSE);
}
