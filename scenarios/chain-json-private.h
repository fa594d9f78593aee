/* SPDX-License-Identifier: MIT
 *
 * What the tables of a chain and its JSON share. It knows no chain.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The text as a JSON string, quotes included. (transfer full) */
char *ss_chain_json_quote (const char *text);

G_END_DECLS
