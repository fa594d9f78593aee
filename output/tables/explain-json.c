/* SPDX-License-Identifier: MIT */
#include "output/tables/explain-json.h"

#include "output/formats/json-text.h"

static void
key (GString *json, const char *name)
{
  char last = json->str[json->len - 1];

  if (last != '{' && last != '[')
    g_string_append_c (json, ',');
  if (name != NULL)
    g_string_append_printf (json, "\"%s\":", name);
}

static void
put_uint (GString *json, const char *name, guint64 value)
{
  key (json, name);
  if (value == SS_OOM_NOT_SAID)
    g_string_append (json, "null");
  else
    g_string_append_printf (json, "%" G_GUINT64_FORMAT, value);
}

static void
put_text (GString *json, const char *name, const char *value)
{
  key (json, name);
  if (value == NULL)
    g_string_append (json, "null");
  else
    ss_json_append_text (json, value);
}

static void
put_boolean (GString *json, const char *name, gboolean value)
{
  key (json, name);
  g_string_append (json, value ? "true" : "false");
}

static void
put_layer (GString *json, const char *name, gint layer)
{
  put_uint (json, name, layer < 0 ? SS_OOM_NOT_SAID : (guint64) layer);
}

static void
put_message (GString *json, const SsOomMessage *message)
{
  key (json, "message");
  g_string_append_c (json, '{');
  put_text (json, "asked", message->text);
  put_uint (json, "low_bytes", message->low_bytes);
  put_uint (json, "high_bytes", message->high_bytes);
  put_boolean (json, "is_request", message->is_request);
  put_uint (json, "capacity_bytes", message->capacity_bytes);
  put_uint (json, "free_bytes", message->free_bytes);
  put_uint (json, "allocated_bytes", message->allocated_bytes);
  put_uint (json, "unallocated_bytes", message->unallocated_bytes);
  put_uint (json, "process_bytes", message->process_bytes);
  put_uint (json, "limit_bytes", message->limit_bytes);
  put_uint (json, "unused_bytes", ss_oom_message_unused_bytes (message));
  g_string_append_c (json, '}');
}

static void
put_request (GString *json, const char *name, const SsRequest *request)
{
  key (json, name);
  if (request == NULL)
    {
      g_string_append (json, "null");
      return;
    }
  g_string_append_c (json, '{');
  put_text (json, "kind", ss_tensor_kind_name (request->kind));
  put_text (json, "what", request->what);
  put_text (json, "factors", request->factors);
  put_uint (json, "tensor_bytes", request->bytes);
  put_uint (json, "requested_bytes", request->segment_bytes);
  put_text (json, "op", request->op_name);
  put_text (json, "module", request->module);
  put_text (json, "phase", request->phase);
  put_boolean (json, "is_recompute", request->is_recompute);
  put_uint (json, "layers", request->n_layers);
  put_layer (json, "first_layer", request->first_layer);
  put_layer (json, "last_layer", request->last_layer);
  put_uint (json, "first_step", request->first_step);
  put_uint (json, "last_step", request->last_step);
  put_uint (json, "times", request->n_requests);
  put_uint (json, "times_from_driver", request->n_from_driver);
  put_uint (json, "least_allocated_bytes", request->least_allocated_bytes);
  put_uint (json, "most_allocated_bytes", request->allocated_bytes);
  put_boolean (json, "is_fatal", request->is_fatal);
  g_string_append_c (json, '}');
}

static void
put_settings (GString *json, char *const *settings)
{
  key (json, "set");
  g_string_append_c (json, '{');
  for (; *settings != NULL; settings++)
    {
      g_auto (GStrv) parts = g_strsplit (*settings, "=", 2);

      key (json, NULL);
      ss_json_append_text (json, parts[0]);
      g_string_append_c (json, ':');
      ss_json_append_text (json, parts[1]);
    }
  g_string_append_c (json, '}');
}

static void
put_changes (GString *json, const GPtrArray *changes)
{
  key (json, "changes");
  g_string_append_c (json, '[');
  for (guint i = 0; i < changes->len; i++)
    {
      const SsExplainedChange *change = changes->pdata[i];
      gboolean is_gone = change->segment_bytes == 0;

      key (json, NULL);
      g_string_append_c (json, '{');
      put_settings (json, change->settings);
      put_text (json, "why", change->why);
      put_uint (json, "requested_bytes", is_gone ? SS_OOM_NOT_SAID : change->segment_bytes);
      put_uint (json, "most_allocated_bytes", is_gone ? SS_OOM_NOT_SAID : change->allocated_bytes);
      put_uint (json, "peak_allocated_bytes", change->peak_allocated_bytes);
      put_boolean (json, "fits", change->fits);
      g_string_append_c (json, '}');
    }
  g_string_append_c (json, ']');
}

static void
put_near (GString *json, const SsExplanation *explanation)
{
  key (json, "near");
  g_string_append_c (json, '[');
  for (guint i = 0; i < explanation->near->len; i++)
    {
      const SsNearScenario *near = explanation->near->pdata[i];

      key (json, NULL);
      g_string_append_c (json, '{');
      put_settings (json, near->settings);
      put_text (json, "what", near->what);
      put_text (json, "factors", near->factors);
      g_string_append_c (json, '}');
    }
  g_string_append_c (json, ']');
  key (json, "near_vocabulary");
  if (explanation->vocabulary_low == 0)
    g_string_append (json, "null");
  else
    g_string_append_printf (json, "[%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT "]",
                            explanation->vocabulary_low, explanation->vocabulary_high);
}

char *
ss_explain_json (const SsExplanation *explanation)
{
  GString *json = g_string_new ("{");

  put_uint (json, "schema", 1);
  put_text (json, "scenario", explanation->scenario_name);
  put_text (json, "model", explanation->model_name);
  put_text (json, "device", explanation->device_name);
  put_uint (json, "capacity_bytes", explanation->capacity_bytes);
  put_uint (json, "context_bytes", explanation->context_bytes);
  put_text (json, "verdict", explanation->fits ? "fits" : "oom");
  put_uint (json, "fatal_requested_bytes",
            explanation->fits ? SS_OOM_NOT_SAID : explanation->fatal_bytes);
  put_uint (json, "fatal_allocated_bytes",
            explanation->fits ? SS_OOM_NOT_SAID : explanation->fatal_allocated_bytes);
  put_uint (json, "fatal_step", explanation->fits ? SS_OOM_NOT_SAID : explanation->fatal_step);
  put_uint (json, "peak_allocated_bytes", explanation->peak_allocated_bytes);
  put_message (json, &explanation->message);
  key (json, "found");
  g_string_append_c (json, '[');
  for (guint i = 0; i < explanation->found->len; i++)
    put_request (json, NULL, explanation->found->pdata[i]);
  g_string_append_c (json, ']');
  put_changes (json, explanation->changes);
  put_request (json, "below", explanation->below);
  put_request (json, "above", explanation->above);
  put_near (json, explanation);
  g_string_append (json, "}\n");
  return g_string_free (json, FALSE);
}
