/* SPDX-License-Identifier: MIT
 *
 * Whole runs of small models, event by event: what is asked for, how much, in which order, and when
 * it goes.  tests/golden/README.md says how the files were made and reviewed.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "scenario-fixture.h"
#include "sim/simulate.h"
#include "trace-fixture.h"

/* What autograd holds at the end of the first loss. */
static guint64
saved_bytes (const SsProgram *p)
{
  guint i = 0;

  while (i < ss_program_n_marks (p) && ss_program_mark (p, i)->type != SS_MARK_SAVED)
    i++;
  cr_assert (lt (u32, i, ss_program_n_marks (p)));
  return ss_program_mark (p, i)->bytes;
}

static SsProgram *
traced (const char *name)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *file = g_strconcat ("tests/golden/", name, ".xml", NULL);
  g_autofree char *path = fixture_source (file);
  g_autoptr (SsScenario) scenario = fixture_load (path, NULL);
  SsProgram *program = NULL;
  const SsSimulateSettings settings = { .detail = SS_SIMULATE_VERDICT, .traced = &program };
  g_autoptr (SsRecording) recording = ss_simulate (scenario, &settings, &error);

  cr_assert (recording != NULL, "%s", error ? error->message : "");
  cr_assert (not (recording->is_oom));
  cr_assert (ne (ptr, program, NULL));
  return program;
}

/* The program's dump without the flops and bytes that its kernels move: these make time, and are
 * tested by themselves. */
static char *
events_of (const char *name)
{
  g_autoptr (SsProgram) program = traced (name);
  g_autoptr (GString) dump = g_string_new (NULL);
  g_autoptr (GRegex) cost
    = g_regex_new ("^(run,[^,]*),[0-9]+,[0-9]+,", G_REGEX_MULTILINE, 0, NULL);

  ss_program_dump (program, dump);
  return g_regex_replace (cost, dump->str, -1, 0, "\\1,", 0, NULL);
}

static void
expect_golden (const char *name)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *file = g_strconcat ("tests/golden/", name, ".events", NULL);
  g_autofree char *path = fixture_source (file), *text = NULL, *events = events_of (name);
  g_auto (GStrv) wanted = NULL, met = NULL;
  guint i = 0;

  cr_assert (g_file_get_contents (path, &text, NULL, &error), "%s", error ? error->message : "");
  wanted = g_strsplit (text, "\n", -1);
  met = g_strsplit (events, "\n", -1);
  cr_assert (gt (u32, g_strv_length (wanted), 1000), "%s is not whole", file);
  while (wanted[i] && g_strcmp0 (wanted[i], met[i]) == 0)
    i++;
  cr_assert (wanted[i] == NULL && met[i] == NULL, "%s:%u: \"%s\" was expected, not \"%s\"", file,
             i + 1, wanted[i] ? wanted[i] : "the end", met[i] ? met[i] : "the end");
}

Test (golden, llama_with_flash_attention) { expect_golden ("llama-flash"); }
Test (golden, gpt2_with_dropout_and_micro_batches) { expect_golden ("gpt2-dropout"); }
Test (golden, llama_with_adapters_and_checkpoints) { expect_golden ("llama-lora-checkpoints"); }

/* ---- the same by hand ---- */

/* Two layers of hidden size 256, 512 in the MLP, 4 heads of 64 over 2 of keys, vocabulary 1000; in
 * bf16.  Elements: embedding and head 2 x 1000 x 256 = 512,000; a layer q and o 2 x 65,536, k and v
 * 2 x 32,768, MLP 3 x 131,072, norms 2 x 256, together 590,336; last norm 256. */
#define LLAMA_BYTES (2 * (512000 + 2 * 590336 + 256))
#define ROPE_BYTES (2 * 32 * 4)  /* inv_freq and its original */
#define WORKSPACE_BYTES 33554432 /* of each thread on an H100 */
#define IDS_BYTES (2 * 1600 * 8)
/* 3200 tokens of 256 in bf16; one fp32 number a token */
#define X G_GUINT64_CONSTANT (1638400)
#define ROW G_GUINT64_CONSTANT (12800)

/* A norm keeps its input in fp32, the reciprocal root, the normalized in bf16, and its product is
 * what the linears after it keep: 2X + row + X + X.  A layer: two norms; rotated q, k (half as many
 * heads), v, what attention gives (3X), its logsumexp 2 x 4 x 1600 x 4 and two states of the random
 * generator (16 + 8); gate, silu, up and product, 2X each.  Once: the last norm, cos and sin of
 * 1600 x 64 in bf16, log-probabilities of 3200 x 1000 in fp32, ids, shifted labels, the sum of
 * weights. */
#define NORM (4 * X + ROW)
#define LAYER (2 * NORM + 3 * X + 51200 + 24 + 8 * X)
#define SAVED (2 * LAYER + NORM + 2 * 204800 + 12800000 + 2 * IDS_BYTES + 4)

Test (golden, llama_keeps_what_a_hand_adds_up)
{
  g_autoptr (SsProgram) p = traced ("llama-flash");
  FixturePhase loss = fixture_phase (p, 1, 1, SS_PHASE_LOSS);

  cr_expect (eq (u64, saved_bytes (p), SAVED));
  /* ids are among what is saved; the loss itself is 4 */
  cr_expect (eq (u64, loss.end_bytes, LLAMA_BYTES + ROPE_BYTES + WORKSPACE_BYTES + SAVED + 4));
}

/* The highest moment of backward is in the last norm, where the chain rule of its square holds five
 * fp32 copies of the hidden states (10X).  By then: ones (4), the backward thread's workspace, the
 * gradients of head (512,000) and norm (512) are there; log-probabilities, labels, the sum of
 * weights, the norm's product, normalized and root are gone. */
Test (golden, llama_peaks_in_backward_where_a_hand_finds_it)
{
  g_autoptr (SsProgram) p = traced ("llama-flash");
  FixturePhase loss = fixture_phase (p, 1, 1, SS_PHASE_LOSS),
               backward = fixture_phase (p, 1, 1, SS_PHASE_BACKWARD);

  cr_expect (eq (u64, backward.peak_bytes,
                 loss.end_bytes + 4 + WORKSPACE_BYTES + 512000 + 512 + 10 * X
                   - (12800000 + IDS_BYTES + 4 + 2 * X + ROW)));
}

/* Flash attention's backward works on 1664 rows, 13 x 128, for each of 2 x 4 heads: fp32 sums of
 * rows, and fp32 gradients of queries of 64. */
Test (golden, flash_attention_rounds_its_rows_to_128)
{
  g_autoptr (SsProgram) p = traced ("llama-flash");

  cr_expect (eq (uint, fixture_count (p, 1, 1, SS_PHASE_BACKWARD, 4 * 8 * 1664), 2));
  cr_expect (eq (uint, fixture_count (p, 1, 1, SS_PHASE_BACKWARD, 4 * 8 * 1664 * 64), 2));
}

/* Two states as large as the parameters, and a step of 4 bytes for each of the 21 of them. */
Test (golden, fused_adamw_keeps_two_states_in_bf16)
{
  g_autoptr (SsProgram) p = traced ("llama-flash");
  FixturePhase zero = fixture_phase (p, 1, 0, SS_PHASE_ZERO_GRAD);

  cr_expect (eq (u64, zero.end_bytes, 3 * LLAMA_BYTES + 21 * 4 + ROPE_BYTES + 2 * WORKSPACE_BYTES
                                        + IDS_BYTES));
}

/* Elements: wte 500 x 128, wpe 192 x 128; a layer two norms of 2 x 128, qkv 129 x 384, projections
 * 129 x 128, 129 x 512 and 513 x 128; a last norm.  In fp32, and so are both states (foreach AdamW
 * counts its steps on the host).  Beside them: two workspaces of an A100, 8320 KiB, and the ids of
 * both micro-batches, which lie on the device from the beginning. */
Test (golden, autocast_leaves_states_in_fp32)
{
  const guint64 layer = 2 * 256 + 129 * 384 + 129 * 128 + 129 * 512 + 513 * 128,
                parameters = 500 * 128 + 192 * 128 + 2 * layer + 256;
  g_autoptr (SsProgram) p = traced ("gpt2-dropout");
  FixturePhase zero = fixture_phase (p, 1, 0, SS_PHASE_ZERO_GRAD);

  cr_expect (eq (u64, ss_program_n_parameters (p), parameters));
  cr_expect (eq (u64, zero.end_bytes, 3 * 4 * parameters + 2 * 8519680 + 2 * 3 * 160 * 8));
}

/* Of a layer only its input; beside these the last norm's fp32 copy and root (its weight and the
 * head are frozen: nothing else), cos and sin of 200 x 64 in bf16 and positions, which are
 * arguments of each layer, log-probabilities, shifted labels and the sum of weights. */
Test (golden, checkpoints_keep_the_input_of_each_layer)
{
  const guint64 input = 400 * 256 * 2;
  g_autoptr (SsProgram) p = traced ("llama-lora-checkpoints");

  cr_expect (eq (u64, saved_bytes (p),
                 2 * input + 2 * input + 400 * 4 + 2 * 200 * 64 * 2 + 200 * 8 + 400 * 1000 * 4
                   + 400 * 8 + 4));
}
