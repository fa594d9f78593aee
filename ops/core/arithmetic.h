/* SPDX-License-Identifier: MIT
 *
 * The ops that the backward engine and autocast call themselves: gradients are made, summed, fitted
 * to what they belong to. ops/kinds/ defines them, among others like them.
 */
#pragma once

#include "ops/core/value.h"

G_BEGIN_DECLS

SsValue *ss_add (SsTape *t, SsValue *a, SsValue *b);
/* a += b */
void ss_add_in_place (SsTape *t, SsValue *a, SsValue *b);
/* x.to (dtype): the value itself if it has that type */
SsValue *ss_to (SsTape *t, SsValue *a, SsDtype dtype);
/* Sum over the dimensions in which `target` is smaller (broadcasting undone), in a's own type. */
SsValue *ss_sum_to (SsTape *t, SsValue *a, const SsTensor *target);
/* A copy that lies as `layout` does. */
SsValue *ss_clone_like (SsTape *t, SsValue *a, const SsTensor *layout);
SsValue *ss_ones_like (SsTape *t, SsValue *a);

G_END_DECLS
