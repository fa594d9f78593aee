/* SPDX-License-Identifier: MIT
 *
 * Clipping gradients by their norm.
 */
#pragma once

#include "ops/core/tape.h"

G_BEGIN_DECLS

/* torch.nn.utils.clip_grad_norm_ (parameters, max_norm), the foreach way, over `gradients`
 * (SsValue), all of one type; its result is dropped. */
void ss_clip_grad_norm (SsTape *t, GPtrArray *gradients);

G_END_DECLS
