/* SPDX-License-Identifier: MIT */
#include "plan/policy.h"

#define SETTINGS(...) (const char *const[]) { __VA_ARGS__, NULL }

static void
add_range (GArray *ranges, guint first, guint n, gboolean is_checkpointed, guint depth)
{
  SsLayerRange range = { first, first + n - 1, is_checkpointed, depth };

  if (n > 0)
    g_array_append_val (ranges, range);
}

/* Segments of `length` layers, the last one may be short. */
static void
add_segments (GArray *ranges, guint first, guint n, guint length, guint depth)
{
  for (guint i = 0; i < n; i += MIN (length, n - i))
    add_range (ranges, first + i, MIN (length, n - i), TRUE, depth);
}

/* ---- the same for every layer ---- */

static void
plan_none (const SsCheckpointing *settings G_GNUC_UNUSED, guint n_layers, GArray *ranges)
{
  add_range (ranges, 0, n_layers, FALSE, 0);
}

static void
plan_full (const SsCheckpointing *settings G_GNUC_UNUSED, guint n_layers, GArray *ranges)
{
  add_segments (ranges, 0, n_layers, 1, 0);
}

/* ---- every k ---- */

static void
plan_every (const SsCheckpointing *settings, guint n_layers, GArray *ranges)
{
  add_segments (ranges, 0, n_layers, settings->every, 0);
  if (settings->keeps_last && ranges->len > 0)
    g_array_index (ranges, SsLayerRange, ranges->len - 1).is_checkpointed = FALSE;
}

/* round (sqrt (n)), in whole numbers: k^2 + k is where the nearest root becomes k + 1 */
static void
plan_sqrt (const SsCheckpointing *settings G_GNUC_UNUSED, guint n_layers, GArray *ranges)
{
  guint k = 1;

  while ((guint64) k * k + k < n_layers)
    k++;
  add_segments (ranges, 0, n_layers, k, 0);
}

/* ---- torch.utils.checkpoint.checkpoint_sequential ---- */

/* All but the last of the segments have floor (layers / segments); the last has the rest and is not
 * checkpointed. */
static void
plan_sequential (const SsCheckpointing *settings, guint n_layers, GArray *ranges)
{
  guint length = n_layers / settings->n_segments, n = length * (settings->n_segments - 1);

  add_segments (ranges, 0, n, length, 0);
  add_range (ranges, n, n_layers - n, FALSE, 0);
}

static gboolean
check_sequential (const SsCheckpointing *settings, guint n_layers, const char **setting,
                  char **problem)
{
  if (settings->n_segments <= n_layers)
    return TRUE;
  *setting = "segments";
  *problem = g_strdup_printf ("%u of a model that has %u layers; checkpoint_sequential wants a "
                              "layer for each", settings->n_segments, n_layers);
  return FALSE;
}

/* ---- Megatron's block ---- */

static void
plan_block (const SsCheckpointing *settings, guint n_layers, GArray *ranges)
{
  guint m = settings->n_block_layers, kept = n_layers - m;

  if (settings->is_block_last)
    add_range (ranges, 0, kept, FALSE, 0);
  add_segments (ranges, settings->is_block_last ? kept : 0, m, 1, 0);
  if (!settings->is_block_last)
    add_range (ranges, m, kept, FALSE, 0);
}

static gboolean
check_block (const SsCheckpointing *settings, guint n_layers, const char **setting, char **problem)
{
  if (settings->n_block_layers <= n_layers)
    return TRUE;
  *setting = "layers";
  *problem = g_strdup_printf ("%u of a model that has %u", settings->n_block_layers, n_layers);
  return FALSE;
}

/* ---- parts of a layer ---- */

static void
plan_selective (const SsCheckpointing *settings, guint n_layers, GArray *ranges)
{
  if (settings->keep)
    plan_full (settings, n_layers, ranges);
  else
    plan_none (settings, n_layers, ranges);
}

static gboolean
check_selective (const SsCheckpointing *settings, guint n_layers G_GNUC_UNUSED,
                 const char **setting, char **problem)
{
  if (settings->keep && settings->is_reentrant)
    {
      *setting = "keep";
      *problem = g_strdup ("reentrant checkpointing takes no context_fn, which keeps results of "
                           "ops; wanted reentrant=\"no\", or drop");
      return FALSE;
    }
  if (!settings->keep && settings->drop & SS_DROP_MLP && settings->drop & SS_DROP_ACTIVATIONS)
    {
      *setting = "drop";
      *problem = g_strdup ("\"mlp\" has \"activations\" within it; wanted one of them");
      return FALSE;
    }
  return TRUE;
}

/* ---- checkpoints within checkpoints ---- */

static void
add_level (const SsCheckpointing *settings, guint level, guint first, guint n, GArray *ranges)
{
  guint length;

  if (level == settings->n_levels)
    return;
  length = settings->levels[level];
  for (guint i = 0; i < n; i += MIN (length, n - i))
    {
      add_range (ranges, first + i, MIN (length, n - i), TRUE, level);
      add_level (settings, level + 1, first + i, MIN (length, n - i), ranges);
    }
}

static void
plan_nested (const SsCheckpointing *settings, guint n_layers, GArray *ranges)
{
  add_level (settings, 0, 0, n_layers, ranges);
}

static gboolean
check_nested (const SsCheckpointing *settings, guint n_layers G_GNUC_UNUSED, const char **setting,
              char **problem)
{
  if (settings->is_reentrant && settings->skips_last_inner_forward)
    {
      *setting = "skip-last-inner-forward";
      *problem = g_strdup ("reentrant recomputation never stops early; wanted no");
      return FALSE;
    }
  for (guint i = 1; i < settings->n_levels; i++)
    if (settings->levels[i] >= settings->levels[i - 1])
      {
        *setting = "levels";
        *problem = g_strdup_printf ("segments of %u layers within segments of %u; wanted fewer "
                                    "layers at each level", settings->levels[i],
                                    settings->levels[i - 1]);
        return FALSE;
      }
  return TRUE;
}

/* ---- as given ---- */

static void
plan_custom (const SsCheckpointing *settings, guint n_layers, GArray *ranges)
{
  guint next = 0;

  for (guint i = 0; i < settings->n_ranges; i++)
    {
      SsLayerRange range = settings->ranges[i];

      if (range.depth == 0)
        {
          add_range (ranges, next, range.first - next, FALSE, 0);
          next = range.last + 1;
        }
      g_array_append_val (ranges, range);
    }
  add_range (ranges, next, n_layers - next, FALSE, 0);
}

static gboolean
check_custom (const SsCheckpointing *settings, guint n_layers, const char **setting, char **problem)
{
  guint next = 0;

  *setting = "segments";
  for (guint i = 0; i < settings->n_ranges; i++)
    {
      const SsLayerRange *range = &settings->ranges[i];

      if (range->last >= n_layers)
        {
          *problem = g_strdup_printf ("layer %u of a model that has layers 0-%u", range->last,
                                      n_layers - 1);
          return FALSE;
        }
      if (range->first < next)
        {
          *problem = g_strdup_printf ("layer %u stands after layer %u; wanted rising layers, "
                                      "each once", range->first, next - 1);
          return FALSE;
        }
      next = range->last + 1;
    }
  return TRUE;
}

/* ---- the list ---- */

static const SsCheckpointPolicy none = {
  .name = "none", .description = "keep every activation", .plan = plan_none,
};
static const SsCheckpointPolicy full = {
  .name = "full", .description = "keep each layer's input, recompute the rest", .plan = plan_full,
};
static const SsCheckpointPolicy every = {
  .name = "every", .description = "keep the input of every k-th layer (every=\"k\")",
  .settings = SETTINGS ("every", "convention"), .needs_setting = TRUE, .plan = plan_every,
};
static const SsCheckpointPolicy square_root = {
  .name = "sqrt", .description = "every k-th layer's input, k the rounded root of their number",
  .plan = plan_sqrt,
};
static const SsCheckpointPolicy sequential = {
  .name = "sequential",
  .description = "checkpoint_sequential (segments=\"g\"): all but the last of g segments",
  .settings = SETTINGS ("segments"), .needs_setting = TRUE, .plan = plan_sequential,
  .check = check_sequential,
};
static const SsCheckpointPolicy block = {
  .name = "block", .description = "each of the first or last m layers (layers=\"m\")",
  .settings = SETTINGS ("layers", "from"), .needs_setting = TRUE, .plan = plan_block,
  .check = check_block,
};
static const SsCheckpointPolicy selective = {
  .name = "selective",
  .description = "parts of each layer: the attention core, or those of drop, or all but keep",
  .settings = SETTINGS ("keep", "drop"), .is_selective = TRUE, .plan = plan_selective,
  .check = check_selective,
};
static const SsCheckpointPolicy nested = {
  .name = "nested", .description = "segments within segments (levels=\"8 2\")",
  .settings = SETTINGS ("levels", "skip-last-inner-forward"), .needs_setting = TRUE,
  .plan = plan_nested, .check = check_nested,
};
static const SsCheckpointPolicy custom = {
  .name = "custom", .description = "the segments that are listed (segments=\"0-3 4-7 save:8-31\")",
  .settings = SETTINGS ("segments"), .needs_setting = TRUE, .plan = plan_custom,
  .check = check_custom,
};
static const SsCheckpointPolicy optimal = {
  .name = "optimal", .description = "the fastest schedule that fits a budget (budget=\"40 GiB\")",
  .settings = SETTINGS ("budget"), .is_searched = TRUE, .plan = plan_custom,
};

const SsCheckpointPolicy *const *
ss_checkpoint_policies (void)
{
  static const SsCheckpointPolicy *const all[] = {
    &none, &full, &every, &square_root, &sequential, &block, &selective, &nested, &custom,
    &optimal, NULL,
  };

  return all;
}

const SsCheckpointPolicy *
ss_checkpoint_policy_find (const char *name)
{
  for (const SsCheckpointPolicy *const *p = ss_checkpoint_policies (); *p; p++)
    if (g_str_equal ((*p)->name, name))
      return *p;
  return NULL;
}

gboolean
ss_checkpointing_needs_search (const SsCheckpointing *self)
{
  return self->policy->is_searched && self->ranges == NULL;
}

gboolean
ss_checkpoint_policy_reads (const SsCheckpointPolicy *self, const char *setting)
{
  return self->settings && g_strv_contains (self->settings, setting);
}
