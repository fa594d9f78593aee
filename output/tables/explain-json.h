/* SPDX-License-Identifier: MIT
 *
 * The answer of explain as one JSON object.
 */
#pragma once

#include "study/explanation.h"

G_BEGIN_DECLS

/* Bytes are integers; what the message or the run does not tell is null; final newline. The same
 * in every locale. (transfer full) */
char *ss_explain_json (const SsExplanation *explanation);

G_END_DECLS
