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
  self->module_id = ss_tape_module (t);
  self->has_autocast = ss_autocast_is_on (t) != FALSE;
  self->autocast_dtype = (guint8) ss_autocast_dtype (t);
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
ss_frame_unref (gpointer data)
{
  SsFrame *self = data;

  if (--self->ref_count > 0)
    return;
  for (guint i = 0; i < self->call.n_carriers; i++)
    ss_saved_clear (&self->carrier[i]);
  unref_values (self->in, self->n_in);
  unref_rest (self->recomputed);
  unref_rest (self->kept);
  g_clear_pointer (&self->again, ss_value_unref);
  unref_values (self->again_in, self->n_in);
  g_clear_pointer (&self->output, ss_value_unref);
  g_free (self->own_self);
  g_free (self);
}

static void
each_value (gpointer object, SsVisit visit, gpointer data)
{
  const SsFrame *self = object;
  const GPtrArray *lists[] = { self->recomputed, self->kept };

  for (guint i = 0; i < self->n_in; i++)
    {
      visit (self->in[i], data);
      visit (self->again_in[i], data);
    }
  for (guint i = 0; i < self->call.n_carriers; i++)
    ss_saved_each (&self->carrier[i], visit, data);
  for (guint k = 0; k < G_N_ELEMENTS (lists); k++)
    for (guint i = 0; lists[k] && i < lists[k]->len; i++)
      visit (lists[k]->pdata[i], data);
  visit (self->again, data);
  visit (self->output, data);
}

const SsHolder ss_frame_holder = { ss_frame_unref, each_value };

/* ---- running it again ---- */

SsValue *
ss_frame_run_again (SsTape *t, SsFrame *self, SsValue *const *in)
{
  SsContext *context = ss_tape_context (t), outer = *context;
  SsValue *out;

  context->is_grad_enabled = TRUE;
  context->in_recompute = TRUE;
  context->module_id = self->module_id;
  context->casts = NULL;
  if (self->has_autocast)
    ss_autocast_begin (t, (SsDtype) self->autocast_dtype);
  out = ss_keep (self->call.run (t, self->call.self, in));
  ss_autocast_end (t);
  *context = outer;
  ss_tape_go_on (t);
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
      out[i] = x[i]->leaf->grad || !ss_tape_has_failed (t) ? g_steal_pointer (&x[i]->leaf->grad)
                                             : ss_value_new (t, &x[i]->tensor, NULL);
      if (out[i])
        out[i]->is_floating = TRUE;
    }
  ss_name_release (g_steal_pointer (y));
  unref_values (x, self->n_in);
}

/* ---- results of ops that are kept ---- */

static gboolean
keeps (const SsFrame *self, const SsCall *c)
{
  return g_strv_contains (self->call.keep->ops, c->kind->name);
}

/* torch.utils.checkpoint's _CachingTorchDispatchMode, of the first forward. */
static void
run_and_keep (SsCall *c, gpointer data)
{
  SsFrame *self = data;

  ss_call_run (c);
  if (!keeps (self, c) || ss_tape_is_stopped (c->tape))
    return;
  for (guint i = 0; i < c->n_out; i++)
    {
      SsValue *value = ss_call_output (c, i);

      ss_value_claim (value, SS_CATEGORY_ACTIVATIONS);
      g_ptr_array_add (self->kept, value);
    }
}

/* _CachedTorchDispatchMode, of the recomputation. */
static void
take_kept (SsCall *c, gpointer data)
{
  SsFrame *self = data;

  if (!keeps (self, c))
    {
      ss_call_run (c);
      return;
    }
  for (guint i = 0; i < c->n_out; i++)
    {
      SsValue *value = g_steal_pointer (&self->kept->pdata[self->n_taken++]);

      ss_call_set_output (c, i, value);
      ss_value_unref (value);
    }
}

/* ---- non-reentrant ---- */

/* _recomputation_hook: what nodes would save is what the backward wants; the graph goes. The last
 * one may end it (_StopRecomputationError). */
static SsPacked
take_recomputed (SsTape *t, SsValue *value, gpointer data)
{
  SsFrame *self = data;

  ss_value_claim (value, SS_CATEGORY_ACTIVATIONS);
  g_ptr_array_add (self->recomputed, ss_value_ref (value));
  if (self->call.has_early_stop && self->recomputed->len == self->n_packed)
    ss_tape_stop (t);
  return (SsPacked) { NULL, 0 };
}

static SsValue *
never_unpacked (SsTape *t G_GNUC_UNUSED, SsPacked packed G_GNUC_UNUSED)
{
  g_assert_not_reached ();
}

static const SsSavedHooks recomputation_hooks = { take_recomputed, never_unpacked, { NULL, NULL } };

static SsValue *
run_recomputing (SsTape *t, SsFrame *self, SsValue *const *in)
{
  SsContext outer = *ss_tape_context (t);
  SsSavedScope hooks;
  SsDispatchMode mode;
  SsValue *out;

  ss_saved_hooks_push (t, &hooks, &recomputation_hooks, self);
  if (self->call.keep)
    ss_dispatch_mode_push (t, &mode, take_kept, self);
  out = ss_frame_run_again (t, self, in);
  *ss_tape_context (t) = outer;
  return out;
}

static void
recompute (SsTape *t, SsFrame *self)
{
  SsValue *in[SS_MAX_SEGMENT_INPUTS] = { NULL }, *out;

  self->is_recomputed = TRUE;
  self->recomputed = g_ptr_array_new ();
  for (guint i = 0; i < self->n_in; i++)
    if (i < self->call.n_carriers)
      in[i] = ss_saved_get (t, &self->carrier[i]);
    else
      in[i] = self->in[i] ? ss_value_ref (self->in[i]) : NULL;
  out = run_recomputing (t, self, in);
  /* a recomputation that failed part-way leaves holes; its values have no storage */
  while (self->recomputed->len < self->n_packed)
    g_ptr_array_add (self->recomputed, ss_value_ref (in[0]));
  ss_name_release (out);
  unref_values (in, self->n_in);
}

/* _checkpoint_hook: a value's number stands for it. */
static SsPacked
pack_number (SsTape *t G_GNUC_UNUSED, SsValue *value G_GNUC_UNUSED, gpointer data)
{
  SsFrame *self = data;

  self->ref_count++;
  return (SsPacked) { self, self->n_packed++ };
}

/* The first one that is wanted runs the segment again. */
static SsValue *
unpack_number (SsTape *t, SsPacked packed)
{
  SsFrame *self = packed.object;

  if (!self->is_recomputed)
    recompute (t, self);
  return g_steal_pointer (&self->recomputed->pdata[packed.index]);
}

static const SsSavedHooks checkpoint_hooks
  = { pack_number, unpack_number, { ss_frame_unref, each_value } };

static SsValue *
run_packing (SsTape *t, SsFrame *self, SsValue *const *in)
{
  SsContext outer = *ss_tape_context (t);
  SsSavedScope hooks;
  SsDispatchMode mode;
  SsValue *out;

  ss_saved_hooks_push (t, &hooks, &checkpoint_hooks, self);
  if (self->call.keep)
    ss_dispatch_mode_push (t, &mode, run_and_keep, self);
  out = self->call.run (t, self->call.self, in);
  *ss_tape_context (t) = outer;
  return out;
}

/* ---- reentrant ---- */

static void
checkpoint_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  SsFrame *frame = ss_node_context (n);
  SsValue *in[SS_MAX_SEGMENT_INPUTS] = { NULL }, *x[SS_MAX_SEGMENT_INPUTS] = { NULL };
  SsValue *y;

  for (guint i = 0; i < frame->n_in; i++)
    in[i] = i < ss_node_n_saves (n) ? ss_node_saved (n, i) : frame->in[i];
  ss_frame_detach_inputs (t, frame, in, x);
  y = ss_frame_run_again (t, frame, x);
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
  SsModuleScope scope = { t, ss_tape_module (t) };
  gboolean was_enabled = ss_tape_set_grad_enabled (t, FALSE);
  SsNode *n;

  *out = call->run (t, call->self, in);
  ss_tape_set_grad_enabled (t, was_enabled);
  if (!was_enabled || !any_requires_grad (call->n_carriers, in) || ss_tape_is_stopped (t))
    {
      ss_frame_unref (self);
      return NULL;
    }
  if (call->layers)
    scope = ss_module_enter (t, call->layers, call->layer);
  n = ss_node_attach (t, kind, call->n_carriers, in, n_saved, *out);
  ss_module_leave (&scope);
  ss_node_set_context (n, self, &ss_frame_holder);
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

  for (guint i = 0; n && i < ss_node_n_saves (n); i++)
    if (in[i])
      ss_saved_set (t, &ss_node_saves (n)[i], in[i]);
  return out;
}

SsValue *
ss_checkpoint (SsTape *t, const SsCheckpointCall *call, guint n_in, SsValue *const *in)
{
  guint first = call->is_reentrant ? n_by_position (call) : call->n_carriers;
  SsFrame *frame = ss_frame_new (t, call, n_in, in, first);
  SsValue *out;

  if (call->is_reentrant)
    return run_reentrant (t, frame, in);
  if (call->keep)
    frame->kept = g_ptr_array_new ();
  for (guint i = 0; i < call->n_carriers && !ss_tape_is_stopped (t); i++)
    if (in[i])
      ss_saved_set (t, &frame->carrier[i], in[i]);
  out = run_packing (t, frame, in);
  ss_frame_unref (frame);
  return out;
}
