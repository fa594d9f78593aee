/* SPDX-License-Identifier: MIT
 *
 * `stepsim validate TABLE.csv`: measured beside simulated, as text or JSON.
 */
#pragma once

#include "cli/command.h"

G_BEGIN_DECLS

typedef struct
{
  gboolean is_json;
  gboolean is_kernels;           /* single kernels, else whole steps */
  double at_most_percent;        /* below 0: whatever the errors are */
} SsValidateOptions;

SsExit ss_validate_steps (const char *path, const SsValidateOptions *options);
SsExit ss_validate_kernels (const char *path, const SsValidateOptions *options);
/* Status 1 if a median is above what was allowed. */
SsExit ss_validate_exit (const SsValidateOptions *options, double median_percent);

G_END_DECLS
