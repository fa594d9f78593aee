/* SPDX-License-Identifier: MIT
 *
 * SsCheckpointPolicy: which segments of the layers are checkpointed.
 * Static const structs; they know a number of layers, no model.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  guint first, last;             /* layers, both included */
  gboolean is_checkpointed;
} SsLayerRange;

typedef struct _SsCheckpointPolicy SsCheckpointPolicy;

typedef struct
{
  const SsCheckpointPolicy *policy;
  gboolean is_reentrant;
  gboolean has_early_stop;
} SsCheckpointing;

struct _SsCheckpointPolicy
{
  const char *name;              /* "full" */
  const char *description;
  /* required: appends ranges that cover layers 0 .. n_layers - 1 in order */
  void (*plan) (const SsCheckpointing *settings, guint n_layers, GArray *ranges);
};

/* NULL-terminated list. */
const SsCheckpointPolicy *const *ss_checkpoint_policies (void);
const SsCheckpointPolicy *ss_checkpoint_policy_find (const char *name);

G_END_DECLS
