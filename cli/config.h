/* SPDX-License-Identifier: MIT
 *
 * SsConfig: how a user wants answers to look where no option says it, from the file
 * $XDG_CONFIG_HOME/stepsim/config, which is only read.  It knows no terminal.  Who loads it owns it
 * and clears it.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* NULL: not set. */
typedef struct
{
  char *units;                   /* "GiB" or "GB" */
  char *color;                   /* "auto", "always" or "never" */
} SsConfig;

void ss_config_clear (SsConfig *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SsConfig, ss_config_clear)

/* Without the file nothing is set. SS_HW_ERROR_INPUT: it cannot be read or is wrong, every problem
 * as a line "file:line: what". */
gboolean ss_config_load (SsConfig *self, GError **error);

G_END_DECLS
