/* SPDX-License-Identifier: MIT
 *
 * SsModel: an instance of a family: its parameters and its linears, in the order of the
 * constructor, and what an adapter does to them.  It knows no family's modules.
 */
#pragma once

#include "ops/families/family.h"
#include "ops/nn/linear.h"

G_BEGIN_DECLS

/* Families embed it as their first member. */
struct _SsModel
{
  const SsModelSetup *setup;
  GPtrArray *parameters;         /* SsValue, in parameters () order, frozen ones included; held */
  GPtrArray *packed;             /* SsLinear4Bit; held */
  SsValue *absmax_map;           /* which they share; held, or NULL */
  GPtrArray *linears;            /* SsLinear, parts of the family's own layers; not held */
};

void ss_model_init (SsModel *self, const SsModelSetup *setup);
void ss_model_clear (SsModel *self);

/* A parameter of the module `name`, frozen if there is an adapter. (transfer none) */
SsValue *ss_model_parameter (SsTape *t, SsModel *self, const char *name, guint n_dims,
                             const gint64 *size);
/* nn.Linear and Conv1D in the module `name`; `l` stays where it is. */
void ss_model_linear (SsTape *t, SsModel *self, SsLinear *l, const char *name, gint64 n_out,
                      gint64 n_in, gboolean has_bias);
void ss_model_conv1d (SsTape *t, SsModel *self, SsLinear *l, const char *name, gint64 n_in,
                      gint64 n_out);
/* lm_head, of the embedding's size: a tied one is made and let go, because post_init ties it to the
 * embedding. (transfer none) */
SsValue *ss_model_head (SsTape *t, SsModel *self, SsValue *embedding, gboolean is_tied);

/* peft's get_peft_model, once all modules are there: adapters of the linears that are targets, in
 * the order of the modules. */
void ss_model_adapt (SsTape *t, SsModel *self);
/* peft's enable_input_require_grads, which checkpointing of a frozen base needs: on the embeddings
 * that layers begin with. */
void ss_model_require_input_grads (const SsModel *self, SsValue *embeddings);

G_END_DECLS
