/* SPDX-License-Identifier: MIT
 *
 * The picture of a run: what was in device memory over time, stacked by category, with the limit,
 * the request that failed, steps and phases, and under it how busy matrix units and memory were.
 */
#pragma once

#include "output/figures/canvas.h"
#include "output/output.h"

G_BEGIN_DECLS

extern const SsOutput ss_output_memory_png;
extern const SsOutput ss_output_memory_svg;

/* The page, for whoever wants the script rather than the picture. (transfer full) */
SsCanvas *ss_memory_figure (const SsRecording *recording, const SsOutputSettings *settings);

G_END_DECLS
