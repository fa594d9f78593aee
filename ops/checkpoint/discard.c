/* SPDX-License-Identifier: MIT
 *
 * Megatron-LM's CheckpointWithoutOutput (megatron/core/tensor_parallel/random.py): the output is
 * resized to nothing once its consumers have saved it, made again before they need it, and copied
 * into its old place; the copy with history stays for the backward of the checkpoint itself.
 */
#include "ops/checkpoint/frame-private.h"
#include "ops/kinds/in-place.h"

/* _recompute: a hook of the tensor that was made from the output. */
static SsValue *
restore (SsTape *t, SsValue *gradient G_GNUC_UNUSED, gpointer data)
{
  SsFrame *self = data;
  SsContext outer = *ss_tape_context (t);

  ss_frame_detach_inputs (t, self, self->in, self->again_in);
  self->again = ss_frame_run_again (t, self, self->again_in);
  ss_storage_restore (self->output->storage);
  ss_tape_context (t)->in_recompute = TRUE;
  SS_IN_PLACE (t, COPY, self->output, self->again);
  *ss_tape_context (t) = outer;
  g_clear_pointer (&self->output, ss_value_unref);
  return NULL;
}

static void
without_output_backward (SsTape *t, const SsNode *n, SsValue *const *grad, SsValue **out)
{
  SsFrame *frame = ss_node_context (n);

  if (!frame->again)
    restore (t, grad[0], frame);
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

  if (ss_frame_run_without_grad (t, frame, &without_output, 0, in, &out))
    frame->output = ss_detach (t, out);
  return out;
}

void
ss_checkpoint_discard (SsTape *t, SsValue *out, SsValue *hook)
{
  SsFrame *frame;

  if (ss_tape_is_stopped (t) || !hook->node || !out->node
      || ss_node_kind (out->node) != &without_output)
    return;
  frame = ss_node_context (out->node);
  ss_storage_discard (out->storage);
  frame->ref_count++;
  ss_hook_tensor (hook, restore, frame, &ss_frame_holder);
}
