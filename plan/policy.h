/* SPDX-License-Identifier: MIT
 *
 * SsCheckpointPolicy: which segments of the layers, and what within them, is checkpointed.
 * Static const structs; they know a number of layers, no model.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* One entry of a plan.  A checkpointed range may be cut into ranges of its own, which hold while it
 * is recomputed: they follow it, one deeper, and cover it. */
typedef struct
{
  guint first, last;             /* layers from 0, both included */
  gboolean is_checkpointed;
  guint depth;                   /* 0: in the first forward */
} SsLayerRange;

/* Parts of a layer that policy="selective" drops and computes again, in the order of `drop`. */
typedef enum
{
  SS_DROP_ATTENTION = 1 << 0,    /* what is within the attention core */
  SS_DROP_NORMS = 1 << 1,        /* the norms' outputs */
  SS_DROP_ACTIVATIONS = 1 << 2,  /* the activation function's output and what is within it */
  SS_DROP_MLP = 1 << 3           /* what is within the MLP */
} SsDrop;
#define SS_N_DROPS 4

/* Ops whose results a selective checkpoint keeps, by the names that a profiler shows. */
typedef struct
{
  const char *name;              /* "matmul" */
  const char *description;
  const char *const *ops;        /* NULL-terminated */
} SsKeptOps;

#define SS_MAX_LEVELS 8

typedef struct _SsCheckpointPolicy SsCheckpointPolicy;

/* Plain data; a policy reads what its `settings` name, and the first four. */
typedef struct
{
  const SsCheckpointPolicy *policy;
  gboolean is_reentrant;
  gboolean has_early_stop;
  gboolean skips_last_inner_forward;   /* early stop of a segment that is cut into segments */
  guint every;                   /* layers of a segment */
  gboolean keeps_last;           /* every: the last segment is not checkpointed */
  guint n_segments;              /* sequential */
  guint n_block_layers;          /* block */
  gboolean is_block_last;        /* ... at the end of the stack */
  const SsKeptOps *keep;         /* selective; NULL: nothing, then `drop` counts */
  guint drop;                    /* selective: SsDrop, or-ed */
  guint levels[SS_MAX_LEVELS];   /* nested: layers of a segment, outermost first */
  guint n_levels;
  const SsLayerRange *ranges;    /* custom, optimal: in order, gaps are kept; borrowed */
  guint n_ranges;
  guint64 budget_bytes;          /* optimal: the most that may be allocated; 0: no such limit */
} SsCheckpointing;

struct _SsCheckpointPolicy
{
  const char *name;              /* "full" */
  const char *description;
  /* names of the settings it reads, NULL-terminated; NULL: none.  The first must be given if
   * `needs_setting`. */
  const char *const *settings;
  gboolean needs_setting;
  gboolean is_selective;         /* reads `keep` and `drop` */
  gboolean is_searched;          /* its `ranges` are found by many runs before it can be traced */
  /* required: appends ranges that cover layers 0 .. n_layers - 1 in order */
  void (*plan) (const SsCheckpointing *settings, guint n_layers, GArray *ranges);
  /* optional: can `plan` be called? FALSE: *setting names the culprit, *problem (transfer full)
   * is one clause */
  gboolean (*check) (const SsCheckpointing *settings, guint n_layers, const char **setting,
                     char **problem);
};

/* NULL-terminated list. */
const SsCheckpointPolicy *const *ss_checkpoint_policies (void);
const SsCheckpointPolicy *ss_checkpoint_policy_find (const char *name);
gboolean ss_checkpoint_policy_reads (const SsCheckpointPolicy *self, const char *setting);

/* SsLayerRange of all layers.  The settings must pass the policy's check. (transfer full) */
GArray *ss_checkpointing_plan (const SsCheckpointing *self, guint n_layers);
/* SsDrop, or-ed: parts that are checkpointed by themselves. */
guint ss_checkpointing_drops (const SsCheckpointing *self);
/* Ops whose results each checkpoint keeps, or NULL. */
const SsKeptOps *ss_checkpointing_keeps (const SsCheckpointing *self);
/* Its ranges are still to be searched for. */
gboolean ss_checkpointing_needs_search (const SsCheckpointing *self);
/* "every 4 layers", "layers 0-3 4-7": for reports. (transfer full) */
char *ss_checkpointing_text (const SsCheckpointing *self);

/* NULL-terminated list. */
const SsKeptOps *const *ss_kept_ops (void);
/* "attention", "norms" ...: drop number i, 1 << i of SsDrop. */
const char *ss_drop_name (guint i);

G_END_DECLS
