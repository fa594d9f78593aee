/* SPDX-License-Identifier: MIT
 *
 * Where the program's own files are: devices, models, scenarios, schemas.  It reads none of them.
 * Nobody owns anything here: plain functions of a name.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The first that exists of: the user's folder ($XDG_DATA_HOME/stepsim), but not for schemas (.xsd),
 * which belong to the program; for a program inside its build folder the source tree; the installed
 * data folder, as configured and beside the program's bin/; $XDG_DATA_DIRS/stepsim. `name` like
 * "hw/devices/h100-sxm-80gb.xml", without "..". NULL if nowhere. (transfer full) */
char *ss_data_find (const char *name);
/* Sorted base names, without ".xml", of every XML file in a data folder ("hw/devices") in any of
 * these places. NULL-terminated. (transfer full) */
char **ss_data_list (const char *folder);

G_END_DECLS
