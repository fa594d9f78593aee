/* SPDX-License-Identifier: MIT */
#include "ops/input.h"

#include "ops/core/stream.h"
#include "ops/kinds/host-copy.h"

static SsBatch
make_batch (SsInput *self, guint micro_batch)
{
  SsBatch batch = self->like;

  batch.micro_batch = micro_batch;
  batch.inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) ss_value_unref);
  self->family->make_inputs (self->tape, self->model, &batch);
  return batch;
}

/* The loader's next batch, on its way to the device. (transfer full) */
static GPtrArray *
bring (SsInput *self)
{
  GPtrArray *inputs = make_batch (self, 0).inputs;

  self->n_left--;
  for (guint i = 0; i < inputs->len; i++)
    ss_copy_from_host (self->tape, inputs->pdata[i], self->settings->is_pinned);
  return inputs;
}

/* data_prefetcher.preload: with torch.cuda.stream (self.stream): next.cuda (non_blocking=True) */
static void
preload (SsInput *self)
{
  SS_STREAM (self->tape, SS_STREAM_COPIES);

  self->next = self->n_left > 0 ? bring (self) : NULL;
}

/* data_prefetcher.next: current_stream ().wait_stream (self.stream); input.record_stream
 * (current_stream ()); self.preload () */
static GPtrArray *
take_prefetched (SsInput *self)
{
  GPtrArray *inputs = g_steal_pointer (&self->next);

  ss_stream_wait_stream (self->tape, SS_STREAM_COMPUTE, SS_STREAM_COPIES);
  for (guint i = 0; i < inputs->len; i++)
    ss_value_use_on_stream (inputs->pdata[i], SS_STREAM_COMPUTE);
  preload (self);
  return inputs;
}

void
ss_input_init (SsInput *self, const SsInputSettings *settings, SsTape *t,
               const SsModelFamily *family, SsModel *model, const SsBatch *like,
               guint n_micro_batches, guint n_batches)
{
  *self = (SsInput) { .settings = settings, .tape = t, .family = family, .model = model,
                      .like = *like, .n_left = n_batches };
  if (settings->is_from_host)
    {
      self->now = *like;
      if (settings->has_prefetch)
        preload (self);
      return;
    }
  self->resident = g_array_new (FALSE, FALSE, sizeof (SsBatch));
  for (guint i = 1; i <= n_micro_batches; i++)
    {
      SsBatch batch = make_batch (self, i);

      g_array_append_val (self->resident, batch);
    }
}

/* for batch in loader: the name holds the batch before until this one is there. */
SsBatch *
ss_input_take (SsInput *self, guint micro_batch)
{
  GPtrArray *old = self->now.inputs;

  if (self->resident)
    return &g_array_index (self->resident, SsBatch, micro_batch - 1);
  self->now.inputs = self->settings->has_prefetch ? take_prefetched (self) : bring (self);
  self->now.micro_batch = micro_batch;
  if (old)
    g_ptr_array_unref (old);
  return &self->now;
}

void
ss_input_clear (SsInput *self)
{
  for (guint i = 0; self->resident && i < self->resident->len; i++)
    g_ptr_array_unref (g_array_index (self->resident, SsBatch, i).inputs);
  g_clear_pointer (&self->resident, g_array_unref);
  g_clear_pointer (&self->now.inputs, g_ptr_array_unref);
  g_clear_pointer (&self->next, g_ptr_array_unref);
}
