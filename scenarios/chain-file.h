/* SPDX-License-Identifier: MIT
 *
 * SsChainFile: a chain with what its file says beside it: units, where it is from, schedules to
 * run. It knows JSON, no policy.  Who loaded or made it owns it.
 *
 * The file is a JSON object.  Wanted: w, f, b (lists of stages 1 .. n), a (of tensors x_0 .. x_n).
 * Otherwise: d (as a, 0 at the end), tf and tb (0), fr (as f), layers ([1, n - 1]), n_stages, name
 * (the file's), mark, unit ("B"), time_unit ("unit"), meta (any object, kept as it is) and
 * schedules ([{"name": ..., "ops": "F1 S2 B2 ..."}]).  Other members do not count.
 */
#pragma once

#include "hw/problems.h"
#include "plan/chain-schedule.h"
#include "plan/chain.h"

G_BEGIN_DECLS

/* Largest file in bytes that is read: every number of the longest chain, in 19 digits. */
#define SS_CHAIN_FILE_MAX_BYTES (4 * 1024 * 1024)

typedef struct
{
  char *name;
  SsChainSchedule *schedule;
} SsNamedSchedule;

typedef struct
{
  SsChain *chain;
  char *mark;                    /* NULL if there is none */
  char *unit, *time_unit;
  char *meta;                    /* a JSON object, or NULL */
  GPtrArray *schedules;          /* SsNamedSchedule */
} SsChainFile;

/* Takes the chain. (transfer full) */
SsChainFile *ss_chain_file_new (SsChain *chain, const char *unit, const char *time_unit);
/* NULL with SS_HW_ERROR_INPUT: all that is wrong, one "file:line: what" a line; the chain of one
 * that is loaded has been checked. (transfer full) */
SsChainFile *ss_chain_file_load (const char *path, GError **error);
void ss_chain_file_free (SsChainFile *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsChainFile, ss_chain_file_free)

G_END_DECLS
