/* SPDX-License-Identifier: MIT
 *
 * Hooks: code that runs when a module is called, when a gradient is complete, when a node runs,
 * when a leaf has its gradient, when a backward ends. They are PyTorch's, in its order (torch/csrc/
 * autograd/engine.cpp, call_function; accumulate_grad.h; torch/nn/modules/module.py, _call_impl):
 *
 *   forward:   hooks of every module, then the module's own; before, forward, after
 *   backward:  tensor hooks; node hooks before; the node; node hooks after
 *   of a leaf: tensor hooks; node hooks before; .grad is set or added to; hooks on the accumulated
 *              gradient; node hooks after
 *   last:      what was queued in this backward, in order
 *
 * Those of one kind run in the order in which they were registered. They know no user. What a
 * hook's `data` holds is told by its holder (NULL: nothing): it goes with the node or leaf.
 * (Saved-tensor hooks: saved.h. Dispatch modes: dispatch.h.)
 */
#pragma once

#include "ops/core/saved.h"

G_BEGIN_DECLS

/* A value as data. */
extern const SsHolder ss_value_holder;

/* ---- backward ---- */

/* tensor.register_hook: `gradient` is complete; may return another one (transfer full), or NULL. */
typedef SsValue *(*SsTensorHook) (SsTape *t, SsValue *gradient, gpointer data);
/* `value` is a leaf, or has a node. */
void ss_hook_tensor (SsValue *value, SsTensorHook hook, gpointer data, const SsHolder *holder);

/* node.register_prehook: the gradients of the node's outputs, some NULL; may put others in their
 * place, whose references it hands over. */
typedef void (*SsNodePreHook) (SsTape *t, const SsNode *n, SsValue **gradient, gpointer data);
void ss_hook_node_before (SsNode *n, SsNodePreHook hook, gpointer data, const SsHolder *holder);

/* node.register_hook: gradients of its inputs (some NULL; may be put in place), and of outputs. */
typedef void (*SsNodeHook) (SsTape *t, const SsNode *n, SsValue **of_inputs,
                            SsValue *const *of_outputs, gpointer data);
void ss_hook_node_after (SsNode *n, SsNodeHook hook, gpointer data, const SsHolder *holder);

/* tensor.register_post_accumulate_grad_hook: leaf->leaf->grad is set; may take it. */
typedef void (*SsLeafHook) (SsTape *t, SsValue *leaf, gpointer data);
void ss_hook_accumulated (SsValue *leaf, SsLeafHook hook, gpointer data, const SsHolder *holder);

/* Variable._execution_engine.queue_callback: only within a backward, at the end of which it runs,
 * as those do that it queues itself; the first gradient still lives. `data` is borrowed. */
typedef void (*SsCallback) (SsTape *t, gpointer data);
void ss_queue_callback (SsTape *t, SsCallback callback, gpointer data);

/* ---- forward ---- */

/* A module's forward: `in` belong to the caller. (transfer floating) */
typedef SsValue *(*SsForward) (SsTape *t, gconstpointer self, SsValue *const *in);

#define SS_MAX_FORWARD_INPUTS 8
#define SS_EVERY_MODULE G_MAXUINT32

/* register_forward_pre_hook: may put others in place of in[], whose references it hands over. */
typedef void (*SsForwardPreHook) (SsTape *t, guint n_in, SsValue **in, gpointer data);
/* register_forward_hook: may return another output (transfer full), or NULL. */
typedef SsValue *(*SsForwardHook) (SsTape *t, guint n_in, SsValue *const *in, SsValue *out,
                                   gpointer data);
/* On the module of that id (ss_tape_module), or on SS_EVERY_MODULE; while they run, the tape's
 * module is the one that is called. Recomputation calls it again. `data` outlives the tape. */
void ss_hook_forward_before (SsTape *t, guint32 module_id, SsForwardPreHook hook, gpointer data);
void ss_hook_forward_after (SsTape *t, guint32 module_id, SsForwardHook hook, gpointer data);
/* module (*in), within its SS_MODULE or SS_LAYER. (transfer floating) */
SsValue *ss_module_call (SsTape *t, SsForward forward, gconstpointer self, guint n_in,
                         SsValue *const *in);

G_END_DECLS
