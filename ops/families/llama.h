/* SPDX-License-Identifier: MIT
 *
 * The Llama family's parts that live in files of their own: the fields of its configs, its
 * adapters.
 */
#pragma once

#include "ops/families/family.h"

G_BEGIN_DECLS

#define SS_N_LLAMA_TYPES 4
extern const SsModelType ss_llama_types[SS_N_LLAMA_TYPES];
extern const char *const ss_llama_linears[];    /* NULL-terminated: q k v o gate up down */
extern const SsModelFamily ss_family_llama;

/* peft's get_peft_model: adapters layer by layer, module by module. */
void ss_llama_add_adapters (SsTape *t, SsModel *model);

G_END_DECLS
