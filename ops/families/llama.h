/* SPDX-License-Identifier: MIT
 *
 * The Llama family's parts that live in files of their own: the fields of its configs.
 */
#pragma once

#include "ops/families/family.h"

G_BEGIN_DECLS

#define SS_N_LLAMA_TYPES 4
extern const SsModelType ss_llama_types[SS_N_LLAMA_TYPES];
extern const SsLinearName ss_llama_linears[];
extern const SsModelFamily ss_family_llama;

G_END_DECLS
