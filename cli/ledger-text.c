/* SPDX-License-Identifier: MIT */
#include "cli/ledger-text.h"

typedef struct
{
  const SsLedgerAccount *account;
  const SsRecording *recording;
  const SsLedgerQuestion *question;
  SsByteUnit unit;
  GString *out;
} Table;

static void
row (const Table *t, const char *what, const char *number, const char *how)
{
  const char *space = *how != '\0' ? "  " : "";

  g_string_append_printf (t->out, "  %-34s %14s%s%s\n", what, number, space, how);
}

static void
bytes_row (const Table *t, const char *what, guint64 bytes, const char *how)
{
  g_autofree char *text = ss_units_format_bytes (bytes, t->unit, 2);

  row (t, what, text, how);
}

static void
number_row (const Table *t, const char *what, double number, const char *how)
{
  g_autofree char *text = g_strdup_printf ("%.4g", number);

  row (t, what, text, how);
}

static void
count_row (const Table *t, const char *what, guint64 count, const char *how)
{
  g_autofree char *text = g_strdup_printf ("%" G_GUINT64_FORMAT, count);

  row (t, what, text, how);
}

static void
add_parameters (const Table *t)
{
  const SsLedgerAccount *a = t->account;

  g_string_append (t->out, "Parameters (N)\n");
  count_row (t, "all", a->n_total, "closed form of the architecture");
  count_row (t, "", a->n_counted,
             a->n_counted == a->n_total ? "counted in the trace" : "counted in the trace, with "
                                                                   "adapters");
  if (a->model.n_active != a->n_total)
    count_row (t, "active for a token", a->model.n_active, "of the experts only those chosen");
  count_row (t, "trained", a->n_trained, "the others get no gradient and no optimizer state");
  count_row (t, "embedding", a->model.n_embedding, "h V, a look-up: no product");
  count_row (t, "head", a->model.n_head,
             a->model.n_head == 0 ? "tied: the embedding is used again" : "h V");
  count_row (t, "attention, a layer", a->model.n_attention, "its matrices");
  count_row (t, "MLP, a layer", a->model.n_mlp, "its matrices");
}

static void
add_states (const Table *t)
{
  gboolean is_frozen = t->account->n_trained < t->account->n_counted;

  g_string_append_printf (
    t->out, "\nModel states: bytes of weights + gradient + master copy + optimizer%s\n",
    is_frozen ? ",\nweights of all parameters, the rest of the trained" : "");
  for (const SsLedgerRecipe *r = ss_ledger_recipes (); r->name; r++)
    {
      g_autofree char *how = g_strdup_printf ("%u + %u + %u + %u = %u", r->weights, r->gradients,
                                              r->master, r->optimizer, ss_ledger_recipe_bytes (r));

      bytes_row (t, r->name, ss_ledger_account_state_bytes (t->account, r), how);
    }
}

static void
add_activations (const Table *t)
{
  const SsLedgerAccount *a = t->account;
  g_autofree char *per_token = g_strdup_printf ("%" G_GUINT64_FORMAT " B", a->kv_bytes_per_token);

  g_string_append (t->out, "\nActivations kept for backward, one micro-batch\n");
  bytes_row (t, "a layer", a->model.layer_bytes, a->model.layer_form);
  bytes_row (t, "all layers", ss_size_mul (a->model.layer_bytes, a->n_layers), "L times that");
  bytes_row (t, "softmax of all layers", ss_size_mul (a->model.softmax_bytes, a->n_layers),
             "2 a s^2 b L: what unfused attention adds");
  bytes_row (t, "fp32 logits", a->model.logits_bytes, "4 s b V");
  if (a->simulated_saved_bytes != G_MAXUINT64)
    bytes_row (t, "held in this run", a->simulated_saved_bytes,
               "simulated: by autograd, all layers and the loss");
  g_string_append (t->out, "\nKeys and values of a cache, for generating\n");
  row (t, "a token", per_token, "2 L times the keys' width");
  bytes_row (t, "a sequence", a->kv_bytes, "s times that");
}

static void
add_flops (const Table *t)
{
  const SsLedgerAccount *a = t->account;
  double tokens = (double) t->recording->tokens_per_step;
  double both = a->per_token + a->attention_core_per_token;
  double forward = 2 * (double) a->model.n_active + a->attention_core_per_token / 3;
  const SsStepRecord *step = t->recording->steps->len > 0
                               ? &g_array_index (t->recording->steps, SsStepRecord, 0) : NULL;
  g_autofree char *share = g_strdup_printf (
    "causal: 6 s q L, %.0f %% of 6 N", 100 * a->attention_core_per_token / a->per_token_6n);

  g_string_append (t->out, "\nFlops of a token\n");
  number_row (t, "6 N", a->per_token_6n, "a multiply-add is 2, backward twice forward");
  if (a->per_token < a->per_token_6n)
    number_row (t, "with frozen weights", a->per_token,
                "4 N of what is frozen: no weight gradient");
  number_row (t, "core of attention", a->attention_core_per_token, share);
  g_string_append (t->out, "\nFlops of a step\n");
  number_row (t, "by the forms", both * tokens,
              "the sum of these, D tokens");
  number_row (t, "every layer recomputed", (both + forward) * tokens,
              "one forward more: 8 N D instead of 6 N D");
  if (step == NULL || !step->is_complete)
    return;
  number_row (t, "of the model, in this run", (double) step->model_flops,
              "simulated: a look-up is no product");
  number_row (t, "by the hardware, in this run", (double) step->hardware_flops,
              "simulated, recomputation counted");
}

static const char *
mfu_words (SsLedgerMfu source)
{
  switch (source)
    {
    case SS_LEDGER_MFU_GIVEN: return "given";
    case SS_LEDGER_MFU_OF_TOKENS_PER_S: return "flops of a token, tokens/s, over the dense peak";
    case SS_LEDGER_MFU_SIMULATED: return "of the simulated step, without attention's core";
    case SS_LEDGER_MFU_UNKNOWN: break;
    }
  return "";
}

static void
add_training (const Table *t)
{
  const SsLedgerAccount *a = t->account;

  if (a->mfu_source == SS_LEDGER_MFU_UNKNOWN && t->question->tokens <= 0)
    return;
  g_string_append (t->out, "\nTraining\n");
  if (a->mfu_source != SS_LEDGER_MFU_UNKNOWN)
    {
      g_autofree char *percent = g_strdup_printf ("%.1f %%", 100 * a->mfu);

      row (t, "MFU", percent, mfu_words (a->mfu_source));
      number_row (t, "tokens/s of a GPU", a->tokens_per_s_per_gpu,
                  "MFU times the peak, over flops of a token");
    }
  if (t->question->tokens <= 0)
    return;
  number_row (t, "flops", a->train_flops,
              a->per_token < a->per_token_6n ? "4 N D of what is frozen, else 6 N D" : "6 N D");
  number_row (t, "and attention's core", a->train_attention_flops, "causal, at this length");
  if (a->mfu_source == SS_LEDGER_MFU_UNKNOWN)
    return;
  number_row (t, "days", a->hours / 24, "these flops over GPUs, peak and MFU");
  number_row (t, "GPU hours", a->gpu_hours, "");
  if (t->question->price_per_hour > 0)
    number_row (t, "price", a->price, "GPU hours times the price of one");
}

char *
ss_ledger_text (const SsLedgerAccount *account, const SsScenario *scenario,
                const SsRecording *recording, const SsLedgerQuestion *question, SsByteUnit unit)
{
  GString *out = g_string_new (NULL);
  const Table table = { account, recording, question, unit, out };

  g_string_append_printf (out, "%s, %s\nForms beside what was simulated; "
                               "s %" G_GINT64_FORMAT ", b %" G_GINT64_FORMAT
                               ", D %" G_GUINT64_FORMAT " tokens a step\n\n",
                          recording->model_name, recording->summary,
                          ss_scenario_trace_config (scenario)->sequence_length,
                          ss_scenario_trace_config (scenario)->micro_batch,
                          recording->tokens_per_step);
  add_parameters (&table);
  add_states (&table);
  add_activations (&table);
  add_flops (&table);
  add_training (&table);
  return g_string_free (out, FALSE);
}
