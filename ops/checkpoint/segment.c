/* SPDX-License-Identifier: MIT
 *
 * torch.utils.checkpoint, both ways.  Non-reentrant: nodes of the segment are made, but what they
 * would save is packed as a number; the first one that unpacks runs the segment again, up to the
 * last value that was packed.  Reentrant: no nodes but one, whose backward runs the segment again
 * and a backward of its own.
 */
#include "ops/checkpoint/segment.h"

#include "ops/core/autograd.h"
#include "ops/checkpoint/frame-private.h"

/* ---- life ---- */

SsFrame *
ss_frame_new (SsTape *t, const SsCheckpointCall *call, guint n_in, SsValue *const *in, guint first)
{
  SsFrame *self = g_new0 (SsFrame, 1);

  g_assert (n_in <= SS_MAX_SEGMENT_INPUTS && call->n_carriers <= SS_MAX_CARRIERS);
  self->ref_count = 1;
  self->call = *call;
  if (call->self_bytes > 0)
    self->call.self = self->own_self = g_memdup2 (call->self, call->self_bytes);
  self->module_id = t->context.module_id;
  self->has_autocast = t->context.casts != NULL;
  self->autocast_dtype = t->context.lower_dtype;
  self->n_in = n_in;
  for (guint i = first; i < n_in; i++)
    self->in[i] = in[i] ? ss_value_ref (in[i]) : NULL;
  return self;
}

static void
unref_values (SsValue **values, guint n)
{
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&values[i], ss_value_unref);
}

static void
unref_rest (GPtrArray *values)
{
  if (!values)
    return;
  for (guint i = 0; i < values->len; i++)
    if (values->pdata[i])
      ss_value_unref (values->pdata[i]);
  g_ptr_array_unref (values);
}

void
ss_frame_unref (SsFrame *self)
{
  if (--self->ref_count > 0)
    return;
  unref_values (self->in, self->n_in);
  for (guint i = 0; i < self->call.n_carriers; i++)
    g_clear_pointer (&self->packed[i].frame, ss_frame_unref);
  unref_rest (self->recomputed);
  unref_rest (self->kept);
  g_clear_pointer (&self->again, ss_value_unref);
  unref_values (self->again_in, self->n_in);
  g_clear_pointer (&self->output, ss_value_unref);
  g_free (self->own_self);
  g_free (self);
}

void
ss_frame_each (const SsFrame *self, SsFrameVisit visit, gpointer data)
{
  const GPtrArray *lists[] = { self->recomputed, self->kept };

  for (guint i = 0; i < self->n_in; i++)
    {
      visit (self->in[i], data);
      visit (self->again_in[i], data);
    }
  for (guint i = 0; i < self->call.n_carriers; i++)
    if (self->packed[i].frame)
      ss_frame_each (self->packed[i].frame, visit, data);
  for (guint k = 0; k < G_N_ELEMENTS (lists); k++)
    for (guint i = 0; lists[k] && i < lists[k]->len; i++)
      visit (lists[k]->pdata[i], data);
  visit (self->again, data);
  visit (self->output, data);
}

/* ---- running it again ---- */

SsValue *
ss_frame_run_again (SsTape *t, SsFrame *self, SsHook hook, SsValue *const *in)
{
  SsContext outer = t->context;
  SsValue *out;

  t->context.is_grad_enabled = TRUE;
  t->context.in_recompute = TRUE;
  t->context.hook = (guint8) hook;
  t->context.frame = hook == SS_HOOK_NONE ? NULL : self;
  t->context.module_id = self->module_id;
  t->context.casts = NULL;
  if (self->has_autocast)
    ss_autocast_begin (t, (SsDtype) self->autocast_dtype);
  out = ss_keep (self->call.run (t, self->call.self, in));
  ss_autocast_end (t);
  t->context = outer;
  t->is_stopped = t->error != NULL;
  return out;
}

void
ss_frame_detach_inputs (SsTape *t, const SsFrame *self, SsValue *const *in, SsValue **x)
{
  for (guint i = 0; i < self->n_in; i++)
    {
      if (i >= self->call.n_carriers || !in[i])
        {
          x[i] = in[i] ? ss_value_ref (in[i]) : NULL;
          continue;
        }
      x[i] = ss_detach (t, in[i]);
      if (ss_value_requires_grad (in[i]))
        ss_require_grad (x[i]);
    }
}

void
ss_frame_backward (SsTape *t, const SsFrame *self, SsValue **y, SsValue *gradient, SsValue **x,
                   SsValue **out)
{
  ss_backward (t, *y, gradient);
  for (guint i = 0; i < self->call.n_carriers; i++)
    {
      if (!x[i]->leaf)
        continue;
      /* of a trace that failed within the segment, something without storage */
      out[i] = x[i]->leaf->grad || !t->error ? g_steal_pointer (&x[i]->leaf->grad)
                                             : ss_value_new (t, &x[i]->tensor, NULL);
      if (out[i])
        out[i]->is_floating = TRUE;
    }
  ss_name_release (g_steal_pointer (y));
  unref_values (x, self->n_in);
}

/* ---- non-reentrant ---- */

gboolean
ss_frame_pack (SsTape *t, SsValue *value, SsSaved *saved)
{
  SsFrame *frame = t->context.frame;

  if (t->context.hook == SS_HOOK_PACK)
    {
      saved->frame = frame;
      saved->index = frame->n_packed++;
      frame->ref_count++;
      return TRUE;
    }
  ss_value_claim (value, SS_CATEGORY_ACTIVATIONS);
  g_ptr_array_add (frame->recomputed, ss_value_ref (value));
  return !frame->call.has_early_stop || frame->recomputed->len < frame->n_packed;
}

static void
recompute (SsTape *t, SsFrame *self)
{
  SsValue *in[SS_MAX_SEGMENT_INPUTS] = { NULL }, *out;

  self->is_recomputed = TRUE;
  self->recomputed = g_ptr_array_new ();
  for (guint i = 0; i < self->n_in; i++)
    if (i < self->call.n_carriers && self->packed[i].frame)
      in[i] = ss_frame_unpack (t, self->packed[i].frame, self->packed[i].index);
    else
      in[i] = self->in[i] ? ss_value_ref (self->in[i]) : NULL;
  out = ss_frame_run_again (t, self, SS_HOOK_RECOMPUTE, in);
  /* a recomputation that failed part-way leaves holes; its values have no storage */
  while (self->recomputed->len < self->n_packed)
    g_ptr_array_add (self->recomputed, ss_value_ref (in[0]));
  ss_name_release (out);
  unref_values (in, self->n_in);
}

SsValue *
ss_frame_unpack (SsTape *t, SsFrame *self, guint32 index)
{
  if (!self->is_recomputed)
    recompute (t, self);
  return g_steal_pointer (&self->recomputed->pdata[index]);
}

/* The checkpoint around this one packs what Python's _NoopSaveInputs saves. */
static void
pack_carriers (SsTape *t, SsFrame *frame, SsValue *const *in)
{
  for (guint i = 0; i < frame->call.n_carriers && !t->is_stopped; i++)
    if (in[i] && !ss_frame_pack (t, in[i], &frame->packed[i]))
      t->is_stopped = TRUE;
}

static SsValue *
run_packing (SsTape *t, SsFrame *frame, SsValue *const *in)
{
  SsContext outer = t->context;
  SsValue *out;

  t->context.hook = SS_HOOK_PACK;
  t->context.frame = frame;
  out = frame->call.run (t, frame->call.self, in);
  t->context = outer;
  return out;
}

/* ---- reentrant ---- */

static void
checkpoint_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  SsFrame *frame = n->segment;
  SsValue *in[SS_MAX_SEGMENT_INPUTS] = { NULL }, *x[SS_MAX_SEGMENT_INPUTS] = { NULL };
  SsValue *y;

  for (guint i = 0; i < frame->n_in; i++)
    in[i] = i < n->n_saved ? ss_node_saved (n, i) : frame->in[i];
  ss_frame_detach_inputs (t, frame, in, x);
  y = ss_frame_run_again (t, frame, SS_HOOK_NONE, x);
  ss_frame_backward (t, frame, &y, grad[0], x, out);
}

static const SsOpKind checkpoint = {
  .name = "CheckpointFunction", .node_name = "CheckpointFunctionBackward",
  .backward = checkpoint_backward,
};

static gboolean
any_requires_grad (guint n, SsValue *const *values)
{
  for (guint i = 0; i < n; i++)
    if (values[i] && ss_value_requires_grad (values[i]))
      return TRUE;
  return FALSE;
}

SsNode *
ss_frame_run_without_grad (SsTape *t, SsFrame *self, const SsOpKind *kind, guint n_saved,
                           SsValue *const *in, SsValue **out)
{
  const SsCheckpointCall *call = &self->call;
  SsModuleScope scope = { t, t->context.module_id };
  gboolean was_enabled = ss_tape_set_grad_enabled (t, FALSE);
  SsNode *n;

  *out = call->run (t, call->self, in);
  ss_tape_set_grad_enabled (t, was_enabled);
  if (!was_enabled || !any_requires_grad (call->n_carriers, in) || t->is_stopped)
    {
      ss_frame_unref (self);
      return NULL;
    }
  if (call->layers)
    scope = ss_module_enter (t, call->layers, call->layer);
  n = ss_node_attach (t, kind, call->n_carriers, in, n_saved, *out);
  ss_module_leave (&scope);
  n->segment = self;
  for (guint i = 0; i < call->n_carriers; i++)
    ss_value_claim (in[i], SS_CATEGORY_ACTIVATIONS);
  return n;
}

static guint
n_by_position (const SsCheckpointCall *call)
{
  return MAX (call->n_by_position, call->n_carriers);
}

static SsValue *
run_reentrant (SsTape *t, SsFrame *frame, SsValue *const *in)
{
  SsValue *out;
  SsNode *n
    = ss_frame_run_without_grad (t, frame, &checkpoint, n_by_position (&frame->call), in, &out);

  for (guint i = 0; n && i < n->n_saved; i++)
    if (in[i])
      {
        n->saved[i].value = ss_value_ref (in[i]);
        ss_value_claim (in[i], SS_CATEGORY_ACTIVATIONS);
      }
  return out;
}

SsValue *
ss_checkpoint (SsTape *t, const SsCheckpointCall *call, guint n_in, SsValue *const *in)
{
  gboolean is_packed = t->context.hook != SS_HOOK_NONE;
  /* held by the node, or carriers by the checkpoint around this one */
  guint first = call->is_reentrant ? n_by_position (call) : is_packed ? call->n_carriers : 0;
  SsFrame *frame = ss_frame_new (t, call, n_in, in, first);
  SsValue *out;

  if (call->is_reentrant)
    return run_reentrant (t, frame, in);
  if (call->keep)
    frame->kept = g_ptr_array_new ();
  if (is_packed)
    pack_carriers (t, frame, in);
  out = run_packing (t, frame, in);
  ss_frame_unref (frame);
  return out;
}

/* ---- results of ops that are kept ---- */

static gboolean
keeps (const SsTape *t, SsHook hook, const SsOpKind *kind)
{
  return t->context.frame && t->context.hook == hook && t->context.frame->call.keep
         && g_strv_contains (t->context.frame->call.keep->ops, kind->name);
}

gboolean
ss_frame_take_kept (SsCall *c)
{
  SsTape *t = c->tape;

  if (!keeps (t, SS_HOOK_RECOMPUTE, c->kind))
    return FALSE;
  for (guint i = 0; i < c->n_out; i++)
    {
      SsFrame *frame = t->context.frame;
      SsValue *value = g_steal_pointer (&frame->kept->pdata[frame->n_taken++]);

      c->result[i] = ss_storage_ref (value->storage);
      ss_value_unref (value);
    }
  return TRUE;
}

void
ss_frame_keep (SsCall *c, SsValue *const *results)
{
  if (!keeps (c->tape, SS_HOOK_PACK, c->kind) || c->tape->is_stopped)
    return;
  for (guint i = 0; i < c->n_out; i++)
    {
      g_ptr_array_add (c->tape->context.frame->kept, ss_detach (c->tape, results[i]));
      ss_value_claim (results[i], SS_CATEGORY_ACTIVATIONS);
    }
}
