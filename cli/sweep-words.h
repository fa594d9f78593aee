/* SPDX-License-Identifier: MIT
 *
 * What a sweep's search for the largest value that fits came to, in words and as JSON; and what a
 * sweep depends on, as one text.  It owns nothing.
 */
#pragma once

#include "study/sweep.h"

G_BEGIN_DECLS

/* `name` of the setting: "sequence-length". (transfer full) */
char *ss_sweep_search_words (const SsSweepSearch *search, const char *name);
/* (transfer full) */
char *ss_sweep_search_json (const SsSweepSearch *search);

/* Equal texts: equal results, point by point.  The files that it reads are in it by their
 * checksums. (transfer full) */
char *ss_sweep_question (const SsScenario *base, const SsSweep *sweep, gboolean is_full);

G_END_DECLS
