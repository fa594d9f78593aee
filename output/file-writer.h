/* SPDX-License-Identifier: MIT
 *
 * Files that are there in full or not at all: written under a temporary name in the same folder,
 * then renamed.  It knows nothing of what the bytes are.
 */
#pragma once

#include "output/output.h"

G_BEGIN_DECLS

/* Writes all of `bytes` to `path`; "-" is standard output.  A link is followed; a device or pipe is
 * written to directly.  With `replace` FALSE an existing file is left alone:
 * SS_OUTPUT_ERROR_EXISTS. SS_OUTPUT_ERROR_WRITE: "path: why". SS_OUTPUT_ERROR_READER, to a pipe. */
gboolean ss_file_write (const char *path, GBytes *bytes, gboolean replace, GError **error);

/* Makes the folder and those above it, if it is not there. SS_OUTPUT_ERROR_WRITE. */
gboolean ss_folder_make (const char *path, GError **error);

G_END_DECLS
