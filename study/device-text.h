/* SPDX-License-Identifier: MIT
 *
 * A device's or host's file with fitted elements in the place of those it had; the rest of the text
 * stays as it is.  It knows no fit.
 */
#pragma once

#include "study/calibrate.h"

G_BEGIN_DECLS

/* `text` with the element of each calibration (SsCalibration) in it. `table`: the name of the table
 * it was fitted to. What the source had behind "; kept: " stays there. (transfer full) */
char *ss_device_text_with (const char *text, const GPtrArray *calibrations, const char *table);

G_END_DECLS
