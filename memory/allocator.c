/* SPDX-License-Identifier: MIT */
#include "memory/allocator.h"

#include "memory/allocator-caching.h"
#include "memory/allocator-exact.h"

G_DEFINE_QUARK (ss-allocator-error-quark, ss_allocator_error)

const SsAllocatorClass *const *
ss_allocator_classes (void)
{
  static const SsAllocatorClass *const classes[] = {
    &ss_allocator_caching,
    &ss_allocator_exact,
    NULL,
  };

  return classes;
}

const SsAllocatorClass *
ss_allocator_class_find (const char *name, GError **error)
{
  const SsAllocatorClass *const *classes = ss_allocator_classes ();
  g_autoptr (GString) known = g_string_new (NULL);

  g_return_val_if_fail (name != NULL, NULL);
  for (guint i = 0; classes[i]; i++)
    {
      if (g_str_equal (classes[i]->name, name))
        return classes[i];
      g_string_append_printf (known, "%s%s", i ? ", " : "", classes[i]->name);
    }
  g_set_error (error, SS_ALLOCATOR_ERROR, SS_ALLOCATOR_ERROR_UNKNOWN,
               "unknown allocator '%s'; known: %s", name, known->str);
  return NULL;
}

SsAllocator *
ss_allocator_new (const SsAllocatorClass    *klass,
                  const SsAllocatorSettings *settings,
                  GError                   **error)
{
  SsAllocator *self;

  g_return_val_if_fail (klass != NULL && settings != NULL, NULL);
  /* written so that NaN is refused as well */
  if (!(settings->memory_fraction >= 0 && settings->memory_fraction <= 1))
    {
      g_set_error (error, SS_ALLOCATOR_ERROR, SS_ALLOCATOR_ERROR_CONF,
                   "memory fraction %g is not a number from 0 to 1", settings->memory_fraction);
      return NULL;
    }
  self = klass->create (settings, error);
  if (self)
    self->klass = klass;
  return self;
}

void
ss_allocator_free (SsAllocator *self)
{
  if (self)
    self->klass->destroy (self);
}

SsBlock *
ss_allocator_allocate (SsAllocator *self, guint64 bytes, guint stream, SsOomReport *report)
{
  g_return_val_if_fail (self != NULL && report != NULL, NULL);
  return self->klass->allocate (self, bytes, stream, report);
}

void
ss_allocator_release (SsAllocator *self, SsBlock *block)
{
  g_return_if_fail (self != NULL && block != NULL);
  self->klass->release (self, block);
}

void
ss_allocator_record_stream (SsAllocator *self, SsBlock *block, guint stream)
{
  g_return_if_fail (self != NULL && block != NULL);
  self->klass->record_stream (self, block, stream);
}

void
ss_allocator_synchronize (SsAllocator *self)
{
  g_return_if_fail (self != NULL);
  self->klass->synchronize (self);
}

void
ss_allocator_empty_cache (SsAllocator *self)
{
  g_return_if_fail (self != NULL);
  self->klass->empty_cache (self);
}

const SsAllocatorStats *
ss_allocator_stats (const SsAllocator *self)
{
  g_return_val_if_fail (self != NULL, NULL);
  return &self->stats;
}

void
ss_allocator_observe (SsAllocator *self, SsSegmentFunc func, gpointer user_data)
{
  g_return_if_fail (self != NULL);
  self->observe = func;
  self->observe_data = user_data;
}

void
ss_allocator_set_clock (SsAllocator *self, const SsAllocatorClock *clock, gpointer user_data)
{
  g_return_if_fail (self != NULL);
  self->clock = clock;
  self->clock_data = user_data;
}
