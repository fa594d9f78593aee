/* SPDX-License-Identifier: MIT
 *
 * SsProblems: what is wrong with somebody's files, collected so that all of it can be said at once.
 * The reader that started it owns it.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define SS_HW_ERROR (ss_hw_error_quark ())
GQuark ss_hw_error_quark (void);

typedef enum
{
  SS_HW_ERROR_INPUT,             /* a file that cannot be read or is wrong: "file:line: what" */
  SS_HW_ERROR_UNKNOWN            /* a device that no file describes */
} SsHwError;

typedef struct _SsProblems SsProblems;

/* So many are kept; the rest is counted. */
#define SS_PROBLEMS_MAX 100

SsProblems *ss_problems_new (void);
void ss_problems_free (SsProblems *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SsProblems, ss_problems_free)

/* Adds "file:line: text" (line 0: "file: text"); control characters in it are replaced.
 * The same said twice is kept once; at most SS_PROBLEMS_MAX are kept. */
void ss_problems_add (SsProblems *self, const char *file, gint line, const char *format, ...)
  G_GNUC_PRINTF (4, 5);
guint ss_problems_count (const SsProblems *self);
/* FALSE if there are any; then *error is SS_HW_ERROR_INPUT, one problem a line, in the order of
 * lines. */
gboolean ss_problems_settle (SsProblems *self, GError **error);
/* "near: h100-sxm-80gb, h100-nvl" or "known: a, b, c": the near ones of a long list, all of a short
 * one. `known` is NULL-terminated. (transfer full) */
char *ss_problems_suggest (const char *met, const char *const *known);

G_END_DECLS
