/* SPDX-License-Identifier: MIT
 *
 * SsRun: the ranks of a training run, on one clock.  It knows no scenario and no more of a rank
 * than that it starts.  The creator owns it, and it the ranks.
 */
#pragma once

#include "sim/rank.h"

G_BEGIN_DECLS

typedef struct _SsRun SsRun;

SsRun *ss_run_new (void);
void ss_run_free (SsRun *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsRun, ss_run_free)

/* One rank more, with a recording of its own, which is filled as ss_rank_new says; both and what
 * the settings name must outlive the run. SS_ALLOCATOR_ERROR_CONF. (transfer none) */
SsRank *ss_run_add (SsRun *self, const SsRankSettings *settings, SsRecording *recording,
                    GError **error);
/* All ranks from the beginning, until none has anything left to do. Once. */
void ss_run_play (SsRun *self);

G_END_DECLS
