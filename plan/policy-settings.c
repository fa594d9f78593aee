/* SPDX-License-Identifier: MIT
 *
 * What the settings of a policy come to.
 */
#include "plan/policy.h"

/* products with a weight (JAX calls it dots_with_no_batch_dims_saveable): scores, of s^2, are
 * not among them */
static const SsKeptOps matmul = {
  "matmul", "products with weights",
  (const char *const[]) { "aten::mm", "aten::addmm", NULL },
};
static const SsKeptOps attention = {
  "attention", "outputs of fused attention",
  (const char *const[]) { "aten::_scaled_dot_product_flash_attention",
                          "flash_attn_3::fwd",
                          "aten::_scaled_dot_product_efficient_attention", "paper::attention",
                          NULL },
};

const SsKeptOps *const *
ss_kept_ops (void)
{
  static const SsKeptOps *const all[] = { &attention, &matmul, NULL };

  return all;
}

const char *
ss_drop_name (guint i)
{
  static const char *const names[SS_N_DROPS] = { "attention", "norms", "activations", "mlp" };

  g_return_val_if_fail (i < SS_N_DROPS, NULL);
  return names[i];
}

GArray *
ss_checkpointing_plan (const SsCheckpointing *self, guint n_layers)
{
  GArray *ranges = g_array_new (FALSE, FALSE, sizeof (SsLayerRange));

  self->policy->plan (self, n_layers, ranges);
  return ranges;
}

guint
ss_checkpointing_drops (const SsCheckpointing *self)
{
  return self->policy->is_selective && !self->keep ? self->drop : 0;
}

const SsKeptOps *
ss_checkpointing_keeps (const SsCheckpointing *self)
{
  return self->policy->is_selective ? self->keep : NULL;
}

/* ---- in words ---- */

static void
append_drops (GString *text, guint drop)
{
  g_string_append (text, " drop");
  for (guint i = 0; i < SS_N_DROPS; i++)
    if (drop & 1u << i)
      g_string_append_printf (text, " %s", ss_drop_name (i));
}

static void
append_ranges (GString *text, const SsCheckpointing *self)
{
  for (guint i = 0; i < self->n_ranges; i++)
    {
      const SsLayerRange *range = &self->ranges[i];

      if (!range->is_checkpointed || range->depth > 0)
        continue;
      g_string_append_printf (text, " %u", range->first);
      if (range->last > range->first)
        g_string_append_printf (text, "-%u", range->last);
    }
}

char *
ss_checkpointing_text (const SsCheckpointing *self)
{
  GString *text = g_string_new (self->policy->name);
  const SsCheckpointPolicy *policy = self->policy;

  if (ss_checkpoint_policy_reads (policy, "every"))
    g_string_append_printf (text, " %u%s", self->every, self->keeps_last ? " lastfree" : "");
  if (ss_checkpoint_policy_reads (policy, "layers"))
    g_string_append_printf (text, " %s %u", self->is_block_last ? "last" : "first",
                            self->n_block_layers);
  if (ss_checkpoint_policy_reads (policy, "budget") && self->budget_bytes > 0)
    g_string_append_printf (text, " %" G_GUINT64_FORMAT " B", self->budget_bytes);
  for (guint i = 0; ss_checkpoint_policy_reads (policy, "levels") && i < self->n_levels; i++)
    g_string_append_printf (text, " %u", self->levels[i]);
  if (policy->is_selective && self->keep)
    g_string_append_printf (text, " keep %s", self->keep->name);
  else if (policy->is_selective)
    append_drops (text, self->drop);
  if (ss_checkpoint_policy_reads (policy, "segments"))
    {
      if (self->n_ranges > 0)
        append_ranges (text, self);
      else
        g_string_append_printf (text, " %u", self->n_segments);
    }
  if (self->is_reentrant && !g_str_equal (policy->name, "none"))
    g_string_append (text, " reentrant");
  return g_string_free (text, FALSE);
}
