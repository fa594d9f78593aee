/* SPDX-License-Identifier: MIT
 *
 * What a storage of a traced program is, in words: the tensor it was made for, its sizes by the
 * names they have in the model and the recipe, its kind.  It knows no allocator, message or
 * output.
 */
#pragma once

#include "ops/core/program.h"
#include "ops/training-loop.h"
#include "study/explanation.h"

G_BEGIN_DECLS

/* What can be seen of a storage without words; all 0 but for what is known, so that equal things
 * are equal bytes. */
typedef struct
{
  guint64 bytes;
  SsTensor shape;                /* n_dims 0 and dtype SS_N_DTYPES: not known */
  const SsOpKind *op;            /* NULL: made by no op */
  guint32 module_id;             /* as the caller means it */
  guint8 phase;                  /* SsPhase */
  guint8 category;               /* SsCategory */
  guint8 is_scratch, is_recompute, is_backward, is_optimizer;
  guint8 padding[2];
} SsTensorTrait;

/* The program must have kept its operands. */
void ss_tensor_trait_of (const SsProgram *program, guint32 storage_id, SsPhase phase,
                         SsTensorTrait *trait);

/* Sets kind, what, factors, op_name, phase, bytes, element_bytes, the counts of factors, has_words
 * and is_recompute of a request. */
void ss_tensor_name (const SsTensorTrait *trait, const SsTraceConfig *config, SsRequest *request);

G_END_DECLS
