/* SPDX-License-Identifier: MIT
 *
 * The GPT-2 family.
 */
#pragma once

#include "ops/families/family.h"

G_BEGIN_DECLS

extern const SsModelFamily ss_family_gpt2;

G_END_DECLS
