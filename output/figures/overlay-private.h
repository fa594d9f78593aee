/* SPDX-License-Identifier: MIT
 *
 * What the files of SsOverlay share.
 */
#pragma once

#include "output/figures/overlay.h"

G_BEGIN_DECLS

/* Sets the figures about requests, once pieces are there. */
void ss_overlay_compare_requests (SsOverlay *self);
/* The peaks of what has figures in both. FALSE: nothing has. */
gboolean ss_overlay_peaks (const SsOverlay *self, guint64 *sim_bytes, guint64 *real_bytes);

G_END_DECLS
