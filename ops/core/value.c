/* SPDX-License-Identifier: MIT */
#include "ops/core/value.h"

#include "ops/core/tape-private.h"

/* ---- storages ---- */

SsStorage *
ss_storage_new (SsTape *t, guint64 bytes, gboolean is_scratch)
{
  SsStorage *self;
  SsStorageInfo info = {
    .bytes = bytes,
    .op_id = t->program->ops->len,
    .module_id = t->context.module_id,
    .category = SS_CATEGORY_TEMPORARIES,
    .is_scratch = is_scratch != FALSE,
  };

  if (bytes > G_MAXINT64)
    ss_tape_fail (t, SS_OPS_ERROR_OVERFLOW, "a tensor of 2^63 bytes or more");
  if (t->is_stopped)
    return NULL;
  self = ss_slab_take (&t->storages);
  *self = (SsStorage) { .tape = t, .id = t->program->storages->len, .n_values = 1,
                        .stream = t->context.stream };
  g_array_append_val (t->program->storages, info);
  if (t->is_recording)
    ss_tape_emit (t, SS_ALLOCATE, self->stream, self->id);
  return self;
}

SsStorage *
ss_storage_ref (SsStorage *self)
{
  if (self)
    self->n_values++;
  return self;
}

void
ss_storage_unref (SsStorage *self)
{
  if (!self || --self->n_values > 0)
    return;
  if (self->tape->is_recording && !self->is_discarded)
    ss_tape_emit (self->tape, SS_RELEASE, self->stream, self->id);
  ss_slab_give (&self->tape->storages, self);
}

void
ss_storage_discard (SsStorage *self)
{
  if (!self || self->is_discarded)
    return;
  self->is_discarded = TRUE;
  if (self->tape->is_recording)
    ss_tape_emit (self->tape, SS_RELEASE, self->stream, self->id);
}

void
ss_storage_restore (SsStorage *self)
{
  const SsStorageInfo *was;
  SsStorage *fresh;

  if (!self || !self->is_discarded)
    return;
  was = ss_program_storage (self->tape->program, self->id);
  fresh = ss_storage_new (self->tape, was->bytes, FALSE);
  if (!fresh)
    return;
  self->id = fresh->id;
  self->is_discarded = FALSE;
  ss_slab_give (&self->tape->storages, fresh);
  ss_storage_claim (self, SS_CATEGORY_ACTIVATIONS);
}

void
ss_storage_claim (SsStorage *self, SsCategory category)
{
  SsStorageInfo *info;

  if (!self)
    return;
  info = &g_array_index (self->tape->program->storages, SsStorageInfo, self->id);
  info->category = MIN (info->category, (guint8) category);
}

/* ---- handles ---- */

SsValue *
ss_value_new (SsTape *t, const SsTensor *tensor, SsStorage *storage)
{
  SsValue *self = ss_slab_take (&t->values);

  *self = (SsValue) {
    .ref_count = 1, .is_floating = TRUE, .born = t->program->ops->len, .tape = t,
    .tensor = *tensor, .storage = storage, .older = t->newest_value,
  };
  if (t->newest_value)
    t->newest_value->newer = self;
  t->newest_value = self;
  return self;
}

SsValue *
ss_value_ref (SsValue *self)
{
  g_assert (self->ref_count > 0);
  self->ref_count++;
  return self;
}

static void
free_leaf (SsLeaf *leaf)
{
  g_clear_pointer (&leaf->grad, ss_value_unref);
  g_clear_pointer (&leaf->hooks, g_array_unref);
  g_free (leaf);
}

void
ss_value_unref (SsValue *self)
{
  g_assert (self->ref_count > 0);
  if (--self->ref_count > 0)
    return;
  *(self->newer ? &self->newer->older : &self->tape->newest_value) = self->older;
  if (self->older)
    self->older->newer = self->newer;
  ss_storage_unref (self->storage);
  if (self->base)
    ss_value_unref (self->base);
  if (self->node)
    ss_node_unref (self->node);
  if (self->leaf)
    free_leaf (self->leaf);
  ss_slab_give (&self->tape->values, self);
}

SsValue *
ss_value_sink (SsValue *self)
{
  if (!self->is_floating)
    return ss_value_ref (self);
  self->is_floating = FALSE;
  return self;
}

/* Names in kernels' own code and in autograd's go when an exception passes; Python's stay in
 * the traceback. */
static gboolean
is_python (const SsTape *t)
{
  const SsContext *c = &t->context;

  return c->n_native == 0 && (!c->in_backward || c->in_recompute);
}

SsValue *
ss_keep (SsValue *value)
{
  const SsTape *t = value->tape;
  const SsContext *c = &t->context;
  gboolean is_forward
    = (c->phase == SS_PHASE_FORWARD || c->phase == SS_PHASE_LOSS) && !c->in_backward;

  /* what forward code gives a name is an activation for as long as it lives */
  if (value->is_floating && (is_forward || c->in_recompute))
    ss_storage_claim (value->storage, SS_CATEGORY_ACTIVATIONS);
  if (is_python (t))
    value->n_names++;
  return ss_value_sink (value);
}

void
ss_name_release (SsValue *self)
{
  if (self->n_names > 0 && is_python (self->tape))
    self->n_names--;
  ss_value_unref (self);
}

void
ss_rebind (SsValue **name, SsValue *value)
{
  SsValue *old = *name;

  *name = value ? ss_keep (value) : NULL;
  if (old)
    ss_name_release (old);
}

SsValue *
ss_give (SsValue **name)
{
  SsValue *value = g_steal_pointer (name);

  if (value->n_names > 0 && is_python (value->tape))
    value->n_names--;
  value->is_floating = TRUE;
  return value;
}

void
ss_value_claim (SsValue *value, SsCategory category)
{
  ss_storage_claim (value->storage, category);
}

void
ss_value_name_after (SsValue *value, const SsValue *other)
{
  GArray *storages = value->tape->program->storages;

  if (value->storage && other->storage)
    g_array_index (storages, SsStorageInfo, value->storage->id).module_id
      = g_array_index (storages, SsStorageInfo, other->storage->id).module_id;
}

gint64
ss_value_size (const SsValue *value, int dim)
{
  gint n_dims = value->tensor.n_dims;

  g_assert (dim < n_dims && dim >= -n_dims);
  return value->tensor.size[dim < 0 ? dim + n_dims : dim];
}
