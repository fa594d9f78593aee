/* SPDX-License-Identifier: MIT
 *
 * The texts of a script for gnuplot as boxes on its page, for the tests of what is drawn.
 */
#pragma once

#include <glib.h>

/* Expects that no text that stands level touches another or leaves the page. */
void ss_expect_texts_clear (const char *name, const char *script, double width, double height);
