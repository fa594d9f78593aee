/* SPDX-License-Identifier: MIT
 *
 * A ledger's account as a table for a person, and as one JSON object.  They know no option.
 */
#pragma once

#include "hw/units.h"
#include "study/ledger-account.h"

G_BEGIN_DECLS

/* A row for each number, with the sentence that explains it. (transfer full) */
char *ss_ledger_text (const SsLedgerAccount *account, const SsScenario *scenario,
                      const SsRecording *recording, const SsLedgerQuestion *question,
                      SsByteUnit unit);

/* (transfer full) */
char *ss_ledger_json (const SsLedgerAccount *account, const SsRecording *recording,
                      const SsLedgerQuestion *question);

G_END_DECLS
