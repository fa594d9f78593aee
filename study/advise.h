/* SPDX-License-Identifier: MIT
 *
 * What to change so that a run that ran out of memory fits: every change is tried by simulating the
 * whole run with it, and only what fits is told.  It knows no output.
 */
#pragma once

#include "ops/core/program.h"
#include "scenarios/scenario.h"
#include "sim/recording.h"
#include "study/advice.h"

G_BEGIN_DECLS

typedef struct
{
  guint n_threads;               /* at least 1; what is found does not depend on it */
  /* optional: called after each change that was tried, by one thread at a time */
  void (*progress) (guint n_done, guint n_all, gpointer user_data);
  gpointer user_data;
} SsAdviceRun;

/* Of a scenario, its program and the recording of its run: for a run that ran out of memory, the
 * changes with which it fits, the fastest first, or what comes nearest; for one that fits with
 * checkpoints, the fewest of them that fit as well, if that is faster.  Changes are tried one by
 * one, and two at once if none by itself fits that leaves device and training as they are.  A long
 * run has fewer of them tried, by its number of ops.  There is none where the scenario's file
 * cannot be read again. (transfer full) */
SsAdvice *ss_advise (const SsRecording *recording, const SsScenario *scenario, SsProgram *program,
                     const SsAdviceRun *run);

G_END_DECLS
