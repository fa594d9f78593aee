/* SPDX-License-Identifier: MIT
 *
 * A part of a layer that a policy may checkpoint by itself (policy="selective").
 */
#pragma once

#include "ops/checkpoint/segment.h"
#include "ops/nn/attention.h"
#include "ops/nn/setup.h"

G_BEGIN_DECLS

/* Runs `segment` on `in`, within a checkpoint if the policy drops `part`; the first n_carriers
 * carry gradients.  Of norms and activations the output can be let go too. (transfer floating) */
SsValue *ss_module_run (SsTape *t, const SsModelSetup *setup, SsDrop part, SsSegment segment,
                        gconstpointer self, guint n_carriers, guint n_in, SsValue *const *in);
/* ss_attention as such a part; `how` is the layer's. A checkpoint returns the output alone, and no
 * *weights. (transfer floating) */
SsValue *ss_module_attention (SsTape *t, const SsModelSetup *setup, const SsAttention *how,
                              SsValue *q, SsValue *k, SsValue *v, SsValue *mask,
                              SsValue **weights);
/* If the policy drops `part`: lets go `h`, an output of ss_module_run from which `out` was made,
 * till the gradient of `out` is complete. */
void ss_module_discard (SsTape *t, const SsModelSetup *setup, SsDrop part, SsValue *h,
                        SsValue *out);
/* The same, and `name = out`. */
void ss_module_replace (SsTape *t, const SsModelSetup *setup, SsDrop part, SsValue **name,
                        SsValue *out);

G_END_DECLS
