/* SPDX-License-Identifier: MIT
 *
 * SsSaved: what a node keeps of one value for its backward, as autograd's SavedVariable: the value
 * itself, or what the innermost saved-tensor hooks made of it (torch.autograd.graph
 * .saved_tensors_hooks). It knows no user of the hooks. Whoever has one owns what it holds.
 */
#pragma once

#include "ops/core/value.h"

G_BEGIN_DECLS

typedef void (*SsVisit) (SsValue *value, gpointer visit_data);

/* How something that a graph refers to is let go, and what it holds: what an exception reaches, and
 * what counts as saved. */
typedef struct
{
  void (*unref) (gpointer self);   /* optional: not held */
  /* optional: calls `visit` for every value it holds, some NULL */
  void (*each) (gpointer self, SsVisit visit, gpointer visit_data);
} SsHolder;

/* What a pack hook returns. */
typedef struct
{
  gpointer object;               /* or NULL */
  guint64 index;
} SsPacked;

/* Both run without gradients. */
typedef struct
{
  /* required: what is kept in place of `value`, by itself if at all; `data` as pushed */
  SsPacked (*pack) (SsTape *t, SsValue *value, gpointer data);
  /* required if a backward can come: the value again, once for each backward (transfer full) */
  SsValue *(*unpack) (SsTape *t, SsPacked packed);
  SsHolder holder;               /* of what pack returned as `object` */
} SsSavedHooks;

/* `with saved_tensors_hooks (...)`: a variable of the C scope that pushes it. */
typedef struct _SsSavedScope
{
  const SsSavedHooks *hooks;
  gpointer data;
  const struct _SsSavedScope *outer;
} SsSavedScope;

/* Only the innermost ones are called, till ss_saved_hooks_pop or until the context is restored. */
void ss_saved_hooks_push (SsTape *t, SsSavedScope *scope, const SsSavedHooks *hooks, gpointer data);
void ss_saved_hooks_pop (SsTape *t, SsSavedScope *scope);

typedef struct
{
  SsValue *value;                /* held; NULL while packed, or not wanted */
  const SsSavedHooks *hooks;     /* NULL: nothing is packed */
  SsPacked packed;
} SsSaved;

/* ctx.save_for_backward: through the hooks, or holds the value, an activation from now on. */
void ss_saved_set (SsTape *t, SsSaved *self, SsValue *value);
/* The value, unpacked if hooks packed it; NULL: none. (transfer full) */
SsValue *ss_saved_get (SsTape *t, const SsSaved *self);
void ss_saved_clear (SsSaved *self);
void ss_saved_each (const SsSaved *self, SsVisit visit, gpointer visit_data);

G_END_DECLS
