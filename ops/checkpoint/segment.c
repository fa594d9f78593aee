/* SPDX-License-Identifier: MIT
 *
 * torch.utils.checkpoint, both ways.  Non-reentrant: nodes of the segment are made, but what they would save
 * is packed as a number; the first one that unpacks runs the segment again, up to the last value that was
 * packed.  Reentrant: no nodes but one, whose backward runs the segment again and a backward of its own.
 */
#include "ops/checkpoint/segment.h"

#include "ops/autograd.h"
#include "ops/tape-private.h"

#define MAX_INPUTS 8

struct _SsFrame
{
  guint ref_count;
  guint n_packed;                /* values that the first forward would have saved */
  guint n_in;
  guint32 module_id;
  guint is_recomputed : 1, early_stop : 1, has_autocast : 1;
  guint8 autocast_dtype;
  SsSegment segment;
  gconstpointer self;
  SsValue *in[MAX_INPUTS];
  GPtrArray *recomputed;         /* SsValue, by pack number; each is taken out once */
};

void
ss_frame_unref (SsFrame *self)
{
  if (--self->ref_count > 0)
    return;
  for (guint i = 0; i < self->n_in; i++)
    ss_value_unref (self->in[i]);
  if (self->recomputed)
    g_ptr_array_unref (self->recomputed);
  g_free (self);
}

guint
ss_frame_n_inputs (const SsFrame *self)
{
  return self->n_in;
}

SsValue *
ss_frame_input (const SsFrame *self, guint i)
{
  return self->in[i];
}

const GPtrArray *
ss_frame_recomputed (const SsFrame *self)
{
  return self->recomputed;
}

/* ---- non-reentrant ---- */

gboolean
ss_frame_pack (SsTape *t, SsValue *value, SsSaved *saved)
{
  SsFrame *frame = t->frame;

  if (t->hook == SS_HOOK_PACK)
    {
      saved->frame = frame;
      saved->index = frame->n_packed++;
      frame->ref_count++;
      return TRUE;
    }
  ss_value_claim (value, SS_CATEGORY_ACTIVATIONS);
  g_ptr_array_add (frame->recomputed, ss_value_ref (value));
  return !frame->early_stop || frame->recomputed->len < frame->n_packed;
}

/* Runs the segment with everything about the tape as it was in its first forward. */
static void
run_again (SsTape *t, SsFrame *frame, SsHook hook, SsFrame *hooked, SsValue *const *in, SsValue **out)
{
  SsTape outer = *t;

  t->is_grad_enabled = TRUE;
  t->in_recompute = TRUE;
  t->hook = (guint8) hook;
  t->frame = hooked;
  t->module_id = frame->module_id;
  t->casts = NULL;
  if (frame->has_autocast)
    ss_autocast_begin (t, (SsDtype) frame->autocast_dtype);
  *out = ss_keep (frame->segment (t, frame->self, in));
  ss_autocast_end (t);
  t->casts = outer.casts;
  t->is_grad_enabled = outer.is_grad_enabled;
  t->in_recompute = outer.in_recompute;
  t->hook = outer.hook;
  t->frame = outer.frame;
  t->module_id = outer.module_id;
  t->is_stopped = t->error != NULL;
}

SsValue *
ss_frame_unpack (SsTape *t, SsFrame *self, guint32 index)
{
  g_autoptr (SsValue) out = NULL;

  if (!self->is_recomputed)
    {
      self->is_recomputed = TRUE;
      self->recomputed = g_ptr_array_new ();
      run_again (t, self, SS_HOOK_RECOMPUTE, self, self->in, &out);
      /* a recomputation that failed part-way leaves holes; its values have no storage */
      while (self->recomputed->len < self->n_packed)
        g_ptr_array_add (self->recomputed, ss_value_ref (self->in[0]));
    }
  return g_steal_pointer (&self->recomputed->pdata[index]);
}

/* ---- reentrant ---- */

static void
checkpoint_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  SsFrame *frame = n->segment;
  g_autoptr (SsValue) x = ss_detach (t, ss_node_saved (n, 0));
  g_autoptr (SsValue) y = NULL;
  SsValue *in[MAX_INPUTS + 1] = { x };

  for (guint i = 0; i < frame->n_in; i++)
    in[i + 1] = frame->in[i];
  ss_require_grad (x);
  run_again (t, frame, SS_HOOK_NONE, NULL, in, &y);
  ss_backward (t, y, grad[0]);
  if (x->leaf->grad)
    {
      out[0] = g_steal_pointer (&x->leaf->grad);
      out[0]->is_floating = TRUE;
    }
}

static const SsOpKind checkpoint = {
  .name = "CheckpointFunction", .node_name = "CheckpointFunctionBackward", .backward = checkpoint_backward,
};

static SsValue *
run_reentrant (SsTape *t, SsFrame *frame, SsValue *const *in)
{
  gboolean was_enabled = ss_tape_set_grad_enabled (t, FALSE);
  SsValue *out = frame->segment (t, frame->self, in);
  SsNode *n;

  ss_tape_set_grad_enabled (t, was_enabled);
  if (!was_enabled || !ss_value_requires_grad (in[0]) || t->is_stopped)
    {
      ss_frame_unref (frame);
      return out;
    }
  n = ss_node_attach (t, &checkpoint, 1, in, 1, out);
  n->saved[0].value = ss_value_ref (in[0]);
  ss_value_claim (in[0], SS_CATEGORY_ACTIVATIONS);
  n->segment = frame;
  return out;
}

SsValue *
ss_checkpoint (SsTape *t, SsSegment segment, gconstpointer self, guint n_in, SsValue *const *in,
               gboolean is_reentrant, gboolean early_stop)
{
  SsFrame *frame = g_new0 (SsFrame, 1);
  guint first = is_reentrant ? 1 : 0;   /* the reentrant one keeps its input by its node */
  SsValue *out;

  g_assert (n_in <= MAX_INPUTS && t->hook == SS_HOOK_NONE);
  frame->ref_count = 1;
  frame->segment = segment;
  frame->self = self;
  frame->module_id = t->module_id;
  frame->early_stop = early_stop != FALSE;
  frame->has_autocast = t->casts != NULL;
  frame->autocast_dtype = t->lower_dtype;
  frame->n_in = n_in - first;
  for (guint i = 0; i < frame->n_in; i++)
    frame->in[i] = ss_value_ref (in[i + first]);
  if (is_reentrant)
    return run_reentrant (t, frame, in);
  t->hook = SS_HOOK_PACK;
  t->frame = frame;
  out = segment (t, self, in);
  t->hook = SS_HOOK_NONE;
  t->frame = NULL;
  ss_frame_unref (frame);
  return out;
}
