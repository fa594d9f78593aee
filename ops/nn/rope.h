/* SPDX-License-Identifier: MIT
 *
 * Rotary position embedding: its buffers, the tables of a forward, and the rotation.
 */
#pragma once

#include "ops/core/tape.h"
#include "ops/kernel-profile.h"

G_BEGIN_DECLS

typedef enum
{
  SS_ROPE_DEFAULT,
  SS_ROPE_LLAMA3                 /* three bands of wavelengths */
} SsRopeType;

typedef struct
{
  SsValue *inv_freq, *original_inv_freq;    /* (head_dim / 2) f32; held */
} SsRopeBuffers;

/* LlamaRotaryEmbedding's constructor and the initialisation after it, with their temporaries. */
void ss_rope_build (SsTape *t, SsRopeType type, gint64 head_dim, SsRopeBuffers *out);
void ss_rope_clear (SsRopeBuffers *buffers);
/* cos and sin (1, S, head_dim) in `dtype`, of position ids (1, S). (transfer full) */
void ss_rope_tables (SsTape *t, const SsRopeBuffers *buffers, SsValue *position_ids, SsDtype dtype,
                     SsValue **cos, SsValue **sin);
/* apply_rotary_pos_emb on q (B, H, S, D) and k (B, KV, S, D): rebinds both names. */
void ss_rope_apply (SsTape *t, SsRopeChoice choice, SsValue **q, SsValue **k, SsValue *cos,
                    SsValue *sin);
/* The same, and both go back to the type they had, as OLMo 2's do under tables in f32. */
void ss_rope_apply_rounded (SsTape *t, SsRopeChoice choice, SsValue **q, SsValue **k, SsValue *cos,
                            SsValue *sin);

G_END_DECLS
