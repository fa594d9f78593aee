/* SPDX-License-Identifier: MIT
 *
 * SsInput: where the training loop's batches come from. They are on the device from the beginning
 * on, one for each micro-batch of a step; or each comes from host memory when it is wanted
 * (`batch.to (device, non_blocking=pinned)`), or one micro-batch earlier on the stream of copies
 * (the data_prefetcher of NVIDIA/apex, examples/imagenet/main_amp.py). It knows no loader that
 * could be late. The training loop owns it.
 */
#pragma once

#include "ops/families/family.h"

G_BEGIN_DECLS

typedef struct
{
  gboolean is_from_host;
  gboolean is_pinned;            /* from page-locked memory, so that the host need not wait */
  gboolean has_prefetch;
} SsInputSettings;

typedef struct
{
  const SsInputSettings *settings;
  SsTape *tape;
  const SsModelFamily *family;
  SsModel *model;
  SsBatch like;                  /* what all batches have in common */
  GArray *resident;              /* SsBatch, by micro-batch; NULL: they come from the host */
  SsBatch now;                   /* from the host: the one in hand */
  GPtrArray *next;               /* SsValue: prefetched inputs, or NULL */
  guint n_left;                  /* that the loader still has */
} SsInput;

/* What there is before the first step, made now: `n_micro_batches` of a step, over all steps
 * `n_batches`. `settings` and `model` outlive it. */
void ss_input_init (SsInput *self, const SsInputSettings *settings, SsTape *t,
                    const SsModelFamily *family, SsModel *model, const SsBatch *like,
                    guint n_micro_batches, guint n_batches);
/* The batch of the micro-batch (from 1) that begins. (transfer none), until the next is taken */
SsBatch *ss_input_take (SsInput *self, guint micro_batch);
void ss_input_clear (SsInput *self);

G_END_DECLS
