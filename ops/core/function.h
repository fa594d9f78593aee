/* SPDX-License-Identifier: MIT
 *
 * What code needs that is not an op kind's alone: autograd functions with a node of their own
 * (torch.autograd.Function), handles to storages, gradients handed out by hand. It shows no insides
 * of the tape or of a node.
 */
#pragma once

#include "ops/core/context.h"
#include "ops/core/hooks.h"
#include "ops/core/kind.h"
#include "ops/core/saved.h"

G_BEGIN_DECLS

/* ---- a function's node ---- */

/* A node that no kernel made, over `out`, with edges to in[]; saves nothing yet. What its kind's
 * backward puts out is for in[]. (transfer none) */
SsNode *ss_node_attach (SsTape *t, const SsOpKind *kind, guint n_in, SsValue *const *in,
                        guint n_saved, SsValue *out);
void ss_node_set_attribute (SsNode *n, guint i, gint64 value);
/* ctx's own attributes; the holder (NULL: not held) lets them go with the node. */
void ss_node_set_context (SsNode *n, gpointer context, const SsHolder *holder);
gpointer ss_node_context (const SsNode *n);
const SsOpKind *ss_node_kind (const SsNode *n);
/* Its saved values, to set, and to let go one by one in backward. */
SsSaved *ss_node_saves (const SsNode *n);
guint ss_node_n_saves (const SsNode *n);
/* Its gradients are the loss's, though it was made after it. */
void ss_node_mark_loss (SsNode *n);

/* What an edge leads to: the value's node, its leaf's AccumulateGrad (which lives only as long as
 * somebody holds it), or NULL. (transfer full) */
SsNode *ss_node_producing (SsTape *t, SsValue *value);
void ss_node_unref (SsNode *self);

/* AccumulateGrad for a leaf, with all hooks; they may put another one in *gradient. */
void ss_accumulate_grad (SsTape *t, SsValue *leaf, SsValue **gradient);

/* ---- handles ---- */

/* A floating value over `storage`, whose reference it takes; NULL on a stopped tape. */
SsValue *ss_value_new (SsTape *t, const SsTensor *tensor, SsStorage *storage);
/* Takes a floating value, or another reference, without saying that a name holds it. (transfer
 * full) */
SsValue *ss_value_sink (SsValue *self);
/* (transfer full) */
SsStorage *ss_storage_new (SsTape *t, guint64 bytes, gboolean is_scratch);
SsStorage *ss_storage_ref (SsStorage *self);
void ss_storage_unref (SsStorage *self);
/* untyped_storage ().resize_ (0), and back: the handles stay. NULL does nothing. */
void ss_storage_discard (SsStorage *self);
void ss_storage_restore (SsStorage *self);
/* Names the value's storage by the module of another one's. */
void ss_value_name_after (SsValue *value, const SsValue *other);

/* What a multi-tensor kernel made beside a call's outputs: operands of the last op. */
void ss_tape_add_outputs (SsTape *t, guint n, SsValue *const *values);

G_END_DECLS
