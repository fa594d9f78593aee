/* SPDX-License-Identifier: MIT
 *
 * SsCategory: what a byte of device memory is there for.  One list for tape, curve, JSON and
 * pictures. The order is that of precedence: a storage that could be several is the first of them.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define SS_CATEGORIES(X)                                                                           \
  X (PARAMETERS, parameters, "weights, biases, adapters and buffers")                              \
  X (MASTER_WEIGHTS, master_weights, "fp32 copies the optimizer works on")                         \
  X (GRADIENTS, gradients, "what is, or becomes, a parameter's .grad")                             \
  X (GRADIENT_ACCUMULATION, gradient_accumulation, "fp32 buffers gradients are added to")          \
  X (OPTIMIZER_STATES, optimizer_states, "moments, step counters, loss scale")                     \
  X (WORKSPACE, workspace, "workspaces of the matrix library")                                     \
  X (LOGITS, logits, "the head's output, what the loss makes of it, and their gradients")          \
  X (ACTIVATIONS, activations, "what forward keeps for backward, and inputs")                      \
  X (TEMPORARIES, temporaries, "kernel scratch, gradients in flight, lists, clipping")

typedef enum
{
#define SS_CATEGORY_MEMBER(UPPER, name, meaning) SS_CATEGORY_##UPPER,
  SS_CATEGORIES (SS_CATEGORY_MEMBER)
#undef SS_CATEGORY_MEMBER
  SS_N_CATEGORIES
} SsCategory;

/* "gradient_accumulation": the key of the JSON. (transfer none) */
const char *ss_category_name (SsCategory category);
/* One phrase for reports. (transfer none) */
const char *ss_category_meaning (SsCategory category);

G_END_DECLS
