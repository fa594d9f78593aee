/* SPDX-License-Identifier: MIT
 *
 * Megatron-LM's CheckpointWithoutOutput (megatron/core/tensor_parallel/random.py): the output is
 * resized to nothing once its consumers have saved it, made again before they need it, and copied
 * into its old place; the copy with history stays for the backward of the checkpoint itself.
 */
#include "ops/checkpoint/frame-private.h"
#include "ops/kinds/in-place.h"

static void
without_output_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  SsFrame *frame = n->segment;

  if (!frame->again)
    ss_frame_restore (t, frame);
  ss_frame_backward (t, frame, &frame->again, grad[0], frame->again_in, out);
}

static const SsOpKind without_output = {
  .name = "CheckpointWithoutOutputFunction", .node_name = "CheckpointWithoutOutputFunctionBackward",
  .backward = without_output_backward,
};

SsValue *
ss_checkpoint_without_output (SsTape *t, const SsCheckpointCall *call, guint n_in,
                              SsValue *const *in)
{
  SsFrame *frame = ss_frame_new (t, call, n_in, in, 0);
  SsValue *out;

  g_assert (t->context.hook == SS_HOOK_NONE);
  if (ss_frame_run_without_grad (t, frame, &without_output, 0, in, &out))
    frame->output = ss_detach (t, out);
  return out;
}

void
ss_checkpoint_discard (SsTape *t, SsValue *out, SsValue *hook)
{
  SsNode *to = hook->node;
  SsFrame *frame;

  if (t->is_stopped || !to || !out->node || out->node->kind != &without_output)
    return;
  frame = out->node->segment;
  ss_storage_discard (out->storage);
  if (!to->waiting)
    to->waiting = g_ptr_array_new_with_free_func ((GDestroyNotify) ss_frame_unref);
  frame->ref_count++;
  g_ptr_array_add (to->waiting, frame);
}

/* _recompute */
void
ss_frame_restore (SsTape *t, SsFrame *self)
{
  SsContext outer = t->context;

  ss_frame_detach_inputs (t, self, self->in, self->again_in);
  self->again = ss_frame_run_again (t, self, SS_HOOK_NONE, self->again_in);
  ss_storage_restore (self->output->storage);
  t->context.in_recompute = TRUE;
  SS_IN_PLACE (t, COPY, self->output, self->again);
  t->context = outer;
  g_clear_pointer (&self->output, ss_value_unref);
}
