/* SPDX-License-Identifier: MIT */
#include <json-glib/json-glib.h>

#include "cli/ledger-text.h"

static void
put_count (JsonBuilder *b, const char *name, guint64 count)
{
  json_builder_set_member_name (b, name);
  if (count == G_MAXUINT64)
    json_builder_add_null_value (b);
  else
    json_builder_add_int_value (b, (gint64) count);
}

/* `is_known` FALSE: null. */
static void
put_number (JsonBuilder *b, const char *name, double number, gboolean is_known)
{
  json_builder_set_member_name (b, name);
  if (is_known)
    json_builder_add_double_value (b, number);
  else
    json_builder_add_null_value (b);
}

static void
begin (JsonBuilder *b, const char *name)
{
  json_builder_set_member_name (b, name);
  json_builder_begin_object (b);
}

static void
put_parameters (JsonBuilder *b, const SsLedgerAccount *a)
{
  begin (b, "parameters");
  put_count (b, "total", a->n_total);
  put_count (b, "counted", a->n_counted);
  put_count (b, "active", a->model.n_active);
  put_count (b, "trained", a->n_trained);
  put_count (b, "embedding", a->model.n_embedding);
  put_count (b, "head", a->model.n_head);
  put_count (b, "attention_per_layer", a->model.n_attention);
  put_count (b, "mlp_per_layer", a->model.n_mlp);
  json_builder_end_object (b);
}

static void
put_bytes (JsonBuilder *b, const SsLedgerAccount *a)
{
  begin (b, "states");
  for (const SsLedgerRecipe *r = ss_ledger_recipes (); r->name; r++)
    put_count (b, r->name, ss_ledger_account_state_bytes (a, r));
  json_builder_end_object (b);
  begin (b, "activations");
  put_count (b, "layer_bytes", a->model.layer_bytes);
  put_count (b, "all_layers_bytes", ss_size_mul (a->model.layer_bytes, a->n_layers));
  put_count (b, "softmax_all_layers_bytes", ss_size_mul (a->model.softmax_bytes, a->n_layers));
  put_count (b, "logits_bytes", a->model.logits_bytes);
  put_count (b, "simulated_bytes", a->simulated_saved_bytes);
  json_builder_end_object (b);
  begin (b, "kv_cache");
  put_count (b, "bytes_per_token", a->kv_bytes_per_token);
  put_count (b, "bytes", a->kv_bytes);
  json_builder_end_object (b);
}

static void
put_training (JsonBuilder *b, const SsLedgerAccount *a, const SsLedgerQuestion *question)
{
  gboolean is_asked = question->tokens > 0, has_mfu = a->mfu_source != SS_LEDGER_MFU_UNKNOWN;

  begin (b, "flops");
  put_number (b, "per_token_6n", a->per_token_6n, TRUE);
  put_number (b, "per_token", a->per_token, TRUE);
  put_number (b, "attention_core_per_token", a->attention_core_per_token, TRUE);
  put_number (b, "train", a->train_flops, is_asked);
  put_number (b, "train_attention_core", a->train_attention_flops, is_asked);
  json_builder_end_object (b);
  begin (b, "train");
  put_number (b, "days", a->hours / 24, is_asked && has_mfu);
  put_number (b, "hours", a->hours, is_asked && has_mfu);
  put_number (b, "gpu_hours", a->gpu_hours, is_asked && has_mfu);
  put_number (b, "price", a->price, is_asked && has_mfu && question->price_per_hour > 0);
  put_number (b, "mfu", a->mfu, has_mfu);
  put_number (b, "tokens_per_s_per_gpu", a->tokens_per_s_per_gpu, has_mfu);
  json_builder_end_object (b);
}

char *
ss_ledger_json (const SsLedgerAccount *account, const SsRecording *recording,
                const SsLedgerQuestion *question)
{
  g_autoptr (JsonBuilder) b = json_builder_new_immutable ();
  g_autoptr (JsonGenerator) generator = json_generator_new ();
  g_autoptr (JsonNode) root = NULL;
  g_autofree char *text = NULL;

  json_builder_begin_object (b);
  json_builder_set_member_name (b, "model");
  json_builder_add_string_value (b, recording->model_name);
  json_builder_set_member_name (b, "summary");
  json_builder_add_string_value (b, recording->summary);
  put_parameters (b, account);
  put_bytes (b, account);
  put_training (b, account, question);
  json_builder_end_object (b);
  root = json_builder_get_root (b);
  json_generator_set_root (generator, root);
  json_generator_set_pretty (generator, TRUE);
  text = json_generator_to_data (generator, NULL);
  return g_strconcat (text, "\n", NULL);
}
