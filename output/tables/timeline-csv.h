/* SPDX-License-Identifier: MIT
 *
 * timeline.csv: one row for each memory event, with the state after it, units in the header.
 */
#pragma once

#include "output/output.h"

G_BEGIN_DECLS

extern const SsOutput ss_output_timeline_csv;

G_END_DECLS
