/* SPDX-License-Identifier: MIT
 *
 * The list of optimizers, by name and by implementation.
 */
#include "ops/optim/optimizers.h"

const char *
ss_implementation_name (SsImplementation implementation)
{
  static const char *const names[SS_N_IMPLEMENTATIONS] = {
    [SS_FOR_LOOP] = "for-loop",         [SS_FOREACH] = "foreach",
    [SS_FUSED] = "fused",               [SS_BITSANDBYTES] = "bitsandbytes",
    [SS_TORCHAO] = "torchao",           [SS_TRANSFORMERS] = "transformers",
  };

  g_return_val_if_fail (implementation < SS_N_IMPLEMENTATIONS, NULL);
  return names[implementation];
}

const SsOptimizer *const *
ss_optimizers (void)
{
  static const SsOptimizer *const all[] = {
#define SS_LIST_OPTIMIZER(word) &ss_optimizer_##word,
    SS_OPTIMIZERS (SS_LIST_OPTIMIZER)
#undef SS_LIST_OPTIMIZER
    NULL,
  };

  return all;
}

static const SsOptimizer *const more[] = {
#define SS_LIST_OPTIMIZER(word) &ss_optimizer_##word,
  SS_MORE_OPTIMIZERS (SS_LIST_OPTIMIZER)
#undef SS_LIST_OPTIMIZER
};

/* Bits of what it codes itself. */
static guint
own_implementations (const SsOptimizer *klass)
{
  guint bits = 0;

  for (guint i = 0; i < SS_N_IMPLEMENTATIONS; i++)
    bits |= klass->update[i] != NULL ? 1u << i : 0;
  return bits;
}

guint
ss_optimizer_implementations (const SsOptimizer *self)
{
  guint bits = own_implementations (self);

  for (guint i = 0; i < G_N_ELEMENTS (more); i++)
    if (g_str_equal (more[i]->name, self->name))
      bits |= own_implementations (more[i]);
  return bits;
}

guint
ss_optimizer_not_recorded (const SsOptimizer *self)
{
  guint bits = self->not_recorded;

  for (guint i = 0; i < G_N_ELEMENTS (more); i++)
    if (g_str_equal (more[i]->name, self->name))
      bits |= more[i]->not_recorded;
  return bits;
}

const SsOptimizer *
ss_optimizer_implementation (const SsOptimizer *klass, SsImplementation implementation)
{
  for (guint i = 0; i < G_N_ELEMENTS (more); i++)
    if (g_str_equal (more[i]->name, klass->name) && more[i]->update[implementation] != NULL)
      return more[i];
  return klass;
}

const SsOptimizer *
ss_optimizer_find (const char *name)
{
  for (const SsOptimizer *const *o = ss_optimizers (); *o; o++)
    if (g_str_equal ((*o)->name, name))
      return *o;
  return NULL;
}
