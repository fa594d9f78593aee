/* SPDX-License-Identifier: MIT */
#include "output/formats/run-json.h"

#include <math.h>
#include <string.h>

/* Writes the object directly: json-glib would print times with 17 digits, and everything or nothing
 * on one line.  Each writer below appends `"key":value`; `begin` puts the comma before all but the
 * first. */

/* Every key of the object itself, and every entry of its arrays, starts a line. */
static void
next_line (GString *json)
{
  g_string_append (json, ",\n ");
}

static void
begin (GString *json, const char *key)
{
  char last = json->str[json->len - 1];

  if (last != '{' && last != '[' && last != ' ')
    g_string_append_c (json, ',');
  if (key != NULL)
    g_string_append_printf (json, "\"%s\":", key);
}

static void
put_text (GString *json, const char *key, const char *text)
{
  g_autofree char *valid = NULL;

  begin (json, key);
  if (text == NULL)
    {
      g_string_append (json, "null");
      return;
    }
  valid = g_utf8_make_valid (text, -1);
  g_string_append_c (json, '"');
  for (const char *c = valid; *c != '\0'; c++)
    {
      if (*c == '"' || *c == '\\')
        g_string_append_printf (json, "\\%c", *c);
      else if ((guchar) *c < 0x20 || *c == 0x7f)
        g_string_append_printf (json, "\\u%04x", (guint) *c);
      else
        g_string_append_c (json, *c);
    }
  g_string_append_c (json, '"');
}

static void
put_null (GString *json, const char *key)
{
  begin (json, key);
  g_string_append (json, "null");
}

static void
put_uint (GString *json, const char *key, guint64 value)
{
  begin (json, key);
  g_string_append_printf (json, "%" G_GUINT64_FORMAT, value);
}

/* G_MAXUINT64 says that it did not happen. */
static void
put_uint_or_null (GString *json, const char *key, guint64 value)
{
  if (value == G_MAXUINT64)
    put_null (json, key);
  else
    put_uint (json, key, value);
}

/* Below 0 says outside layers. */
static void
put_layer (GString *json, gint layer)
{
  if (layer < 0)
    put_null (json, "layer");
  else
    put_uint (json, "layer", (guint64) layer);
}

static void
put_ms (GString *json, const char *key, gint64 ns)
{
  begin (json, key);
  ss_recording_append_ms (json, ns);
}

/* The fewest digits, 15 to 17, that read back as the same double; negative or not finite: null. */
static void
put_double_or_null (GString *json, const char *key, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  const char *const formats[] = { "%.15g", "%.16g", "%.17g" };

  if (!isfinite (value) || value < 0)
    {
      put_null (json, key);
      return;
    }
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    {
      double back = g_ascii_strtod (g_ascii_formatd (text, sizeof text, formats[i], value), NULL);

      if (memcmp (&back, &value, sizeof value) == 0)
        break;
    }
  begin (json, key);
  g_string_append (json, text);
}

static void
put_categories (GString *json, const guint64 *bytes)
{
  begin (json, "by_category");
  g_string_append_c (json, '{');
  for (guint i = 0; i < SS_N_CATEGORIES; i++)
    put_uint (json, ss_category_name ((SsCategory) i), bytes[i]);
  g_string_append_c (json, '}');
}

static const char *
op_name (const SsRecording *self, guint32 op)
{
  return op < self->ops->len ? g_array_index (self->ops, SsOpEvent, op).name : NULL;
}

/* ---- the keys of the object ---- */

static void
put_peak (GString *json, const SsRecording *self)
{
  const SsPeakRecord *peak = &self->peak;

  begin (json, "peak");
  g_string_append_c (json, '{');
  put_uint (json, "allocated_bytes", peak->allocated_bytes);
  put_uint (json, "reserved_bytes", self->peak_reserved_bytes);
  put_uint (json, "device_bytes", ss_recording_peak_bytes (self));
  put_uint (json, "step", peak->step);
  put_text (json, "phase", peak->phase);
  put_layer (json, peak->layer);
  put_text (json, "op", op_name (self, peak->op));
  put_ms (json, "time_ms", peak->device_ns);
  put_categories (json, peak->by_category);
  g_string_append_c (json, '}');
}

static void
put_oom (GString *json, const SsRecording *self)
{
  const SsOomRecord *oom = &self->oom;

  if (!self->is_oom)
    {
      put_null (json, "oom");
      return;
    }
  begin (json, "oom");
  g_string_append_c (json, '{');
  put_uint (json, "step", oom->at.step);
  put_uint (json, "micro_batch", oom->at.micro_batch);
  put_text (json, "phase", oom->at.phase);
  put_layer (json, oom->at.layer);
  put_text (json, "op", oom->op_name);
  put_text (json, "tensor", oom->tensor);
  put_ms (json, "time_ms", oom->at.device_ns);
  put_uint (json, "tensor_bytes", oom->tensor_bytes);
  put_uint (json, "requested_bytes", oom->requested_bytes);
  put_uint (json, "free_bytes", oom->free_bytes);
  put_uint (json, "allocated_bytes", oom->after.allocated_bytes);
  put_uint (json, "reserved_bytes", oom->after.reserved_bytes);
  put_text (json, "message", oom->message);
  put_categories (json, oom->after.by_category);
  g_string_append_c (json, '}');
}

static void
put_phase (GString *json, const SsPhaseRecord *phase)
{
  begin (json, NULL);
  g_string_append (json, "\n   {");
  put_uint (json, "micro_batch", phase->micro_batch);
  put_text (json, "phase", phase->name);
  put_ms (json, "start_ms", phase->start_ns);
  put_ms (json, "end_ms", phase->end_ns);
  put_uint (json, "start_allocated_bytes", phase->start_allocated_bytes);
  put_uint (json, "peak_allocated_bytes", phase->peak_allocated_bytes);
  put_uint (json, "end_allocated_bytes", phase->end_allocated_bytes);
  put_uint (json, "peak_reserved_bytes", phase->peak_reserved_bytes);
  g_string_append_c (json, '}');
}

/* What a step has only when it came to its end. */
static void
put_step_results (GString *json, const SsStepRecord *step)
{
  put_double_or_null (json, "tokens_per_s", step->is_complete ? step->tokens_per_s : -1);
  put_uint_or_null (json, "model_flops", step->is_complete ? step->model_flops : G_MAXUINT64);
  put_uint_or_null (json, "hardware_flops", step->is_complete ? step->hardware_flops : G_MAXUINT64);
  put_double_or_null (json, "mfu", step->is_complete ? step->mfu : -1);
  put_double_or_null (json, "hfu", step->is_complete ? step->hfu : -1);
}

static void
put_step (GString *json, const SsRecording *self, const SsStepRecord *step)
{
  const char *peak_phase = NULL;

  if (step->peak_phase < self->phases->len)
    peak_phase = g_array_index (self->phases, SsPhaseRecord, step->peak_phase).name;
  begin (json, NULL);
  g_string_append (json, "\n  {");
  put_uint (json, "step", step->step);
  if (step->is_complete)
    put_ms (json, "time_ms", step->end_ns - step->start_ns);
  else
    put_null (json, "time_ms");
  put_uint (json, "peak_allocated_bytes", step->peak_allocated_bytes);
  put_uint (json, "peak_reserved_bytes", step->peak_reserved_bytes);
  put_text (json, "peak_phase", peak_phase);
  put_text (json, "peak_op", op_name (self, step->peak_op));
  put_uint_or_null (json, "end_of_forward_allocated_bytes", step->end_of_forward_allocated_bytes);
  put_uint_or_null (json, "saved_activation_bytes", step->saved_activation_bytes);
  begin (json, "phases");
  g_string_append_c (json, '[');
  for (guint i = 0; i < self->phases->len; i++)
    if (g_array_index (self->phases, SsPhaseRecord, i).step == step->step)
      put_phase (json, &g_array_index (self->phases, SsPhaseRecord, i));
  g_string_append_c (json, ']');
  put_step_results (json, step);
  g_string_append_c (json, '}');
}

static void
put_layer_record (GString *json, const SsLayerRecord *layer)
{
  begin (json, NULL);
  g_string_append (json, "\n  {");
  put_uint (json, "step", layer->step);
  put_uint (json, "micro_batch", layer->micro_batch);
  put_text (json, "pass", layer->is_backward ? "backward_begin" : "forward_end");
  put_layer (json, layer->layer);
  put_uint (json, "allocated_bytes", layer->allocated_bytes);
  g_string_append_c (json, '}');
}

/* By which the run can be made again: stepsim takes this very JSON. */
static void
put_settings (GString *json, const SsRecording *self)
{
  if (self->settings == NULL)
    return;
  next_line (json);
  put_text (json, "recipe", self->recipe);
  next_line (json);
  begin (json, "settings");
  g_string_append_c (json, '{');
  for (char **setting = self->settings; *setting != NULL; setting++)
    {
      const char *value = strchr (*setting, '=') + 1;
      g_autofree char *path = g_strndup (*setting, (gsize) (value - *setting) - 1);

      put_text (json, path, value);
    }
  g_string_append_c (json, '}');
}

static void
put_question (GString *json, const SsRecording *self)
{
  put_text (json, "scenario", self->scenario_name);
  next_line (json);
  put_text (json, "verdict", self->is_oom ? "oom" : "fits");
  next_line (json);
  begin (json, "model");
  g_string_append_c (json, '{');
  put_text (json, "name", self->model_name);
  put_uint (json, "parameters", self->n_parameters);
  put_uint (json, "trainable_parameters", self->n_trainable_parameters);
  g_string_append_c (json, '}');
  next_line (json);
  begin (json, "device");
  g_string_append_c (json, '{');
  put_text (json, "name", self->device_name);
  put_uint (json, "capacity_bytes", self->capacity_bytes);
  put_uint (json, "context_bytes", self->context_bytes);
  put_uint (json, "usable_bytes", self->usable_bytes);
  g_string_append_c (json, '}');
  put_settings (json, self);
}

/* What the run would take of a device without limit, and how much of this one it leaves. */
static void
put_need (GString *json, const SsRecording *self)
{
  put_uint (json, "need_bytes", self->need_bytes);
  next_line (json);
  begin (json, "headroom_bytes");
  g_string_append_printf (json, "%" G_GINT64_FORMAT, ss_recording_headroom_bytes (self));
}

static void
put_load (GString *json, const SsRecording *self)
{
  const SsPhaseRecord *load
      = self->phases->len > 0 ? &g_array_index (self->phases, SsPhaseRecord, 0) : NULL;

  if (load == NULL || load->step != 0)
    {
      put_null (json, "load");
      return;
    }
  begin (json, "load");
  g_string_append_c (json, '{');
  put_uint (json, "peak_allocated_bytes", load->peak_allocated_bytes);
  put_uint (json, "end_allocated_bytes", load->end_allocated_bytes);
  g_string_append_c (json, '}');
}

static void
put_allocator (GString *json, const SsRecording *self)
{
  begin (json, "allocator");
  g_string_append_c (json, '{');
  put_text (json, "type", self->allocator_type);
  if (g_strcmp0 (self->allocator_type, self->allocator_asked) != 0)
    put_text (json, "asked", self->allocator_asked);
  g_string_append_c (json, '}');
}

static void
put_steps (GString *json, const SsRecording *self)
{
  begin (json, "steps");
  g_string_append_c (json, '[');
  for (guint i = 0; i < self->steps->len; i++)
    put_step (json, self, &g_array_index (self->steps, SsStepRecord, i));
  g_string_append_c (json, ']');
}

static void
put_layers (GString *json, const SsRecording *self)
{
  begin (json, "layers");
  g_string_append_c (json, '[');
  for (guint i = 0; i < self->layers->len; i++)
    put_layer_record (json, &g_array_index (self->layers, SsLayerRecord, i));
  g_string_append_c (json, ']');
}

static void
put_events (GString *json, const SsRecording *self)
{
  begin (json, "events");
  g_string_append_c (json, '{');
  put_uint (json, "ops", self->ops->len);
  put_uint (json, "memory_events", self->memory->len);
  g_string_append_c (json, '}');
}

/* Those that had work; "beside_compute_ms": of it, what cost no time. */
static void
put_streams (GString *json, const SsRecording *self)
{
  begin (json, "streams");
  g_string_append_c (json, '[');
  for (guint i = 0; i < self->streams->len; i++)
    {
      const SsStreamRecord *stream = &g_array_index (self->streams, SsStreamRecord, i);

      begin (json, NULL);
      g_string_append (json, "\n  {");
      put_text (json, "stream", stream->name);
      put_uint (json, "ops", stream->n_ops);
      put_ms (json, "busy_ms", stream->busy_ns);
      put_ms (json, "beside_compute_ms", stream->beside_compute_ns);
      g_string_append_c (json, '}');
    }
  g_string_append_c (json, ']');
}

/* What of the answer follows no recording, or is approximate and by how much. */
static void
put_assumed (GString *json, const SsRecording *self)
{
  const char *parts[] = { self->assumption, self->attention_note, NULL };
  g_autofree char *both = NULL;

  if (parts[0] == NULL)
    {
      parts[0] = parts[1];
      parts[1] = NULL;
    }
  if (parts[0] != NULL)
    both = g_strjoinv ("; ", (char **) parts);
  put_text (json, "assumed", both);
}

static void
put_flop_convention (GString *json, const SsRecording *self)
{
  put_text (json, "flop_convention", self->flop_convention);
}

/* A fraction that may be negative, in millionths. */
static void
put_fraction (GString *json, const char *key, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  begin (json, key);
  g_string_append (json, g_ascii_formatd (text, sizeof text, "%.6f", value));
}

static void
put_advice_entry (GString *json, const SsAdviceEntry *advice)
{
  begin (json, NULL);
  g_string_append (json, "\n  {");
  begin (json, "set");
  g_string_append_c (json, '{');
  for (char **setting = advice->settings; *setting != NULL; setting++)
    {
      g_auto (GStrv) pieces = g_strsplit (*setting, "=", 2);

      put_text (json, pieces[0], pieces[1]);
    }
  g_string_append_c (json, '}');
  put_text (json, "what", advice->what);
  put_uint (json, "peak_allocated_bytes", advice->peak_allocated_bytes);
  put_uint (json, "peak_reserved_bytes", advice->peak_reserved_bytes);
  put_uint (json, "peak_device_bytes", advice->peak_bytes);
  put_ms (json, "step_time_ms", advice->step_ns);
  put_double_or_null (json, "tokens_per_s", advice->tokens_per_s);
  put_fraction (json, "time_change", advice->time_change);
  put_text (json, "changes", ss_advice_changes_name (advice->changes));
  g_string_append_c (json, '}');
}

/* Changes that were tried and fit, as `--set PATH=VALUE` takes them. */
static void
put_advice (GString *json, const SsAdvice *advice)
{
  begin (json, "advice");
  g_string_append_c (json, '[');
  for (guint i = 0; advice != NULL && i < ss_advice_n_entries (advice); i++)
    put_advice_entry (json, ss_advice_entry (advice, i));
  g_string_append_c (json, ']');
}

char *
ss_run_to_json (const SsRecording *self, const SsAdvice *advice)
{
  void (*const members[]) (GString *, const SsRecording *) = {
    put_question, put_peak,   put_need,   put_oom,    put_allocator, put_load,
    put_steps,    put_layers, put_streams, put_events, put_flop_convention,
    put_assumed,
  };
  GString *json;

  g_return_val_if_fail (self != NULL, NULL);
  json = g_string_new ("{");
  put_uint (json, "schema", 1);
  if (self->date != NULL)
    put_text (json, "date", self->date);
  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    {
      next_line (json);
      members[i] (json, self);
    }
  next_line (json);
  put_advice (json, advice);
  g_string_append (json, "}\n");
  return g_string_free (json, FALSE);
}
