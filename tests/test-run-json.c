/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <json-glib/json-glib.h>
#include <locale.h>

#include "output/formats/run-json.h"
#include "recording-fixture.h"

static JsonNode *
parsed (const SsRecording *recording)
{
  g_autofree char *text = ss_run_to_json (recording, NULL);
  g_autoptr (GError) error = NULL;
  JsonNode *node = json_from_string (text, &error);

  cr_assert (ne (ptr, node, NULL), "%s: %s", error ? error->message : "", text);
  return node;
}

/* Its keys in the order they were written, by commas. */
static char *
keys_of (JsonObject *object)
{
  g_autoptr (GList) members = json_object_get_members (object);
  GString *keys = g_string_new ("");

  for (GList *l = members; l != NULL; l = l->next)
    g_string_append_printf (keys, "%s%s", keys->len ? "," : "", (const char *) l->data);
  return g_string_free (keys, FALSE);
}

static void
expect_keys (JsonObject *object, const char *wanted)
{
  g_autofree char *keys = keys_of (object);

  cr_expect (eq (str, keys, (char *) wanted));
}

#define CATEGORY_KEYS                                                                              \
  "parameters,master_weights,gradients,gradient_accumulation,optimizer_states,workspace,logits,"  \
  "activations,temporaries"

/* null where all of it is as recorded */
Test (run_json, says_what_is_assumed)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_fits);
  g_autoptr (JsonNode) node = parsed (recording), assumed = NULL;

  cr_expect (json_object_get_null_member (json_node_get_object (node), "assumed"));
  recording->assumption = g_strdup ("compiled: approximate");
  recording->attention_note = g_strdup ("attention: not known");
  assumed = parsed (recording);
  cr_expect (eq (str,
                 (char *) json_object_get_string_member (json_node_get_object (assumed),
                                                         "assumed"),
                 "compiled: approximate; attention: not known"));
}

Test (run_json, keys_are_those_of_the_contract)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_oom);
  g_autoptr (JsonNode) node = parsed (recording);
  JsonObject *run = json_node_get_object (node), *step;

  expect_keys (run,
               "schema,scenario,verdict,model,device,peak,need_bytes,headroom_bytes,oom,allocator,"
               "load,steps,layers,streams,events,flop_convention,assumed,advice");
  expect_keys (json_object_get_object_member (run, "model"),
               "name,parameters,trainable_parameters");
  expect_keys (json_object_get_object_member (run, "device"),
               "name,capacity_bytes,context_bytes,usable_bytes");
  expect_keys (json_object_get_object_member (run, "peak"),
               "allocated_bytes,reserved_bytes,device_bytes,step,phase,layer,op,time_ms,"
               "by_category");
  expect_keys (
      json_object_get_object_member (json_object_get_object_member (run, "peak"), "by_category"),
      CATEGORY_KEYS);
  expect_keys (
      json_object_get_object_member (run, "oom"),
      "step,micro_batch,phase,layer,op,tensor,time_ms,tensor_bytes,requested_bytes,free_bytes,"
      "allocated_bytes,reserved_bytes,message,by_category");
  expect_keys (json_object_get_object_member (run, "allocator"), "type");
  expect_keys (json_object_get_object_member (run, "load"),
               "peak_allocated_bytes,end_allocated_bytes");
  expect_keys (json_object_get_object_member (run, "events"), "ops,memory_events");
  step = json_array_get_object_element (json_object_get_array_member (run, "steps"), 0);
  expect_keys (
      step, "step,time_ms,peak_allocated_bytes,peak_reserved_bytes,peak_phase,peak_op,"
            "end_of_forward_allocated_bytes,saved_activation_bytes,phases,tokens_per_s,model_flops,"
            "hardware_flops,mfu,hfu");
  expect_keys (json_array_get_object_element (json_object_get_array_member (step, "phases"), 0),
               "micro_batch,phase,start_ms,end_ms,start_allocated_bytes,peak_allocated_bytes,"
               "end_allocated_bytes,peak_reserved_bytes");
  expect_keys (json_array_get_object_element (json_object_get_array_member (run, "layers"), 0),
               "step,micro_batch,pass,layer,allocated_bytes");
}

/* Settings as `--set` takes them, and what they come to; what saves time is below 0. */
Test (run_json, an_advice_has_the_keys_of_the_contract)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_oom);
  const char *const settings[] = { "checkpointing/policy=block", "a/b=c=d \"e\"", NULL };
  g_autoptr (SsAdvice) advice = ss_advice_new ();
  g_autofree char *text = NULL;
  SsAdviceEntry *entry = g_new0 (SsAdviceEntry, 1);
  g_autoptr (JsonNode) node = NULL;
  JsonObject *object, *set;

  entry->settings = g_strdupv ((char **) settings);
  entry->what = g_strdup ("two things");
  entry->lever = g_strdup ("a lever");
  entry->changes = SS_ADVICE_CHANGES_NUMERICS;
  entry->step_ns = 1500000;
  entry->tokens_per_s = 2.5;
  entry->time_change = -0.25;
  g_ptr_array_add (advice->entries, entry);
  text = ss_run_to_json (recording, advice);
  node = json_from_string (text, NULL);
  object = json_array_get_object_element (
      json_object_get_array_member (json_node_get_object (node), "advice"), 0);
  expect_keys (object, "set,what,peak_allocated_bytes,peak_reserved_bytes,peak_device_bytes,"
                       "step_time_ms,tokens_per_s,time_change,changes");
  set = json_object_get_object_member (object, "set");
  expect_keys (set, "checkpointing/policy,a/b");
  cr_assert (eq (str, (char *) json_object_get_string_member (set, "a/b"), "c=d \"e\""));
  cr_assert (eq (dbl, json_object_get_double_member (object, "step_time_ms"), 1.5));
  cr_assert (eq (dbl, json_object_get_double_member (object, "time_change"), -0.25));
  cr_assert (eq (str, (char *) json_object_get_string_member (object, "changes"), "numerics"));
}

/* Step 1 ends with its states: parameters 8, states 16, workspace 1 MiB.  The room is 34 MiB, so of
 * 12 MiB of activations 9 could stay; the sixth op's half layer is kept (9 MiB), the seventh op's
 * scratch no longer fits. */
Test (run_json, what_did_not_happen_is_null)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_oom);
  g_autoptr (JsonNode) node = parsed (recording);
  JsonObject *run = json_node_get_object (node), *oom = json_object_get_object_member (run, "oom");
  JsonArray *steps = json_object_get_array_member (run, "steps");
  JsonObject *step = json_array_get_object_element (steps, 1);
  const char *const nulls[] = { "time_ms",
                                "end_of_forward_allocated_bytes",
                                "saved_activation_bytes",
                                "tokens_per_s",
                                "model_flops",
                                "hardware_flops",
                                "mfu",
                                "hfu" };

  cr_assert (eq (str, (char *) json_object_get_string_member (run, "verdict"), "oom"));
  cr_assert (eq (u64, json_array_get_length (steps), 2));
  for (guint i = 0; i < G_N_ELEMENTS (nulls); i++)
    cr_expect (json_object_get_null_member (step, nulls[i]), "%s", nulls[i]);
  cr_assert (eq (u64, json_array_get_length (json_object_get_array_member (step, "phases")), 1));
  cr_assert (eq (i64, json_object_get_int_member (oom, "layer"), 3));
  cr_assert (eq (i64, json_object_get_int_member (oom, "step"), 2));
  cr_assert (eq (i64, json_object_get_int_member (oom, "allocated_bytes"), 34 * SS_MIB));
  cr_assert (eq (i64, json_object_get_int_member (oom, "free_bytes"), 0));
}

Test (run_json, a_run_that_fits_has_no_oom_and_load_is_no_step)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_fits);
  g_autoptr (JsonNode) node = parsed (recording);
  JsonObject *run = json_node_get_object (node);
  JsonArray *steps = json_object_get_array_member (run, "steps");
  JsonArray *phases;

  cr_assert (json_object_get_null_member (run, "oom"));
  cr_assert (eq (str, (char *) json_object_get_string_member (run, "verdict"), "fits"));
  cr_assert (eq (u64, json_array_get_length (steps), 2));
  phases = json_object_get_array_member (json_array_get_object_element (steps, 0), "phases");
  cr_assert (eq (u64, json_array_get_length (phases), 5));
  cr_assert (eq (
      str,
      (char *)json_object_get_string_member (json_array_get_object_element (phases, 0), "phase"),
      "forward"));
  cr_assert (eq (i64, json_object_get_int_member (json_object_get_object_member (run, "load"),
                                                  "end_allocated_bytes"), 8 * SS_MIB));
}

Test (run_json, the_allocator_asked_for_is_named_only_when_it_is_another)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_fits);
  g_autoptr (JsonNode) node = NULL;
  JsonObject *allocator;

  g_free (recording->allocator_type);
  recording->allocator_type = g_strdup ("exact");
  node = parsed (recording);
  allocator = json_object_get_object_member (json_node_get_object (node), "allocator");
  expect_keys (allocator, "type,asked");
  cr_assert (eq (str, (char *) json_object_get_string_member (allocator, "asked"), "caching"));
}

/* 1292.123456 ms and 0.4375 as they are; names cannot break out of their quotes. */
Test (run_json, numbers_and_names_are_exact)
{
  g_autoptr (SsRecording) recording = ss_fixture_record (&ss_fixture_fits);
  g_autofree char *text = NULL;

  g_free (recording->scenario_name);
  recording->scenario_name = g_strdup ("a \"b\"\\\n\x01 \xc3\xa9 \xff");
  recording->peak.device_ns = 1292123456;
  g_array_index (recording->steps, SsStepRecord, 0).mfu = 0.1;
  recording->capacity_bytes = G_MAXINT64;
  if (setlocale (LC_ALL, "de_DE.UTF-8") == NULL)
    setlocale (LC_ALL, "");
  text = ss_run_to_json (recording, NULL);
  cr_expect (
      ne (ptr, strstr (text, "\"a \\\"b\\\"\\\\\\u000a\\u0001 \xc3\xa9 \xef\xbf\xbd\""), NULL));
  cr_expect (ne (ptr, strstr (text, "\"time_ms\":1292.123456,"), NULL));
  cr_expect (ne (ptr, strstr (text, "\"mfu\":0.1,"), NULL));
  cr_expect (ne (ptr, strstr (text, "\"mfu\":0.4375,"), NULL));
  cr_expect (ne (ptr, strstr (text, "\"capacity_bytes\":9223372036854775807,"), NULL));
  cr_expect (g_str_has_suffix (text, "}\n"));
}

Test (recording, references_are_counted)
{
  SsRecording *recording = ss_fixture_record (&ss_fixture_fits);
  SsRecording *again = ss_recording_ref (recording);

  ss_recording_unref (recording);
  cr_assert (eq (u64, again->ref_count, 1));
  ss_recording_unref (again);
}
