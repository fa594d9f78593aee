/* SPDX-License-Identifier: MIT */
#include "plan/chain-policies.h"

/* ---- the list ---- */

static void
set_none (SsCheckpointing *settings G_GNUC_UNUSED, guint param G_GNUC_UNUSED)
{
}

static void
set_every_all (SsCheckpointing *settings, guint spacing)
{
  settings->every = spacing;
}

static void
set_every_last_free (SsCheckpointing *settings, guint spacing)
{
  settings->every = spacing;
  settings->keeps_last = TRUE;
}

static void
set_sequential (SsCheckpointing *settings, guint n_segments)
{
  settings->n_segments = n_segments;
}

static void
set_block_first (SsCheckpointing *settings, guint n_layers)
{
  settings->n_block_layers = n_layers;
}

static void
set_block_last (SsCheckpointing *settings, guint n_layers)
{
  settings->n_block_layers = n_layers;
  settings->is_block_last = TRUE;
}

static const SsChainPolicy none = { "none", 0, FALSE, "none", set_none };
static const SsChainPolicy every_all = { "every_k_all", 1, TRUE, "every", set_every_all };
static const SsChainPolicy every_last_free
    = { "every_k_lastfree", 1, TRUE, "every", set_every_last_free };
static const SsChainPolicy sequential
    = { "torch_sequential", 1, TRUE, "sequential", set_sequential };
static const SsChainPolicy block_first = { "block_first", 0, TRUE, "block", set_block_first };
static const SsChainPolicy block_last = { "block_last", 0, TRUE, "block", set_block_last };

const SsChainPolicy *const *
ss_chain_policies (void)
{
  static const SsChainPolicy *const all[] = {
    &none, &every_all, &every_last_free, &sequential, &block_first, &block_last, NULL,
  };

  return all;
}

const SsChainPolicy *
ss_chain_policy_find (const char *name)
{
  for (const SsChainPolicy *const *policy = ss_chain_policies (); *policy != NULL; policy++)
    if (g_str_equal ((*policy)->name, name))
      return *policy;
  return NULL;
}

guint
ss_chain_policy_max_param (const SsChainPolicy *self, guint n_layers)
{
  return self->has_param ? n_layers : self->min_param;
}

guint
ss_chain_sqrt_spacing (guint n_layers, SsSqrt rounding)
{
  guint root = 0;

  while ((root + 1) * (root + 1) <= n_layers)
    root++;
  switch (rounding)
    {
    case SS_SQRT_FLOOR:
      break;
    case SS_SQRT_ROUND:
      /* the square of root + 1/2 is root^2 + root + 1/4 */
      root += n_layers > root * root + root;
      break;
    case SS_SQRT_CEIL:
      root += n_layers > root * root;
      break;
    }
  return MAX (root, 1);
}

/* ---- what a plan means ---- */

typedef struct
{
  SsChainSchedule *schedule;
  const GArray *ranges;          /* SsLayerRange */
  gboolean skips_last;
  guint first_stage;             /* of layer 0 */
} Sweep;

static const SsLayerRange *
range_of (const Sweep *self, guint i)
{
  return &g_array_index (self->ranges, SsLayerRange, i);
}

/* The next range that is not within range i. */
static guint
range_after (const Sweep *self, guint i)
{
  guint next = i + 1;

  while (next < self->ranges->len && range_of (self, next)->depth > range_of (self, i)->depth)
    next++;
  return next;
}

static void run_back (const Sweep *self, guint begin, guint end);

/* Again, of a checkpointed range whose input is there, with its backward. */
static void
run_again (const Sweep *self, guint i)
{
  const SsLayerRange *range = range_of (self, i);
  guint first = self->first_stage + range->first, last = self->first_stage + range->last;
  guint end = range_after (self, i), last_part = i + 1;

  if (end == i + 1)
    {
      ss_chain_schedule_add_up (self->schedule, SS_CHAIN_SAVE, first, last);
      ss_chain_schedule_add_backward (self->schedule, first, last);
      return;
    }
  while (range_after (self, last_part) < end)
    last_part = range_after (self, last_part);
  if (self->skips_last)
    last = self->first_stage + range_of (self, last_part)->first - 1;
  ss_chain_schedule_add_up (self->schedule, SS_CHAIN_FORWARD, first, last);
  run_back (self, i + 1, end);
}

/* Ranges begin .. end - 1, of one depth but for what is within them, from the last to the first. */
static void
run_back (const Sweep *self, guint begin, guint end)
{
  guint depth = begin < end ? range_of (self, begin)->depth : 0;

  for (guint i = end; i-- > begin;)
    {
      const SsLayerRange *range = range_of (self, i);

      if (range->depth > depth)
        continue;
      if (range->is_checkpointed)
        run_again (self, i);
      else
        ss_chain_schedule_add_backward (self->schedule, self->first_stage + range->first,
                                        self->first_stage + range->last);
    }
}

SsChainSchedule *
ss_chain_schedule_of_plan (const SsChain *chain, const SsCheckpointing *settings)
{
  SsChainSchedule *schedule = ss_chain_schedule_new ();
  g_autoptr (GArray) ranges = ss_checkpointing_plan (settings, ss_chain_n_layers (chain));
  guint lo = chain->first_layer, hi = chain->last_layer;
  const Sweep sweep = { schedule, ranges, settings->skips_last_inner_forward, lo };

  ss_chain_schedule_add_up (schedule, SS_CHAIN_SAVE, 1, lo - 1);
  for (guint i = 0; i < ranges->len; i = range_after (&sweep, i))
    {
      const SsLayerRange *range = range_of (&sweep, i);

      ss_chain_schedule_add_up (schedule,
                                range->is_checkpointed ? SS_CHAIN_FORWARD : SS_CHAIN_SAVE,
                                lo + range->first, lo + range->last);
    }
  ss_chain_schedule_add_up (schedule, SS_CHAIN_SAVE, hi + 1, chain->n_stages);
  ss_chain_schedule_add_backward (schedule, hi + 1, chain->n_stages);
  run_back (&sweep, 0, ranges->len);
  ss_chain_schedule_add_backward (schedule, 1, lo - 1);
  return schedule;
}

SsChainSchedule *
ss_chain_schedule_of_policy (const SsChain *chain, const SsChainPolicy *policy, guint param)
{
  SsCheckpointing settings = { .policy = ss_checkpoint_policy_find (policy->policy) };

  policy->set (&settings, param);
  return ss_chain_schedule_of_plan (chain, &settings);
}

/* ---- the best of a policy ---- */

static gboolean
is_faster (const SsChainResult *a, const SsChainResult *b)
{
  return a->time < b->time || (a->time == b->time && a->peak_bytes < b->peak_bytes);
}

static gboolean
is_smaller (const SsChainResult *a, const SsChainResult *b)
{
  return a->peak_bytes < b->peak_bytes || (a->peak_bytes == b->peak_bytes && a->time < b->time);
}

static gboolean
choose (const SsChain *chain, const SsChainPolicy *policy, guint64 budget_bytes,
        gboolean (*is_better) (const SsChainResult *a, const SsChainResult *b),
        SsChainChoice *choice)
{
  guint last = ss_chain_policy_max_param (policy, ss_chain_n_layers (chain));
  gboolean is_found = FALSE;

  for (guint param = policy->min_param; param <= last; param++)
    {
      g_autoptr (SsChainSchedule) schedule = ss_chain_schedule_of_policy (chain, policy, param);
      SsChainResult result;

      /* what a policy plans can be run */
      if (!ss_chain_simulate (chain, schedule, SS_CHAIN_RULES_DEFAULT, NULL, &result, NULL))
        g_assert_not_reached ();
      if (result.peak_bytes > budget_bytes
          || (is_found && !is_better (&result, &choice->result)))
        continue;
      *choice = (SsChainChoice) { param, result };
      is_found = TRUE;
    }
  return is_found;
}

gboolean
ss_chain_policy_fastest (const SsChain *chain, const SsChainPolicy *policy, guint64 budget_bytes,
                         SsChainChoice *choice)
{
  return choose (chain, policy, budget_bytes, is_faster, choice);
}

void
ss_chain_policy_smallest (const SsChain *chain, const SsChainPolicy *policy,
                          SsChainChoice *choice)
{
  choose (chain, policy, G_MAXUINT64, is_smaller, choice);
}
