/* SPDX-License-Identifier: MIT */
#include "sim/recording.h"

SsRecording *
ss_recording_new (void)
{
  SsRecording *self = g_new0 (SsRecording, 1);

  self->ref_count = 1;
  self->memory = g_array_new (FALSE, FALSE, sizeof (SsMemoryEvent));
  self->ops = g_array_new (FALSE, FALSE, sizeof (SsOpEvent));
  self->phases = g_array_new (FALSE, TRUE, sizeof (SsPhaseRecord));
  self->steps = g_array_new (FALSE, TRUE, sizeof (SsStepRecord));
  self->layers = g_array_new (FALSE, TRUE, sizeof (SsLayerRecord));
  self->streams = g_array_new (FALSE, TRUE, sizeof (SsStreamRecord));
  self->modules = g_ptr_array_new_with_free_func (g_free);
  self->peak.layer = self->oom.at.layer = -1;
  self->peak.op = self->oom.at.op = G_MAXUINT32;
  return self;
}

SsRecording *
ss_recording_ref (SsRecording *self)
{
  g_return_val_if_fail (self != NULL, NULL);
  g_atomic_int_inc (&self->ref_count);
  return self;
}

static void
recording_free (SsRecording *self)
{
  g_free (self->scenario_name);
  g_free (self->recipe);
  g_strfreev (self->settings);
  g_free (self->date);
  g_free (self->model_name);
  g_free (self->device_name);
  g_free (self->summary);
  g_free (self->assumption);
  g_free (self->attention_note);
  g_free (self->allocator_type);
  g_free (self->allocator_asked);
  g_free (self->policy);
  g_clear_pointer (&self->memory, g_array_unref);
  g_clear_pointer (&self->ops, g_array_unref);
  g_clear_pointer (&self->phases, g_array_unref);
  g_clear_pointer (&self->steps, g_array_unref);
  g_clear_pointer (&self->layers, g_array_unref);
  g_clear_pointer (&self->streams, g_array_unref);
  g_clear_pointer (&self->modules, g_ptr_array_unref);
  g_free (self->oom.tensor);
  g_free (self->oom.message);
  g_free (self);
}

void
ss_recording_unref (SsRecording *self)
{
  g_return_if_fail (self != NULL);
  if (g_atomic_int_dec_and_test (&self->ref_count))
    recording_free (self);
}

guint64
ss_recording_peak_bytes (const SsRecording *self)
{
  return self->context_bytes + self->peak_reserved_bytes;
}

gint64
ss_recording_headroom_bytes (const SsRecording *self)
{
  guint64 need_bytes = self->is_oom ? self->need_bytes : ss_recording_peak_bytes (self);

  return (gint64) self->usable_bytes - (gint64) need_bytes;
}

void
ss_recording_append_ms (GString *text, gint64 ns)
{
  gint64 whole = ns / 1000000, rest = ABS (ns % 1000000);

  if (ns < 0 && whole == 0)
    g_string_append_c (text, '-');
  g_string_append_printf (text, "%" G_GINT64_FORMAT, whole);
  if (rest == 0)
    return;
  g_string_append_printf (text, ".%06" G_GINT64_FORMAT, rest);
  while (text->str[text->len - 1] == '0')
    g_string_truncate (text, text->len - 1);
}
