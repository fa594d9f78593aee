/* SPDX-License-Identifier: MIT
 *
 * What a run comes to, in words: the sentences that the report and the pictures share.
 * It knows no terminal and no plot.
 */
#pragma once

#include "output/output.h"

G_BEGIN_DECLS

/* "in the forward pass"; a phase without a phrase is named as it is. (transfer none) */
const char *ss_phase_phrase (const char *phase);

/* The op that made what an event is of, or NULL.  Parameters and inputs are there before the op
 * that comes next; of parameters only what an op of the same module leaves, such as a rotary table,
 * is made by it. (transfer none) */
const SsOpEvent *ss_verdict_maker (const SsRecording *recording, const SsMemoryEvent *event);

/* Bytes by category when a step begins: what the steps before it left. FALSE: it never began. */
gboolean ss_verdict_at_start (const SsRecording *recording, guint step, guint64 *by_category);

/* How much too little there was, reserved bytes counted as used; 0 for a run that fits. */
guint64 ss_verdict_short_bytes (const SsRecording *recording);

/* Signed: what is left of the usable memory, "10.4 GiB"; what is too little of it, "-32.0 GiB".
 * (transfer full) */
char *ss_verdict_headroom (const SsRecording *recording, SsMemoryUnits units);
/* "68.7 GiB of 79.1 GiB, headroom 10.4 GiB" (transfer full) */
char *ss_verdict_peak (const SsRecording *recording, SsMemoryUnits units);
/* "Headroom -32.0 GiB: it needs 111.1 GiB, and the device has 79.1 GiB."  NULL: it
 * fits, or that was not looked for. (transfer full) */
char *ss_verdict_need (const SsRecording *recording, SsMemoryUnits units);
/* What is asked for at one moment would find room, but not in pieces that fit. */
gboolean ss_verdict_is_in_pieces (const SsRecording *recording);

/* "Out of memory in step 2, at the loss" or "Fits: peak 68.7 GiB of 79.1 GiB, headroom 10.4 GiB".
 * (transfer full) */
char *ss_verdict_headline (const SsRecording *recording, SsMemoryUnits units);
/* "Allocated at most 60.7 GiB, in the backward pass of step 2" (transfer full) */
char *ss_verdict_allocated (const SsRecording *recording, SsMemoryUnits units);

/* Why it died: what the steps before left behind. NULL: nothing worth a word, or it fits. (transfer
 * full) */
char *ss_verdict_growth (const SsRecording *recording, SsMemoryUnits units);
/* Why it died: memory is free, but in pieces. NULL: it is not that. (transfer full) */
char *ss_verdict_fragments (const SsRecording *recording, SsMemoryUnits units);
/* The one sentence that says most: growth, pieces, or what fills the memory. (transfer full) */
char *ss_verdict_reason (const SsRecording *recording, SsMemoryUnits units);

G_END_DECLS
