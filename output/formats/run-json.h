/* SPDX-License-Identifier: MIT
 *
 * The object of `--json` and run.json: a recording and the advice beside it.
 */
#pragma once

#include "sim/recording.h"
#include "study/advice.h"

G_BEGIN_DECLS

/* One line for each key, and for each entry of an array; final newline. The same in every locale.
 * An unlimited capacity is G_MAXINT64; `advice` NULL: none was asked for. (transfer full) */
char *ss_run_to_json (const SsRecording *recording, const SsAdvice *advice);

G_END_DECLS
