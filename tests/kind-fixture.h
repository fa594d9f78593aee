/* SPDX-License-Identifier: MIT
 *
 * Tests of kinds of kernels: one call and its backward against a row of names, operands and bytes.
 */
#pragma once

#include "ops/core/tape.h"

/* Inputs of a call; a leaf wants a gradient. (transfer full) */
SsValue *kind_input (SsTape *t, SsDtype dtype, guint n_dims, const gint64 *size);
SsValue *kind_leaf (SsTape *t, SsDtype dtype, guint n_dims, const gint64 *size);
#define KIND_LEAF(name, dtype, ...)                                                                \
  g_autoptr (SsValue) name = kind_leaf (t, dtype, SS_DIMS (__VA_ARGS__))
#define KIND_INPUT(name, dtype, ...)                                                               \
  g_autoptr (SsValue) name = kind_input (t, dtype, SS_DIMS (__VA_ARGS__))
/* What was made before belongs to no op. */
#define KIND_BEGIN(t) ss_tape_mark (t, SS_MARK_SAVED, 0)

typedef struct
{
  const char *name;
  SsValue *(*run) (SsTape *t);   /* (transfer full); NULL: nothing that has a backward */
  guint64 saved_bytes;
  /* a line an op, those of the backward too: "aten::mul.Tensor bf16[2x8] bf16[8] -> bf16[2x8] 32",
   * the number being bytes of outputs and temporaries at their peak */
  const char *ops;
} KindRow;

/* On an H100 without workspaces. */
void kind_check (guint n, const KindRow *rows);
