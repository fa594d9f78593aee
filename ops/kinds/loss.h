/* SPDX-License-Identifier: MIT
 *
 * The loss over log-probabilities.
 */
#pragma once

#include "ops/core/tape.h"

G_BEGIN_DECLS

/* log-probabilities (N, V), targets (N) -> scalar in their type; also makes the total weight, a
 * scalar */
SsValue *ss_nll_loss (SsTape *t, SsValue *log_probabilities, SsValue *target);

G_END_DECLS
