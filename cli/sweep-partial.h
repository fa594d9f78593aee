/* SPDX-License-Identifier: MIT
 *
 * SsSweepPartial: the finished points of a sweep in a file beside its output, so that one that was
 * interrupted goes on where it was.  What is in it is checked and never trusted.  The command owns
 * it.
 */
#pragma once

#include "output/tables/sweep-row.h"

G_BEGIN_DECLS

typedef struct _SsSweepPartial SsSweepPartial;

/* The file beside `output`; `question` is all that the points depend on.  If one is there for the
 * same question, the rows that are whole go into `rows` (by index, of n_values values each), and
 * what is after them is cut off; a file of another question begins anew. SS_OUTPUT_ERROR_WRITE: it
 * cannot be written, or a file of that name is none of ours. (transfer full) */
SsSweepPartial *ss_sweep_partial_open (const char *output, const char *question, SsSweepRow **rows,
                                       guint n_rows, guint n_values, GError **error);
/* Appends a point; one that could not be written is only missed by a sweep that is interrupted. */
void ss_sweep_partial_add (SsSweepPartial *self, guint index, const SsSweepRow *row);
/* Begins anew: what it held was not so. */
void ss_sweep_partial_reset (SsSweepPartial *self);
/* Closes; removes the file if `is_done`. */
void ss_sweep_partial_close (SsSweepPartial *self, gboolean is_done);

/* ".sweep.csv.partial" beside "sweep.csv". (transfer full) */
char *ss_sweep_partial_path (const char *output);

G_END_DECLS
