/* SPDX-License-Identifier: MIT
 *
 * SsLedgerAccount: the closed forms of ops/ledger.h for one scenario, beside what its simulation
 * came to, and what a training of many tokens takes by them.  It knows no output.  A plain value.
 */
#pragma once

#include "ops/ledger.h"
#include "scenarios/scenario.h"
#include "sim/recording.h"

G_BEGIN_DECLS

/* What is asked about a whole training; 0: not said. */
typedef struct
{
  double tokens;
  double n_gpus;                 /* 1 where it is not said */
  double mfu;                    /* 0 to 1, by per_token */
  double tokens_per_s;           /* of one GPU */
  double price_per_hour;         /* of one GPU */
} SsLedgerQuestion;

typedef enum
{
  SS_LEDGER_MFU_UNKNOWN,         /* not given, and the run completes no step */
  SS_LEDGER_MFU_GIVEN,
  SS_LEDGER_MFU_OF_TOKENS_PER_S, /* per_token times the rate that was given, over the peak */
  SS_LEDGER_MFU_SIMULATED        /* the same of the simulated run's rate */
} SsLedgerMfu;

typedef struct
{
  SsModelAccount model;          /* activations of one micro-batch */
  guint64 n_total, n_counted;    /* closed form; counted in the trace, adapters included */
  guint64 n_trained;
  guint64 n_layers;
  double per_token_6n;           /* flops; N: active parameters */
  double per_token;              /* the same, but 4 N where weights are frozen */
  double attention_core_per_token;
  guint64 kv_bytes_per_token, kv_bytes;   /* kv_bytes: of one sequence */
  guint64 simulated_saved_bytes; /* held by autograd in step 1; G_MAXUINT64: did not happen */
  /* the training asked about; 0 where it is not known */
  SsLedgerMfu mfu_source;
  double train_flops, train_attention_flops, mfu, tokens_per_s_per_gpu, hours, gpu_hours, price;
} SsLedgerAccount;

/* `recording`: of the same scenario. */
SsLedgerAccount ss_ledger_account (const SsScenario *scenario, const SsRecording *recording,
                                   const SsLedgerQuestion *question);

/* Weights of all parameters, the rest of a recipe only of those that are trained. */
guint64 ss_ledger_account_state_bytes (const SsLedgerAccount *self, const SsLedgerRecipe *recipe);

G_END_DECLS
