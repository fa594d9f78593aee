/* SPDX-License-Identifier: MIT */
#include "ops/core/saved.h"

#include "ops/core/tape-private.h"

void
ss_saved_hooks_push (SsTape *t, SsSavedScope *scope, const SsSavedHooks *hooks, gpointer data)
{
  *scope = (SsSavedScope) { hooks, data, t->context.saved_hooks };
  t->context.saved_hooks = scope;
}

void
ss_saved_hooks_pop (SsTape *t, SsSavedScope *scope)
{
  g_assert (t->context.saved_hooks == scope);
  t->context.saved_hooks = scope->outer;
}

void
ss_saved_set (SsTape *t, SsSaved *self, SsValue *value)
{
  const SsSavedScope *scope = t->context.saved_hooks;
  gboolean was_enabled;

  if (!scope)
    {
      self->value = ss_value_ref (value);
      ss_value_claim (value, SS_CATEGORY_ACTIVATIONS);
      return;
    }
  was_enabled = ss_tape_set_grad_enabled (t, FALSE);
  self->packed = scope->hooks->pack (t, value, scope->data);
  self->hooks = scope->hooks;
  ss_tape_set_grad_enabled (t, was_enabled);
}

SsValue *
ss_saved_get (SsTape *t, const SsSaved *self)
{
  SsValue *value;
  gboolean was_enabled;

  if (!self->hooks)
    return self->value ? ss_value_ref (self->value) : NULL;
  was_enabled = ss_tape_set_grad_enabled (t, FALSE);
  value = self->hooks->unpack (t, self->packed);
  ss_tape_set_grad_enabled (t, was_enabled);
  return value;
}

void
ss_saved_clear (SsSaved *self)
{
  g_clear_pointer (&self->value, ss_value_unref);
  if (self->packed.object && self->hooks->holder.unref)
    self->hooks->holder.unref (self->packed.object);
  self->hooks = NULL;
  self->packed = (SsPacked) { NULL, 0 };
}

void
ss_saved_each (const SsSaved *self, SsVisit visit, gpointer visit_data)
{
  visit (self->value, visit_data);
  if (self->packed.object && self->hooks->holder.each)
    self->hooks->holder.each (self->packed.object, visit, visit_data);
}
