/* SPDX-License-Identifier: MIT
 *
 * How an answer looks on this terminal: units, colour, width, characters, from the options, the
 * user's file of settings, the environment and what stdout is.  It knows no answer.  The command
 * owns the struct and clears it.
 */
#pragma once

#include "output/tables/report.h"

G_BEGIN_DECLS

typedef struct
{
  char *units, *color;           /* as given, or NULL */
} SsTerminalOptions;

void ss_terminal_options_clear (SsTerminalOptions *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SsTerminalOptions, ss_terminal_options_clear)

/* The row of a GOptionEntry table, for answers without colour. */
#define SS_UNITS_OPTION_ENTRY(self)                                                                \
  { "units", 0, 0, G_OPTION_ARG_STRING, &(self).units, "Powers of 1024 or of 1000 (GiB)",          \
    "GiB|GB" }
/* The rows for those with it. */
#define SS_TERMINAL_OPTION_ENTRIES(self)                                                           \
  SS_UNITS_OPTION_ENTRY (self),                                                                    \
  { "color", 0, 0, G_OPTION_ARG_STRING, &(self).color, "Colour in the answer (auto)",              \
    "auto|always|never" }

/* The units alone. FALSE and said: they have another value, or the
 * file of settings is wrong. */
gboolean ss_terminal_units (const SsTerminalOptions *self, SsMemoryUnits *units);
/* Fills all but device_capacity_bytes. FALSE and said: the same. */
gboolean ss_terminal_style (const SsTerminalOptions *self, SsReportStyle *style);

G_END_DECLS
