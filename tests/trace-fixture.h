/* SPDX-License-Identifier: MIT
 *
 * Tests of traces: small configurations of the Llama family, and the requested bytes of each phase.
 */
#pragma once

#include "ops/families/llama.h"
#include "ops/training-loop.h"

/* multiprocessors, threads and workspace of an H100 */
extern const SsTarget fixture_h100;

/* A config as a file with these sizes has it; 0: the field is not there.  GPT-2 has no use for
 * n_kv_heads and head_dim, the others none for the activation and all dropouts but one. */
typedef struct
{
  gint64 hidden, intermediate, vocabulary, n_layers, n_heads, n_kv_heads, head_dim, n_positions;
  gboolean is_tied;
  double dropout;
  const char *activation;
} FixtureSizes;

SsModelConfig fixture_model (const char *model_type, const FixtureSizes *sizes);
/* Every dropout of the model; and their sum. */
void fixture_set_dropout (SsTraceConfig *c, double probability);
double fixture_dropout (const SsModelConfig *model);
/* The numbers of a model of the Llama family, to change. */
SsLlamaConfig *fixture_llama (SsTraceConfig *c);

/* Widths of Llama 3 8B (or, "qwen3", of Qwen3 0.6B), one step of fused AdamW in bf16 under
 * `profile`. */
SsTraceConfig fixture_config (const char *model_type, const char *profile, gint64 n_layers,
                              gint64 micro_batch, gint64 sequence_length);
/* Sets one choice of the kernels. */
void fixture_choose (SsTraceConfig *c, const char *choice, const char *word);

/* Bytes alive, as requested, from the beginning of a phase to its end. */
typedef struct
{
  guint64 start_bytes, peak_bytes, end_bytes;
} FixturePhase;

FixturePhase fixture_phase (const SsProgram *p, guint step, guint micro_batch, SsPhase phase);
/* How many storages of so many bytes were allocated in a phase. */
guint fixture_count (const SsProgram *p, guint step, guint micro_batch, SsPhase phase,
                     guint64 bytes);
/* Runs of `name` in a phase (NULL: of matrix products), and their flops. */
guint fixture_runs (const SsProgram *p, guint step, guint micro_batch, SsPhase phase,
                    const char *name, guint64 *flops);
