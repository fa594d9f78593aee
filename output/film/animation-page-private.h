/* SPDX-License-Identifier: MIT
 *
 * The parts of a page: its drawings, and its data.
 */
#pragma once

#include <gio/gio.h>

#include "output/film/animation-page.h"

G_BEGIN_DECLS

#define SS_PAGE_COLUMNS 800
#define SS_PAGE_BINS 400

/* Style and script, made of the files of page/ when the program is built. (transfer none) */
GResource *ss_page_get_resource (void);

/* The course, the empty tank beside it and the strips under it. */
void ss_page_put_stage (GString *page, const SsAnimation *animation);
/* What the script reads: JSON that may stand inside a script element. */
void ss_page_put_data (GString *page, const SsAnimation *animation);

/* A number with at most two decimals and no trailing zeros. */
void ss_page_put_number (GString *page, double value);

G_END_DECLS
