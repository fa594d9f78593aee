/* SPDX-License-Identifier: MIT
 *
 * The recipe of a run in words, with what a parameter costs: "fp32 weights under bf16 autocast, 16
 * bytes per parameter".  It knows no device.
 */
#pragma once

#include "ops/training-loop.h"

G_BEGIN_DECLS

/* Bytes are those of weights, gradients, masters and optimizer states, as the program has them.
 * (transfer full) */
char *ss_recipe_text (const SsTraceConfig *config, const SsProgram *program);

G_END_DECLS
