/* SPDX-License-Identifier: MIT
 *
 * Tests of checkpoint policies: small models with the papers' kernels, whose bytes and flops have
 * closed forms, and what a program keeps, repeats and marks.
 */
#pragma once

#include "ops/training-loop.h"

enum
{
  CKPT_B = 2,
  CKPT_S = 256,
  CKPT_T = CKPT_B * CKPT_S,
  CKPT_H = 512,
  CKPT_KV = 128,
  CKPT_F = 2048,
  CKPT_HEADS = 8,
  CKPT_HEAD_DIM = 64
};

/* bytes of a layer's input, and of all that backward reads of it (ledger section 3) */
#define CKPT_A ((guint64) 2 * CKPT_T * CKPT_H)
#define CKPT_KEPT ((guint64) 2 * CKPT_T * (6 * CKPT_H + 2 * CKPT_KV + 4 * CKPT_F))
/* flops of a layer's matrices, of the last of them, of its causal core */
#define CKPT_MATRICES                                                                              \
  ((guint64) 2 * CKPT_T * CKPT_H * (2 * CKPT_H + 2 * CKPT_KV + 3 * CKPT_F))
#define CKPT_DOWN ((guint64) 2 * CKPT_T * CKPT_H * CKPT_F)
#define CKPT_CORE ((guint64) 2 * CKPT_B * CKPT_S * CKPT_S * CKPT_HEADS * CKPT_HEAD_DIM)

/* Two sequences of 256 tokens, hidden 512, 8 heads of 64 and 2 of keys, MLP 2048, sgd in bf16. */
SsTraceConfig ckpt_config (const char *model_type, gint64 n_layers, const char *attention,
                           const char *policy);
/* The test fails if it cannot be traced. */
SsProgram *ckpt_trace (const SsTraceConfig *c);
/* SS_MARK_SAVED of the first step. */
guint64 ckpt_saved_bytes (const SsTraceConfig *c);
/* The program as text. (transfer full) */
char *ckpt_dump (const SsTraceConfig *c);

typedef struct
{
  guint64 matmul, attention;     /* of recomputed ops */
  guint64 model;                 /* model flops of all */
} CkptFlops;
CkptFlops ckpt_flops (const SsTraceConfig *c);

/* Every storage is released once after its allocation, or lives on; every layer begins and ends
 * once in each micro-batch. */
void ckpt_assert_sound (const SsProgram *p, guint n_layers, guint n_micro_batches);
