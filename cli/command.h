/* SPDX-License-Identifier: MIT
 *
 * SsCommand: one subcommand of the program, and what all of them share: exit status, parsing, help.
 * It knows no scenario.  Commands are static const structs, one file each.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What scripts rely on. */
typedef enum
{
  SS_EXIT_FITS = 0,              /* simulated and fits; for other commands: done */
  SS_EXIT_OUT_OF_MEMORY = 1,     /* simulated and ran out of memory */
  SS_EXIT_NOT_FOUND = 1,         /* explain: nothing of that size */
  SS_EXIT_ABOVE = 1,             /* validate: the median error is above what was allowed */
  SS_EXIT_INPUT = 2,             /* usage or bad input */
  SS_EXIT_OUTPUT = 3             /* could not write, or a program that helps is missing or failed */
} SsExit;

typedef struct
{
  const char *name;              /* "show" */
  const char *arguments;         /* "FILE": as the usage line says it */
  const char *summary;           /* one line */
  gboolean is_for_checking;      /* for who works on the program: listed by name only */
  SsExit (*run) (int argc, char **argv);   /* argv[0] is the command's name */
} SsCommand;

/* NULL-terminated, in the order of `stepsim --help`; the run itself, which needs no word, is not
 * in it. */
const SsCommand *const *ss_commands (void);
/* NULL if there is none of that name. */
const SsCommand *ss_command_find (const char *name);

/* Takes the options out of argv, which may be given anywhere.  FALSE: *status says how to end
 * (help was asked for and printed, or the usage is wrong and that was said). */
gboolean ss_command_parse (const SsCommand    *self,
                           const GOptionEntry *entries,
                           int                *argc,
                           char             ***argv,
                           SsExit             *status);
/* FALSE and said if what is left after argv[0] is not between `min` and `max` arguments. */
gboolean ss_command_check_arguments (const SsCommand *self, int argc, char **argv, int min,
                                     int max);

extern const SsCommand ss_command_run;
extern const SsCommand ss_command_init;
extern const SsCommand ss_command_advice;
extern const SsCommand ss_command_animate;
extern const SsCommand ss_command_compare;
extern const SsCommand ss_command_explain;
extern const SsCommand ss_command_show;
extern const SsCommand ss_command_ledger;
extern const SsCommand ss_command_overlay;
extern const SsCommand ss_command_snapshot;
extern const SsCommand ss_command_trace;
extern const SsCommand ss_command_list;
extern const SsCommand ss_command_sweep;
extern const SsCommand ss_command_validate;
extern const SsCommand ss_command_calibrate;
extern const SsCommand ss_command_bench;
extern const SsCommand ss_command_dump_events;
extern const SsCommand ss_command_dump_ops;
extern const SsCommand ss_command_replay_allocator;
extern const SsCommand ss_command_chain;

G_END_DECLS
