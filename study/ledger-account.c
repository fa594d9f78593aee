/* SPDX-License-Identifier: MIT */
#include "study/ledger-account.h"

static guint
element_bytes (const SsPrecision *precision)
{
  return ss_dtype_bytes (precision->autocast_dtype != SS_N_DTYPES ? precision->autocast_dtype
                                                                  : precision->parameter_dtype);
}

static const SsStepRecord *
first_step (const SsRecording *recording)
{
  return recording->steps->len > 0 ? &g_array_index (recording->steps, SsStepRecord, 0) : NULL;
}

/* Where the MFU comes from, the first of these that is there. */
static void
find_mfu (SsLedgerAccount *self, const SsRecording *recording, const SsLedgerQuestion *question)
{
  const SsStepRecord *step = first_step (recording);

  if (question->mfu > 0)
    {
      self->mfu_source = SS_LEDGER_MFU_GIVEN;
      self->mfu = question->mfu;
      self->tokens_per_s_per_gpu
        = question->mfu * recording->peak_flop_per_s / self->per_token;
      return;
    }
  if (question->tokens_per_s > 0)
    {
      self->mfu_source = SS_LEDGER_MFU_OF_TOKENS_PER_S;
      self->tokens_per_s_per_gpu = question->tokens_per_s;
    }
  else if (step != NULL && step->is_complete)
    {
      self->mfu_source = SS_LEDGER_MFU_SIMULATED;
      self->tokens_per_s_per_gpu = step->tokens_per_s;
    }
  else
    return;
  self->mfu = self->per_token * self->tokens_per_s_per_gpu / recording->peak_flop_per_s;
}

static void
account_training (SsLedgerAccount *self, const SsRecording *recording,
                  const SsLedgerQuestion *question)
{
  double n_gpus = question->n_gpus > 0 ? question->n_gpus : 1;

  find_mfu (self, recording, question);
  if (question->tokens <= 0)
    return;
  self->train_flops = self->per_token * question->tokens;
  self->train_attention_flops = self->attention_core_per_token * question->tokens;
  if (self->mfu_source == SS_LEDGER_MFU_UNKNOWN)
    return;
  self->hours
    = ss_ledger_seconds (self->train_flops, n_gpus, recording->peak_flop_per_s, self->mfu) / 3600;
  self->gpu_hours = self->hours * n_gpus;
  self->price = self->gpu_hours * question->price_per_hour;
}

SsLedgerAccount
ss_ledger_account (const SsScenario *scenario, const SsRecording *recording,
                   const SsLedgerQuestion *question)
{
  const SsTraceConfig *config = ss_scenario_trace_config (scenario);
  const SsModelConfig *model = &config->model;
  const SsStepRecord *step = first_step (recording);
  guint64 s = (guint64) config->sequence_length;
  SsLedgerAccount self = {
    .n_total = model->family->count_parameters (model),
    .n_counted = recording->n_parameters,
    .n_trained = recording->n_trainable_parameters,
    .n_layers = (guint64) model->n_layers,
    .simulated_saved_bytes = step != NULL ? step->saved_activation_bytes : G_MAXUINT64,
  };
  guint64 n_added = self.n_counted > self.n_total ? self.n_counted - self.n_total : 0, n_frozen;

  model->family->account (model, s, (guint64) config->micro_batch, &self.model);
  n_frozen = self.n_counted > self.n_trained ? self.n_counted - self.n_trained : 0;
  self.per_token_6n = ss_ledger_training_flops ((double) (self.model.n_active + n_added), 1, FALSE);
  self.per_token = self.per_token_6n - 2 * (double) MIN (n_frozen, self.model.n_active);
  self.attention_core_per_token = (double) self.model.core_flops / (double) s;
  self.kv_bytes_per_token = ss_ledger_kv_cache_bytes (1, self.n_layers, self.model.kv_width,
                                                      element_bytes (config->precision));
  self.kv_bytes = ss_size_mul (s, self.kv_bytes_per_token);
  account_training (&self, recording, question);
  return self;
}

guint64
ss_ledger_account_state_bytes (const SsLedgerAccount *self, const SsLedgerRecipe *recipe)
{
  guint rest = ss_ledger_recipe_bytes (recipe) - recipe->weights;

  return ss_size_add (ss_size_mul (recipe->weights, self->n_counted),
                      ss_size_mul (rest, self->n_trained));
}
