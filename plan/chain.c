/* SPDX-License-Identifier: MIT */
#include "plan/chain.h"

#include "memory/tensor.h"

G_DEFINE_QUARK (ss-chain-error-quark, ss_chain_error)

SsChain *
ss_chain_new (const char *name, guint n_stages)
{
  SsChain *self = g_new0 (SsChain, 1);

  self->name = g_strdup (name);
  self->n_stages = n_stages;
  self->first_layer = 1;
  self->last_layer = n_stages > 1 ? n_stages - 1 : n_stages;
  self->boundary_bytes = g_new0 (guint64, (gsize) n_stages + 1);
  self->gradient_bytes = g_new0 (guint64, (gsize) n_stages + 1);
  self->stages = g_new0 (SsChainStage, (gsize) n_stages + 1);
  return self;
}

SsChain *
ss_chain_new_homogeneous (const char *name, guint n_layers, guint64 boundary_bytes,
                          guint64 saved_bytes)
{
  SsChain *self = ss_chain_new (name, n_layers + 1);

  for (guint i = 0; i <= n_layers; i++)
    {
      self->boundary_bytes[i] = self->gradient_bytes[i] = boundary_bytes;
      if (i > 0)
        self->stages[i] = (SsChainStage) { .saved_bytes = saved_bytes, .forward_time = 1,
                                           .recompute_time = 1, .backward_time = 2 };
    }
  return self;
}

void
ss_chain_free (SsChain *self)
{
  if (self == NULL)
    return;
  g_free (self->name);
  g_free (self->boundary_bytes);
  g_free (self->gradient_bytes);
  g_free (self->stages);
  g_free (self);
}

/* Three times every tensor and every transient: more is never resident at once, for a tensor has at
 * most three instances, those that kept sets of two stages hold and a later one. */
static guint64
most_bytes (const SsChain *self)
{
  guint64 sum = 0;

  for (guint i = 0; i <= self->n_stages; i++)
    {
      const SsChainStage *stage = &self->stages[i];

      sum = ss_size_add (sum, ss_size_add (self->boundary_bytes[i], self->gradient_bytes[i]));
      sum = ss_size_add (sum, stage->saved_bytes);
      sum = ss_size_add (sum, ss_size_add (stage->forward_bytes, stage->backward_bytes));
    }
  return ss_size_mul (3, sum);
}

/* Every stage run forward n times: more no schedule of use does. */
static guint64
most_time (const SsChain *self)
{
  guint64 forward = 0, backward = 0;

  for (guint i = 1; i <= self->n_stages; i++)
    {
      const SsChainStage *stage = &self->stages[i];

      forward = ss_size_add (forward, MAX (stage->forward_time, stage->recompute_time));
      backward = ss_size_add (backward, stage->backward_time);
    }
  return ss_size_add (ss_size_mul (forward, self->n_stages), backward);
}

static gboolean
refuse (GError **error, const char *message)
{
  g_set_error_literal (error, SS_CHAIN_ERROR, SS_CHAIN_ERROR_MODEL, message);
  return FALSE;
}

gboolean
ss_chain_check (const SsChain *self, GError **error)
{
  guint n = self->n_stages;

  if (n < 1 || n > SS_CHAIN_MAX_STAGES)
    {
      g_set_error (error, SS_CHAIN_ERROR, SS_CHAIN_ERROR_MODEL,
                   "a chain of %u stages; 1 to %d are possible", n, SS_CHAIN_MAX_STAGES);
      return FALSE;
    }
  if (self->first_layer < 1 || self->first_layer > self->last_layer || self->last_layer > n)
    {
      g_set_error (error, SS_CHAIN_ERROR, SS_CHAIN_ERROR_MODEL,
                   "layers %u to %u are no range of stages 1 to %u", self->first_layer,
                   self->last_layer, n);
      return FALSE;
    }
  if (self->gradient_bytes[n] != 0)
    return refuse (error, "the gradient of the last stage's output has a size; backward begins "
                          "with that stage, so it must be 0");
  if (most_bytes (self) == SS_SIZE_OVERFLOW)
    return refuse (error, "the sizes are so large that a sum of them may not fit into 63 bits");
  if (most_time (self) == SS_SIZE_OVERFLOW)
    return refuse (error, "the times are so large that a sum of them may not fit into 63 bits");
  return TRUE;
}

guint
ss_chain_n_layers (const SsChain *self)
{
  return self->last_layer - self->first_layer + 1;
}

gboolean
ss_chain_has_uniform_boundary (const SsChain *self)
{
  for (guint i = 2; i < self->n_stages; i++)
    if (self->boundary_bytes[i] != self->boundary_bytes[1]
        || self->gradient_bytes[i] != self->gradient_bytes[1])
      return FALSE;
  return TRUE;
}
